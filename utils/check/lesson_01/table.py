"""Exercises 1.1 and 1.2: the table on the way in and on the way out."""

import torch
import torch.nn.functional as F

from utils.check.compare import as_array, same
from utils.check.engine import Exercise, Verdict, by_cases, judge


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _ids_cases():
    return [(torch.tensor([2]), 4), (torch.tensor([0, 3, 3]), 5), (torch.tensor([1, 0, 4, 2]), 7)]


def _one_hot(ids, vocab_size):
    return F.one_hot(ids, vocab_size).float()


ONE_HOT = Exercise(
    number="1.1",
    target="An example: ids [2, 0] with a vocabulary of 4 give [[0, 0, 1, 0], [1, 0, 0, 0]], as floats.",
    probe=by_cases(
        _ids_cases,
        right=_one_hot,
        signs=(
            (
                "the ones stand well, but as whole numbers: a float table cannot be multiplied with those.",
                lambda result, want: same(result, want) and as_array(result).dtype.kind in "iu",
            ),
            (
                "True stands in the right places; a float table cannot be multiplied with truth values.",
                lambda result, want: same(result, want) and as_array(result).dtype.kind == "b",
            ),
        ),
        mistakes=(
            (
                "rows and columns are swapped: one row for each token is wanted, as wide as the vocabulary.",
                lambda ids, vocab_size: _one_hot(ids, vocab_size).T,
            ),
            (
                "every 1 stands one place too far left: ids are counted from 0.",
                lambda ids, vocab_size: _one_hot((ids - 1) % vocab_size, vocab_size),
            ),
            (
                "every 1 stands one place too far right: ids are counted from 0.",
                lambda ids, vocab_size: _one_hot((ids + 1) % vocab_size, vocab_size),
            ),
            (
                "all the ones are in one row: each token needs a row of its own.",
                lambda ids, vocab_size: _one_hot(ids, vocab_size).amax(0),
            ),
            (
                "every row holds the ones of all the tokens: row t needs only that of `ids[t]`.",
                lambda ids, vocab_size: _one_hot(ids, vocab_size).amax(0).expand(len(ids), -1),
            ),
            (
                "only the first row is filled: does a return stand inside the loop?",
                lambda ids, vocab_size: _one_hot(ids, vocab_size) * (torch.arange(len(ids)) == 0)[:, None],
            ),
            (
                "the rows end at the largest id of this text; they must be as wide as the vocabulary.",
                lambda ids, vocab_size: F.one_hot(ids),
            ),
            (
                "each row holds the id where a 1 is wanted.",
                lambda ids, vocab_size: _one_hot(ids, vocab_size) * ids[:, None],
            ),
            (
                "everything is 0: the ones are still missing.",
                lambda ids, vocab_size: torch.zeros(len(ids), vocab_size),
            ),
            (
                "ones stand in every place up to the id; only the place of the id itself is 1.",
                lambda ids, vocab_size: (torch.arange(vocab_size) <= ids[:, None]).float(),
            ),
        ),
    ),
    meaning="a one-hot row times the table copies one row out of it, so a look-up is a matrix product in disguise.",
    hints=(
        "Start from `torch.zeros` with one row for each id and one column for each token of the vocabulary.",
        "Row t needs a single 1, in the column that `ids[t]` names.",
        "Comparing a row of all column numbers with a column of ids gives the whole matrix at once.",
    ),
)


def _score_cases():
    table = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    wide = torch.randn(5, 4, generator=_generator(1))
    return [
        (torch.tensor([3.0, 1.0]), table),
        (torch.randn(4, generator=_generator(2)), wide),
        (torch.tensor([[3.0, 1.0], [0.0, 1.0]]), table),
        (torch.randn(4, 4, generator=_generator(3)), wide),
        (torch.randn(2, 3, 4, generator=_generator(4)), wide),
    ]


def _score(x, table):
    return x @ table.T


def _is_another_shape_for_several(result, want):
    """Only for several vectors; one vector is tried before, so it was right."""
    given = as_array(result)
    return want.dim() > 1 and given is not None and given.shape != want.shape


SCORES = Exercise(
    number="1.2",
    target="An example: x = [3, 1] and the rows [1, 0], [0, 2], [1, 1] give the scores [3, 2, 4].",
    probe=by_cases(
        _score_cases,
        right=_score,
        signs=(
            (
                "right for one vector; but with several the last place must be the tokens: (..., V).",
                _is_another_shape_for_several,
            ),
        ),
        mistakes=(
            (
                "these are probabilities; the scores themselves are wanted, before any softmax.",
                lambda x, table: _score(x, table).softmax(-1),
            ),
            (
                "these are cosines: the lengths have been divided away, and a plain dot product keeps them.",
                lambda x, table: F.normalize(x, dim=-1) @ F.normalize(table, dim=-1).T,
            ),
            (
                "the rows have been brought to length 1; a plain dot product keeps their length.",
                lambda x, table: x @ F.normalize(table, dim=-1).T,
            ),
            (
                "these are distances, which are small for a good match; a dot product is large for one.",
                lambda x, table: (x[..., None, :] - table).norm(dim=-1),
            ),
            (
                "this is the number of the best row only; a score for every token is wanted.",
                lambda x, table: _score(x, table).argmax(-1),
            ),
            (
                "the products are there, but each row's products still have to be added up.",
                lambda x, table: x[..., None, :] * table,
            ),
            (
                "the scores are averaged over the width; a dot product is a sum.",
                lambda x, table: _score(x, table) / table.shape[-1],
            ),
            (
                "the scores are divided by the root of the width, as in attention; the plain dot product is wanted.",
                lambda x, table: _score(x, table) / table.shape[-1] ** 0.5,
            ),
            (
                "these are logarithms of probabilities; the scores themselves are wanted, before any softmax.",
                lambda x, table: _score(x, table).log_softmax(-1),
            ),
        ),
    ),
    meaning="the token table, transposed, is the whole head: one dot product for each token.",
    hints=(
        "A dot product multiplies place by place and adds up. Do that with every row of the table.",
        "The matrix product `@` does many dot products at once; the table must be turned so that the widths meet.",
        "x has its width in the last place. Which of `table` and `table.T` has its width in the first?",
    ),
)


def ex_1_1(answer) -> Verdict:
    """Exercise 1.1: one-hot rows. answer(ids (T,), vocab_size) -> float (T, V)."""
    return judge(ONE_HOT, answer)


def ex_1_2(answer) -> Verdict:
    """Exercise 1.2: a score for every token. answer(x (..., d), table (V, d)) -> (..., V)."""
    return judge(SCORES, answer)
