"""Lesson 06's picture: the memory of a KV cache beside that of the weights."""

from utils.plots.amounts import BYTE_UNITS, byte_unit, in_bytes
from utils.plots.style import BLUE, ORANGE, RED, new_figure, styled


@styled
def cache_beside_weights(weight_bytes, cache_bytes, note=""):
    """Two bars on one scale. Bytes of the weights and of the cache; note: a warning, or "" -> Figure."""
    fig = new_figure(8, 2.8)
    ax = fig.add_axes((0.13, 0.25, 0.69, 0.60))
    sizes = [weight_bytes, cache_bytes]
    unit = byte_unit(max(sizes))
    bars = ax.barh(["weights", "KV cache"], [size / BYTE_UNITS[unit] for size in sizes], color=[BLUE, ORANGE])
    ax.bar_label(bars, [in_bytes(size) for size in sizes], padding=5, fontsize=13)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0, labelsize=13)
    ax.set_xlabel(f"memory, in {unit}")
    ax.set_title(note, color=RED)
    return fig
