"""Exercise 1.2: a score for every token. answer(x (..., d), table (V, d)) -> (..., V)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _normal(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _cases():
    table, wide = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), _normal(5, 4, seed=1)
    return [
        (torch.tensor([3.0, 1.0]), table),
        (_normal(4, seed=2), wide),
        (torch.tensor([[3.0, 1.0], [0.0, 1.0]]), table),
        (_normal(4, 4, seed=3), wide),
        (_normal(2, 3, 4, seed=4), wide),
    ]


def _score(x, table):
    return x @ table.T


EXERCISE = Exercise(
    target="An example: x = [3, 1] and the rows [1, 0], [0, 2], [1, 1] give the scores [3, 2, 4].",
    probe=Cases(
        _cases,
        right=_score,
        mistakes={
            "these are probabilities; the scores themselves are wanted, before any softmax.": (
                lambda x, table: _score(x, table).softmax(-1)
            ),
            "these are cosines: the lengths have been divided away, and a plain dot product keeps them.": (
                lambda x, table: F.normalize(x, dim=-1) @ F.normalize(table, dim=-1).T
            ),
            "the rows have been brought to length 1; a plain dot product keeps their length.": (
                lambda x, table: x @ F.normalize(table, dim=-1).T
            ),
            "these are distances, which are small for a good match; a dot product is large for one.": (
                lambda x, table: (x[..., None, :] - table).norm(dim=-1),
                lambda x, table: (x[..., None, :] - table).square().sum(-1),
            ),
            "this is the number of the best row only; a score for every token is wanted.": (
                lambda x, table: _score(x, table).argmax(-1)
            ),
            "the products are there, but each row's products still have to be added up.": (
                lambda x, table: x[..., None, :] * table,
                lambda x, table: x * table,
            ),
            "the table is reshaped, which deals its numbers out anew; turn it, so that rows become columns.": (
                lambda x, table: x @ table.reshape(table.shape[::-1])
            ),
            "the scores are divided by the root of the width, as in attention; the plain dot product is wanted.": (
                lambda x, table: _score(x, table) / table.shape[-1] ** 0.5
            ),
        },
    ),
    meaning="the token table, transposed, is the whole head: one dot product for each token.",
    hints=(
        "A dot product multiplies number by number and adds up. Do that with every row of the table.",
        "The matrix product `@` does many dot products at once; the table must be turned so that the widths meet.",
        "x has its width in the last dimension. Which of `table` and `table.T` has its width in the first?",
    ),
)
