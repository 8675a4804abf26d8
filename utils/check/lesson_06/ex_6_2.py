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


def _forms(number):
    """A mistake that gives one number: by itself, and as the only one of a list."""
    return number, lambda length, n_new: [number(length, n_new)]


EXERCISE = Exercise(
    target="An example: with 5 tokens in the cache, the next 3 stand at the positions [5, 6, 7].",
    probe=Cases(
        lambda: [(5, 3), (3, 1), (0, 4), (2, 2), (31, 1), (7, 12)],
        right=_positions,
        signs={
            "the positions are right, but as floats; they pick rows of a table, so they are whole numbers.": _are_floats,
        },
        mistakes={
            "the positions start at 0, or at 1; the tokens in the cache come first.": (
                lambda length, n_new: torch.arange(n_new),
                lambda length, n_new: torch.arange(1, n_new + 1),
            ),
            "they start one too high: positions count from 0, so the cache holds 0 to length - 1.": (
                lambda length, n_new: _positions(length + 1, n_new)
            ),
            "this is only the first position; each new token has one.": _forms(lambda length, n_new: length),
            "this is how many tokens there are in the end; a position is wanted for each new one.": _forms(
                lambda length, n_new: length + n_new
            ),
            "this is the last position alone; each new token has one.": _forms(
                lambda length, n_new: length + n_new - 1
            ),
            "all new tokens get the same position.": (
                lambda length, n_new: torch.full((n_new,), length),
                lambda length, n_new: torch.full((n_new,), length + 1),
            ),
            "these are all positions; only those of the new tokens are wanted.": (
                lambda length, n_new: torch.arange(length + n_new)
            ),
            "the end is taken for a number of tokens: `arange` stops before its second argument.": (
                lambda length, n_new: torch.arange(length, n_new)
            ),
            "there is a dimension too many: one row of positions serves every sequence, in the shape (n_new,).": (
                lambda length, n_new: _positions(length, n_new)[None],
                lambda length, n_new: _positions(length, n_new)[:, None],
            ),
        },
    ),
    meaning="a token's position is how many tokens came before it, whether they are read again or kept in a cache.",
    hints=(
        "The tokens in the cache have the positions 0, 1, 2 and so on. Which is the next free number?",
        "There are n_new positions, one after another.",
        "`torch.arange(a, b)` counts from a up to b, and b itself is left out.",
    ),
)
