"""Lesson 08's pictures of a measured scaling law: the points, the line, what the line leaves, and the facts behind."""

from itertools import pairwise

import numpy as np
from matplotlib.ticker import StrMethodFormatter

from utils.plots.style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, styled

GAPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)
SHARES = (0, 50, 100)


@styled
def scaling_law(n_params, gaps, law, spreads=None, convention="all unique parameters"):
    """The gap against the size, on log axes, with the fitted line; below, by how much each point is off it, in %.

    n_params, gaps: one number a model; law: a PowerLaw of utils.experiments.scaling_law fitted to them; spreads:
    standard deviations of the gaps from seed to seed, or None; convention: how the parameters were counted -> Figure.
    """
    sizes, gaps = np.asarray(n_params, dtype=float), np.asarray(gaps, dtype=float)
    fig = new_figure(8, 5.4)
    above = fig.add_axes((0.12, 0.40, 0.85, 0.57))
    below = fig.add_axes((0.12, 0.11, 0.85, 0.23), sharex=above)
    ends = np.array([sizes.min() / 1.3, sizes.max() * 1.3])
    above.plot(ends, law(ends), color=BLUE, linewidth=2.5, label=f"fit: gap in proportion to N to the {law.slope:.2f}")
    bars = {"yerr": spreads, "fmt": "o", "color": ORANGE, "markersize": 9, "capsize": 5}
    above.errorbar(sizes, gaps, **bars, label="measured" if spreads is None else "measured, ± spread over seeds")
    above.set_xscale("log")
    above.set_yscale("log")
    above.set_yticks(GAPS, [f"{gap:g}" for gap in GAPS])
    above.set_ylim(min(gaps.min(), law(ends).min()) / 1.5, max(gaps.max(), law(ends).max()) * 1.3)
    above.minorticks_off()
    above.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    above.set_ylabel("gap to the floor,\nnats per token (log scale)")
    above.tick_params(labelbottom=False)
    above.legend(frameon=False)
    _residuals(below, sizes, 100 * (gaps / law(sizes) - 1))
    below.set_xlabel(f"size N: {convention} (log scale)")
    return fig


def _residuals(ax, sizes, per_cent):
    ax.axhline(0, color=BLUE, linewidth=2.5)
    ax.vlines(sizes, 0, per_cent, color=ORANGE, linewidth=2.5)
    ax.plot(sizes, per_cent, "o", color=ORANGE, markersize=9)
    ax.set_ylim(np.array([-1.4, 1.4]) * max(5, np.abs(per_cent).max()))
    ax.set_ylabel("off the\nline, %")


@styled
def held_by_rank(models, groups=12):
    """The share of the facts that each model holds, against how frequent they are: rank 1 is asked for most.

    models: name -> bool (F,), the likeliest fact first; groups: how many groups of ranks, evenly apart on a log axis.
    Returns a Figure. Raises ValueError for more models than the palette has colours.
    """
    colours = (BLUE, ORANGE, RED, GREEN)
    if len(models) > len(colours):
        raise ValueError(f"held_by_rank was given {len(models)} models; give at most {len(colours)}, one a colour.")
    fig = new_figure(8, 3.6)
    ax = fig.add_axes((0.10, 0.16, 0.87, 0.80))
    for (name, held), colour in zip(models.items(), colours, strict=False):
        ranks, shares = _by_rank(np.asarray(held), groups)
        ax.semilogx(ranks, 100 * shares, color=colour, marker="o", label=name)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_yticks(SHARES)
    ax.set_ylim(-5, 105)
    ax.axhline(0, color=GREY, linewidth=1)
    ax.set_xlabel("rank of the fact, most frequent first (log scale)")
    ax.set_ylabel("facts held, %")
    ax.legend(frameon=False)
    return fig


def _by_rank(held, groups):
    """-> each group's middle rank (the geometric mean) and share, for groups of ranks evenly apart in the logarithm."""
    edges = np.unique(np.round(np.geomspace(1, len(held) + 1, groups + 1)).astype(int))
    ranks = [np.sqrt(low * (high - 1)) for low, high in pairwise(edges)]
    shares = [held[low - 1 : high - 1].mean() for low, high in pairwise(edges)]
    return np.array(ranks), np.array(shares)
