"""Exercise 0.1: how many numbers a table holds. answer(table (V, d)) -> int."""

import math

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

EXERCISE = Exercise(
    target="An example: for a table with 3 rows of 4 numbers the result is 12.",
    probe=Cases(
        lambda: [(torch.tensor([[1.0, 2.0]]),), (torch.arange(12.0).reshape(3, 4),), (torch.ones(5, 2),)],
        right=torch.numel,
        mistakes={
            "this is the sum of the numbers in the table; count them instead.": torch.sum,
            "a zero is a number too, and takes its room in the table.": torch.count_nonzero,
        },
        terms=Terms(
            lambda table: {"the number of rows": len(table), "the width of a row": table.shape[1]},
            combine=lambda terms: math.prod(terms.values()),
        ),
    ),
    meaning="a table of V rows and d columns holds V times d numbers, and a model's table is counted the same way.",
    hints=(
        "`table.shape` is a pair: how many rows, and how many numbers in each.",
        "A rectangle's area is found in the same way.",
    ),
)
