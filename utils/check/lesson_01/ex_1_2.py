"""Exercise 1.2: a score for every token. answer(x (..., d), table (V, d)) -> (..., V)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    table, wide = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), normal(5, 4, seed=1)
    vectors = torch.tensor([[3.0, 1.0], [0.0, 1.0]])
    return [
        (vectors[0], table),
        (vectors, table),
        *((normal(*s, 4, seed=2), wide) for s in ((), (4,), (2, 3), (1,), (1, 3), (2, 1))),
    ]


def _score(x, table):
    return x @ table.T


_MISTAKES = {
    "these are cosines: the lengths have been divided away, and a plain dot product keeps them.": (
        lambda x, table: F.normalize(x, dim=-1) @ F.normalize(table, dim=-1).T
    ),
    "the table is reshaped, which deals its numbers out anew; turn it.": lambda x, w: x @ w.reshape(w.shape[::-1]),
}

EXERCISE = Exercise(
    target="An example: x = [3, 1] and the rows [1, 0], [0, 2], [1, 1] give the scores [3, 2, 4].",
    probe=Cases(_cases, right=_score, mistakes=_MISTAKES),
    meaning="the token table, transposed, is the whole head: one dot product for each token.",
    hints=(
        "A dot product multiplies number by number and adds up. Do that with every row of the table.",
        "The matrix product `@` does many dot products at once; the table must be turned so that the widths meet.",
        "x has its width in the last dimension. Which of `table` and `table.T` has its width in the first?",
    ),
)
