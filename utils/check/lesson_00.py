"""Lesson 00's exercise: a first function, to see the three verdicts."""

import torch

from utils.check.engine import Exercise, Verdict, by_cases, judge


def _cases():
    return [(torch.tensor([[1.0, 2.0]]),), (torch.arange(12.0).reshape(3, 4),), (torch.ones(5, 2),)]


_SHAPE = Exercise(
    number="0.1",
    target="An example: for a table with 3 rows of 4 numbers the result is 12.",
    probe=by_cases(
        _cases,
        right=lambda table: table.shape[0] * table.shape[1],
        mistakes=(
            ("this is the number of rows; how many numbers does each of them hold?", lambda table: table.shape[0]),
            ("this is the width of a row; how many rows are there?", lambda table: table.shape[1]),
            ("rows and width are added; 3 rows of 4 hold 12 numbers, not 7.", lambda table: sum(table.shape)),
            ("this is the sum of the numbers in the table; count them instead.", lambda table: table.sum()),
            ("this is the shape; the result is one number made from it.", lambda table: tuple(table.shape)),
        ),
    ),
    meaning="a table of V rows and d columns holds V times d numbers, and a model's table is counted the same way.",
    hints=(
        "`table.shape` is a pair: how many rows, and how many numbers in each.",
        "A rectangle's area is found in the same way.",
    ),
)

EXERCISES = (_SHAPE,)


def ex_0_1(answer) -> Verdict:
    """Exercise 0.1: how many numbers a table holds. answer(table (V, d)) -> int."""
    return judge(_SHAPE, answer)
