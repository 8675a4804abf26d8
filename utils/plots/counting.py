"""Lesson 03's pictures: where a model's parameters sit, and how that changes with its width."""

import numpy as np

from utils.plots.style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, styled

# a part of the picture: the ledger's rows in it, colour, hatching; tables first, so that blocks begin where they end
PARTS = {
    "token table": (("token table",), ORANGE, None),
    "head": (("head",), ORANGE, "//"),
    "position table": (("position table",), RED, None),
    "attention": (("attention",), BLUE, None),
    "MLP": (("mlp",), GREEN, None),
    "layer norms": (("layer norms", "final layer norm"), GREY, None),
}


def _shares(ledgers):
    """Part -> its share of each ledger's total, in per cent; a part that no ledger has is left out."""
    totals = np.array([sum(ledger.values()) for ledger in ledgers], dtype=float)
    counts = {part: np.array([sum(one[row] for row in rows) for one in ledgers]) for part, (rows, *_) in PARTS.items()}
    return {part: 100 * count / totals for part, count in counts.items() if count.any()}


def _names(shares):
    """Part -> what the legend calls it: a table that is the head as well is named so."""
    return {part: part if part != "token table" or "head" in shares else "token table = head" for part in shares}


def _stack(ax, places, shares, thickness, number_from):
    """One horizontal bar of 100 % a place; a share of at least number_from per cent is written into it."""
    left = np.zeros(len(places))
    for part, share in shares.items():
        _, colour, hatch = PARTS[part]
        style = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.8}
        bars = ax.barh(places, share, thickness, left=left, label=_names(shares)[part], **style)
        texts = [f"{value:.1f}" if value >= number_from else "" for value in share]
        ax.bar_label(bars, texts, label_type="center", color="black" if colour == ORANGE else "white")
        left += share
    ax.set_xlim(0, 100)


@styled
def parameter_bars(names, ledgers):
    """Where the parameters of several models sit: a bar of 100 % for each. names, ledgers: lists -> Figure."""
    height = 0.5 * len(names) + 1.5
    fig = new_figure(9, height)
    ax = fig.add_axes((0.17, 0.7 / height, 0.80, 1 - 1.4 / height))
    _stack(ax, np.arange(len(names)), _shares(ledgers), 0.72, number_from=4)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("share of all unique parameters, in %")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.45, 1), ncols=6, columnspacing=1, handlelength=1)
    return fig


def _areas(ax, widths, ledgers, marked):
    shares = _shares(ledgers)
    areas = ax.stackplot(widths, *shares.values(), colors=[PARTS[part][1] for part in shares])
    for area, part in zip(areas, shares, strict=True):
        area.set(hatch=PARTS[part][2], edgecolor="white", linewidth=0.8, label=_names(shares)[part])
    ax.axhline(50, color="black", linestyle=":", linewidth=1.5)
    ax.axvline(marked, color="black", linewidth=3)
    ax.set_xscale("log")
    ax.set_xlim(widths[0], widths[-1])
    ax.set_ylim(0, 100)
    ax.set_xticks(ticks := [10**zeros for zeros in range(5)], [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()  # each costs time, and nobody reads them
    ax.set_xlabel("width d (log scale)")
    ax.set_ylabel("share, in %")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), reverse=True)


@styled
def explorer(ledger, widths, ledgers, width):
    """Width explorer: one model's parameters as a bar, and below it the same parts for every width, marked at its own.

    ledger: the model's; widths, ledgers: rising widths and what the model would have at them -> Figure.
    """
    fig = new_figure(8, 4.9)
    above = fig.add_axes((0.10, 0.78, 0.86, 0.14))
    below = fig.add_axes((0.10, 0.13, 0.60, 0.48))
    _stack(above, [0], _shares([ledger]), 0.9, number_from=5)
    above.set_title(f"{sum(ledger.values()):,} parameters at width d = {width:,}")
    above.set_yticks([])
    above.set_xlabel("share, in %")
    _areas(below, widths, ledgers, width)
    return fig
