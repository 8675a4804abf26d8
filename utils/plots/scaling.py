"""Lesson 08's pictures: what a budget of compute buys."""

import numpy as np

from utils.plots.amounts import in_words, three_digits
from utils.plots.style import BLUE, GREY, ORANGE, RED, new_figure, styled

SIZES = np.array([1e6, 1e13])  # the ends of both axes hold every budget of the panel
TOKENS = np.array([1e8, 1e15])


@styled
def budget_map(flops, n_params, n_tokens, known=None):
    """Size against tokens, on log axes: every way to spend a budget, and the way taken.

    flops: the budget C; n_params, n_tokens: the (N, D) chosen from 6 N D = C; known: name -> (N, D) of published
    models, or None -> Figure.
    """
    fig = new_figure(8, 4.6)
    ax = fig.add_axes((0.13, 0.14, 0.84, 0.77))
    budget, ratio = f"{flops:.2e}".replace("e+", "e"), n_tokens / n_params
    ax.loglog(SIZES, flops / 6 / SIZES, color=BLUE, linewidth=2.5, label=f"6 N D = {budget} FLOPs")
    ax.loglog(SIZES, ratio * SIZES, color=ORANGE, linewidth=2.5, label=f"D = {three_digits(ratio)} N")
    _points(ax, known or {})
    ring = {"marker": "o", "fillstyle": "none", "markersize": 16, "markeredgewidth": 3}  # what lies inside is seen
    ax.plot(n_params, n_tokens, color=RED, linestyle="", label="this budget", **ring)
    ax.set_xlim(SIZES)
    ax.set_ylim(TOKENS)
    ax.set_xticks(*_ticks(SIZES))
    ax.set_yticks(*_ticks(TOKENS))
    ax.minorticks_off()
    ax.set_xlabel("size N: all unique parameters (log scale)")
    ax.set_ylabel("training tokens D (log scale)")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return fig


def _ticks(ends):
    """Every power of ten between the ends, and its short name: 1M, 10M, 100M, 1B …"""
    low, high = np.log10(ends).round().astype(int)
    places = 10.0 ** np.arange(low, high + 1)
    words = [in_words(place).split() for place in places]
    return places, [number + word[0].upper() for number, word in words]


def _points(ax, known):
    """Published models; by size, their names stand below and above in turn, so that neighbours stay apart."""
    paper = {"color": "white", "alpha": 0.8, "pad": 0.5}  # keeps a name apart from the lines under it
    for place, (name, (size, tokens)) in enumerate(sorted(known.items(), key=lambda item: item[1])):
        ax.plot(size, tokens, "s", color=GREY, markersize=7)
        side = {"xytext": (0, 8), "va": "bottom"} if place % 2 else {"xytext": (0, -10), "va": "top"}
        ax.annotate(name, (size, tokens), textcoords="offset points", ha="center", fontsize=11, bbox=paper, **side)
