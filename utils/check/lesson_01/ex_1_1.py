"""Exercise 1.1: one-hot rows. answer(ids (T,), vocab_size) -> float (T, V)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise


def _cases():
    return [(torch.tensor([2]), 4), (torch.tensor([0, 3, 3]), 5), (torch.tensor([1, 0, 4, 2]), 7)]


def _one_hot(ids, vocab_size):
    return F.one_hot(ids, vocab_size).float()


EXERCISE = Exercise(
    target="An example: ids [2, 0] with a vocabulary of 4 give [[0, 0, 1, 0], [1, 0, 0, 0]], as floats.",
    probe=Cases(
        _cases,
        right=_one_hot,
        signs={
            "the ones stand well, but as whole numbers or as True; a float table can be multiplied with neither.": (
                lambda result, want: same(result, want) and as_array(result).dtype.kind != "f"
            )
        },
        mistakes={
            "one row holds the ones of all the tokens: row t needs only that of `ids[t]`.": (
                lambda ids, vocab_size: _one_hot(ids, vocab_size).amax(0).expand(len(ids), -1),
                lambda *a: _one_hot(*a).amax(0),
            )
        },
    ),
    meaning="a one-hot row times the table copies one row out of it, so a look-up is a matrix product in disguise.",
    hints=(
        "Start from `torch.zeros` with one row for each id and one column for each token of the vocabulary.",
        "Row t needs a single 1, in the column that `ids[t]` names.",
        "Comparing a row of all column numbers with a column of ids gives the whole matrix at once.",
    ),
)
