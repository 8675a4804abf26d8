"""Exercise 6.2: positions. answer(length, n_new) -> (n_new,), whole numbers."""

import torch

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise


def _positions(length, n_new):
    return torch.arange(length, length + n_new)


def _are_floats(result, want):
    given = as_array(result)
    return given is not None and given.dtype.kind == "f" and same(given, want)


EXERCISE = Exercise(
    target="An example: with 5 tokens in the cache, the next 3 stand at the positions [5, 6, 7].",
    probe=Cases(
        lambda: [(5, 3), (3, 1), (0, 4), (2, 2), (31, 1), (1023, 12)],
        right=_positions,
        signs={"the positions are right, but as floats; rows of a table are picked by whole numbers.": _are_floats},
    ),
    meaning="a token's position is how many tokens came before it, whether they are read again or kept in a cache.",
    hints=(
        "The tokens in the cache have the positions 0, 1, 2 and so on. Which is the next free number?",
        "There are n_new positions, one after another.",
        "`torch.arange(a, b)` counts from a up to b, and b itself is left out.",
    ),
)
