"""Lesson 07's picture: what follows from a configuration alone."""

from utils.plots.amounts import BYTE_UNITS, byte_unit, in_bytes
from utils.plots.counting import PARTS
from utils.plots.style import new_figure, styled


@styled
def from_config(ledger, memory, precision, no_head="tied"):
    """A model's parts as a stack of 100 % with its ledger, and beside it the memory.

    ledger: int for each of utils.counting.ROWS; memory: name -> bytes, at most three; precision: of each number, in
    words; no_head: why a head counts 0, "tied" or "none" -> Figure.
    """
    fig = new_figure(9, 4.2)
    _parts(fig.add_axes((0.08, 0.05, 0.55, 0.82)), ledger, no_head)
    _memory(fig.add_axes((0.68, 0.16, 0.30, 0.71)), memory, precision)
    return fig


def _parts(ax, ledger, no_head):
    """The stack fills x from 0 to 1, and one line for each part stands right of it, none left out."""
    total, top = sum(ledger.values()), 0
    for place, (part, (rows, colour, hatch)) in enumerate(PARTS.items()):
        count, y = sum(ledger[row] for row in rows), 12 + 15 * place
        share = 100 * count / total
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.8}
        ax.bar([0.5, 1.6], [share, 8], [1, 0.4], bottom=[top, y - 4], label=part, **look)  # and the line's key
        ax.text(2, y, f"{part} ({no_head})" if (part, count) == ("head", 0) else part, va="center", fontsize=13)
        ax.text(7.2, y, f"{count:,}", ha="right", va="center", fontsize=13)
        ax.text(8.5, y, f"{share:.1f} %", ha="right", va="center", fontsize=13)
        top += share
    ax.set_xlim(0, 8.5)
    ax.set_ylim(100, 0)  # the first part on top, as in the list
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_ylabel("share, in %")
    ax.set_title(f"{total:,} parameters")


def _memory(ax, memory, precision):
    """A bar for each, with its name above it and its size behind it."""
    largest = max(memory.values())
    unit = byte_unit(largest)
    bars = ax.barh(range(len(memory)), [size / BYTE_UNITS[unit] for size in memory.values()], 0.4, color="black")
    ax.bar_label(bars, [in_bytes(size) for size in memory.values()], padding=5, fontsize=13)
    for place, name in enumerate(memory):
        ax.text(0, place - 0.26, name, va="bottom", fontsize=13)
    ax.set_xlim(0, 1.5 * largest / BYTE_UNITS[unit])
    ax.set_ylim(2.4, -0.7)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)  # names and bars begin there
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel(f"memory, in {unit}")
    ax.set_title(f"memory in {precision}")
