"""The numbers in lesson 03."""

from utils.counting import GPT2_FAMILY, training_bytes
from utils.notebooks.values.sizes import SMALL, V, gpt3, total
from utils.notebooks.values.sources import given, published
from utils.widgets import WidthExplorer


def crossing() -> list[int]:
    """The panel's neighbouring widths between which 12 blocks begin to weigh more than GPT-2's table."""
    widths = [width for _, width in WidthExplorer().width.options]
    heavy = [12 * (12 * d * d + 13 * d) > V * d for d in widths].index(True)
    return widths[heavy - 1 : heavy + 1]


VALUES = {
    "the family's sizes": lambda: [n for c in GPT2_FAMILY.values() for n in (c.n_layer, c.n_embd, c.n_head)],
    "the family's first counts": published("Radford et al. 2019, table 2", 117e6, 345e6, 762e6, 1_542e6),
    "GPT-3, in billions": lambda: round(gpt3() / 1e9),
    "heads times width in rows 1.3B and 13B": published("Brown et al. 2020, table 2.1", 24 * 128, 40 * 128),
    "width of as much table as blocks": lambda: round(V / (12 * 12)),
    "between which widths the panel shows it": crossing,
    "bytes of GPT-2 small's file": lambda: 4 * total(SMALL),
    "with twelve masks of the context's square": lambda: 4 * (total(SMALL) + 12 * SMALL.n_ctx**2),
    "bytes to train a parameter, and GPT-3": lambda: (training_bytes(1), training_bytes(gpt3())),
    "a billion parameters, to use and to train": lambda: [1e9 * size for size in (4, 8, training_bytes(1))],
    "memory of graphics cards": published("NVIDIA data sheets: V100 16 GB (2017), A100 80 GB (2020)", 16e9, 80e9),
    "the tolerance of exercise 3.6": given(0.01),
}
