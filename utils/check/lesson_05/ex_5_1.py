"""Exercise 5.1: the shift. answer(rows (B, T + 1)) -> (inputs (B, T), targets (B, T))."""

import torch
import torch.nn.functional as F

from utils.check.calling import call
from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_6 import require_ids


def _cases():
    return [
        (torch.tensor([[7, 8, 9]]),),
        (torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]),),
        (torch.randint(200, (3, 33), generator=torch.Generator().manual_seed(1)),),
    ]


def _require_whole_numbers(function):
    for tokens in call(function, *_cases()[0]):
        require_ids(tokens)


_COMPARED = Cases(
    _cases,
    right=lambda rows: (rows[:, :-1], rows[:, 1:]),
    mistakes={
        "both are the same tokens: a target is the token after its input.": (
            *(lambda rows: (rows[:, 1:], rows[:, 1:]), lambda rows: (rows, rows)),
        ),
        "the rows are cut, not the columns: tokens run along the second dimension.": lambda rows: (rows[:-1], rows[1:]),
        "nothing follows the last token, and nothing comes before the first; inputs and targets drop one each.": (
            lambda rows: (rows, rows.roll(-1, 1)),
            lambda rows: (rows, rows[:, 1:]),
            lambda rows: (rows[:, :-1], rows),
            lambda rows: (rows, F.pad(rows[:, 1:], (0, 1), value=-100)),
        ),
        "the rows are joined first, so a row's last token is asked for the next row's first; cut each row.": (
            lambda rows: (rows.flatten()[:-1], rows.flatten()[1:])
        ),
        "a target is the very next token, and not the one after it.": lambda rows: (rows[:, :-2], rows[:, 2:]),
        "only the last token is a target; each position has one.": (
            *(lambda rows: (rows[:, :-1], rows[:, -1:]), lambda rows: (rows[:, :-1], rows[:, -1])),
        ),
        "only the first row of the batch is left; every row is wanted.": lambda rows: (rows[0, :-1], rows[0, 1:]),
    },
    results=("the inputs", "the targets"),
)

EXERCISE = Exercise(
    target="An example: rows [[7, 8, 9]] give the inputs [[7, 8]] and the targets [[8, 9]].",
    probe=InTurn(_COMPARED, _require_whole_numbers),
    meaning="one row of T + 1 tokens holds T questions and their T answers, with nobody to label them.",
    hints=(
        "The inputs are all tokens but one, and the targets are all tokens but another.",
        "A slice along the second dimension, `rows[:, a:b]`, keeps all rows and some columns.",
    ),
)
