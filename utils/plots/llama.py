"""Lesson 09's pictures: pairs that turn, what each change does to the loss, all heads of a model."""

import numpy as np
from matplotlib.patches import Circle

from utils.plots.style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, styled


@styled
def turning_pairs(speeds, query, key, scores):
    """Rotary positions as clocks: each pair of a query and of a key that began at the same angle, and their score.

    speeds: radians that each pair turns by in one position; query, key: their positions; scores: the score of the two
    at the distances 0, 1, 2 … -> Figure.
    """
    fig = new_figure(9, 4.9)
    width = 0.96 / len(speeds)
    for number, speed in enumerate(speeds):
        ax = fig.add_axes((0.02 + number * width, 0.60, width, 0.30))
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
        ax.axis("off")
        ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=GREY))
        for position, colour, line in ((key, ORANGE, 5), (query, BLUE, 2.5)):
            ax.plot([0, np.cos(position * speed)], [0, np.sin(position * speed)], color=colour, linewidth=line)
        ax.set_title(f"pair {number}\n{np.degrees(speed):.2g}° a step", fontsize=9.5)
    ax = fig.add_axes((0.09, 0.13, 0.88, 0.36))
    ax.plot(np.arange(len(scores)), scores, color=GREY, marker="o", markersize=3)
    distance = query - key
    ax.plot([distance], [scores[distance]], "o", color=RED, markersize=11)
    ax.set_xlabel("distance: position of the query minus position of the key")
    ax.set_ylabel("score")
    fig.text(0.02, 0.52, f"blue: query at position {query}", color=BLUE, fontsize=12)
    fig.text(0.36, 0.52, f"orange: key at position {key}", color="#8A5F00", fontsize=12)
    return fig


@styled
def loss_by_change(measured):
    """What each change on the way to Llama does to the loss: one dot for each seed.

    measured: change -> number of training steps -> held-out losses divided by the floor -> Figure.
    """
    fig = new_figure(8.6, 4.2)
    ax = fig.add_axes((0.11, 0.22, 0.86, 0.74))
    runs = list(next(iter(measured.values())))
    for run, colour, side in zip(runs, (ORANGE, BLUE), (-0.12, 0.12), strict=True):
        for place, of_step in enumerate(measured.values()):
            ratios = of_step[run]
            name = f"{run:,} steps of training" if place == 0 else None
            ax.plot([place + side] * len(ratios), ratios, "o", color=colour, markersize=7, label=name)
    ax.axhline(1, color=GREEN, linewidth=2)
    ax.text(len(measured) - 0.52, 0.985, "the floor", color=GREEN, fontsize=11, ha="right", va="top")
    ax.set_ylim(bottom=0.95)
    ax.set_xticks(range(len(measured)), [("" if n == 0 else "+ ") + _two_lines(s) for n, s in enumerate(measured)])
    ax.tick_params(axis="x", labelsize=10.5)
    ax.set_xlim(-0.5, len(measured) - 0.5)
    ax.set_ylabel("held-out loss / floor")
    ax.legend(frameon=False, loc="upper left")
    return fig


def _two_lines(text):
    first, _, rest = text.partition(" ")
    return f"{first}\n{rest}"


@styled
def heads(values, name):
    """One number from 0 to 1 for every head of a model, as shades: layers from left to right, heads from the top.

    values (L, H); name: what the number is -> Figure.
    """
    values = np.asarray(values, dtype=float)
    fig = new_figure(9, 3.6)
    ax = fig.add_axes((0.07, 0.17, 0.82, 0.78))
    shown = ax.imshow(values.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set(xlabel="layer", ylabel="head")
    ax.set_yticks(range(values.shape[1]))
    bar = fig.add_axes((0.90, 0.17, 0.02, 0.78))
    fig.colorbar(shown, cax=bar, label=name)
    return fig
