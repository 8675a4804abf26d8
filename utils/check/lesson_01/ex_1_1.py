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


def _is_of_kind(*kinds):
    return lambda result, want: same(result, want) and as_array(result).dtype.kind in kinds


EXERCISE = Exercise(
    target="An example: ids [2, 0] with a vocabulary of 4 give [[0, 0, 1, 0], [1, 0, 0, 0]], as floats.",
    probe=Cases(
        _cases,
        right=_one_hot,
        signs={
            "the ones stand well, but as whole numbers: a float table cannot be multiplied with those.": (
                _is_of_kind("i", "u")
            ),
            "True stands in the right columns; a float table cannot be multiplied with truth values.": _is_of_kind("b"),
        },
        mistakes={
            "rows and columns are swapped: one row for each token is wanted, as wide as the vocabulary.": (
                lambda ids, vocab_size: _one_hot(ids, vocab_size).T
            ),
            "all the ones are in one row: each token needs a row of its own.": (
                lambda ids, vocab_size: _one_hot(ids, vocab_size).amax(0)
            ),
            "every row holds the ones of all the tokens: row t needs only that of `ids[t]`.": (
                lambda ids, vocab_size: _one_hot(ids, vocab_size).amax(0).expand(len(ids), -1)
            ),
            "the rows end at the largest id of this text; they must be as wide as the vocabulary.": (
                lambda ids, vocab_size: F.one_hot(ids)
            ),
            "ones and zeros are exchanged: a single 1 stands in each row.": (
                lambda ids, vocab_size: 1 - _one_hot(ids, vocab_size)
            ),
            "everything is 0: the ones are still missing.": lambda ids, vocab_size: torch.zeros(len(ids), vocab_size),
        },
    ),
    meaning="a one-hot row times the table copies one row out of it, so a look-up is a matrix product in disguise.",
    hints=(
        "Start from `torch.zeros` with one row for each id and one column for each token of the vocabulary.",
        "Row t needs a single 1, in the column that `ids[t]` names.",
        "Comparing a row of all column numbers with a column of ids gives the whole matrix at once.",
    ),
)
