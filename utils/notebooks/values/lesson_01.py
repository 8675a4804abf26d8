"""The numbers in lesson 01."""

import math

import numpy as np

from utils.notebooks.values.sizes import SMALL, XL, V
from utils.notebooks.values.sources import given
from utils.widgets.table_explorer import WIDTHS, random_rows


def sure_from() -> int:
    """The first width from which on each of the panel's ten random rows matches itself best."""
    unsure = [width for width in WIDTHS if ((rows := random_rows(width)) @ rows.T).argmax(1).tolist() != [*range(10)]]
    return WIDTHS[WIDTHS.index(max(unsure)) + 1]


def overflow(dtype) -> int:
    """The first whole number whose exponential a float of this type cannot hold."""
    return next(n for n in range(1_000) if math.exp(n) > float(np.finfo(dtype).max))


VALUES = {
    "zeros of a one-hot row": lambda: V - 1,
    "width from which a row is sure of itself": sure_from,
    "exponentials that overflow": lambda: (overflow(np.float32), overflow(np.float16)),
    "a flat distribution over 50,000": lambda: 1 / 50_000,
    "two points of score as a ratio": lambda: math.exp(2),
    "blocks of GPT-2 XL and small": lambda: (XL.n_layer, SMALL.n_layer),
    "a shift of all scores": given(1_000),
}
