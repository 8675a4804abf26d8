"""Exercise 2.2: the causal mask. answer(n_tokens) -> bool (T, T), True where the row may look at the column."""

import torch

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise


def causal_mask(n_tokens):
    """The causal mask, bool (T, T): True where the row may look at the column."""
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril()


def _is_to_be_added(result, want):
    """Is this a mask of zeros and large negative numbers, to be added to the scores?"""
    given = as_array(result)
    return given is not None and ((given == 0) | (given < -100)).all() and (given < -100).any()


_MISTAKES = {
    "True stands where looking is forbidden; here it means allowed.": lambda n_tokens: ~causal_mask(n_tokens),
    "every word sees every word; where is the future shut out?": lambda n_tokens: torch.ones(n_tokens, n_tokens),
    "every word sees itself alone; those before it are allowed too.": torch.eye,
}

EXERCISE = Exercise(
    target="An example: 2 tokens give [[True, False], [True, True]].",
    probe=Cases(
        lambda: [(3,), (1,), (5,)],
        right=causal_mask,
        signs={
            "this is a mask to add to the scores, of 0 and large negative numbers; True and False are wanted.": (
                _is_to_be_added
            ),
            "the ones stand well, but as numbers; True and False are wanted: compare, or use `dtype=torch.bool`.": (
                lambda result, want: same(result, want) and as_array(result).dtype.kind != "b"
            ),
        },
        mistakes=_MISTAKES,
    ),
    meaning="a triangle of True is all that keeps a GPT from reading the words that it is to predict.",
    hints=(
        "Start with a square: one row for each word that looks, one column for each word that it may look at.",
        "In row t the columns from 0 to t are True. What shape do the Trues make together?",
        "Comparing a column of row numbers with a row of column numbers gives it; so does keeping a triangle of ones.",
    ),
)
