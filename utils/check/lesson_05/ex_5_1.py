"""Exercise 5.1: the shift. answer(rows (B, T + 1)) -> (inputs (B, T), targets (B, T))."""

import torch

from utils.check.calling import call
from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_6 import require_ids


def _cases():
    return [
        (torch.tensor([[7, 8, 9]]),),
        (torch.tensor([[4, 5]]),),
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
        "the rows are cut, not the columns: tokens run along the second dimension.": lambda rows: (rows[:-1], rows[1:])
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
