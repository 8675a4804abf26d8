"""Exercise 2.6: the forward pass. answer(ids (B, T), wte (V, d), wpe (n, d), blocks, ln_f) -> logits (B, T, V)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.ex_2_1 import embed
from utils.check.lesson_02.parts import Function, normal


def _cases():
    add, triple = Function("block(x) = x + 1", lambda x: x + 1), Function("block(x) = 3 x", lambda x: 3 * x)
    small, rows = torch.tensor([[1.0, 0], [0, 1], [1, 2]]), torch.tensor([[0.0, 1], [1, 0], [2, 2]])
    mix, scale = normal(4, 4, seed=3), normal(4, seed=4)
    norm = Function("layer norm", lambda x: F.layer_norm(x, (4,), scale))
    works = lambda x: x + x.cumsum(1) @ mix, lambda x: x + F.gelu(x @ mix), lambda x: x + x.tanh()
    real = [Function("a block", work) for work in works]
    return [
        (torch.tensor([[2, 0]]), small, rows, [add, triple], Function("ln_f(x) = x / 2", lambda x: x / 2)),
        (torch.tensor([[0, 4, 2], [1, 1, 5]]), normal(6, 4, seed=1), normal(7, 4, seed=2), real[:2], norm),
        (torch.tensor([[3, 0, 1, 1, 2]]), normal(4, 4, seed=5), normal(5, 4, seed=6), real, norm),
        (torch.tensor([[3]]), normal(4, 4, seed=7), normal(5, 4, seed=8), real, norm),
        (torch.tensor([[1], [2]]), normal(4, 4, seed=7), normal(5, 4, seed=8), real, norm),
    ]


def _hidden(ids, wte, wpe, blocks, ln_f, x=embed, each=lambda block, x, ln_f: block(x)):
    """What the head reads; x makes the stream of the tables, and each takes it through a block."""
    x = x(ids, wte, wpe)
    for block in blocks:
        x = each(block, x, ln_f)
    return ln_f(x)


def _forward(ids, wte, *rest, **changes):
    return _hidden(ids, wte, *rest, **changes) @ wte.T


def _with(**changes):
    return lambda *case: _forward(*case, **changes)


_MISTAKES = {
    "the final layer norm comes after every block; it comes once, after the last of them.": (
        _with(each=lambda block, x, ln_f: ln_f(block(x))),
        lambda *case: _forward(*case[:4], lambda x: x, each=lambda block, x, _: case[4](block(x))),
    ),
    "the positions are added before each block; they are added once, to the tokens.": (
        lambda ids, wte, wpe, blocks, ln_f: _forward(
            ids, wte, 0 * wpe, [lambda x, b=b: b(x + wpe[: len(ids[0])]) for b in blocks], ln_f
        )
    ),
    "the final layer norm comes before the blocks; it comes after the last of them.": (
        lambda *a: _forward(*a[:4], lambda x: x, x=lambda *tables: a[4](embed(*tables)))
    ),
    "the position table is read at the token's id.": _with(x=lambda ids, wte, wpe: wte[ids] + wpe[ids]),
    "each block is given the embeddings; give it the result of the one before.": (
        lambda *a: _forward(*a[:3], a[3][-1:], a[4])
    ),
    "these are the vectors after the final layer norm; the head, one score for each token, is missing.": _hidden,
}

EXERCISE = Exercise(
    target="An example: ids [[1]], wte = [[1, 0], [0, 1], [1, 1]], wpe = [[1, 1]], one block(x) = 2 x and "
    "ln_f(x) = x + 1 give the logits [[[3, 5, 8]]].",
    probe=Cases(_cases, right=_forward, mistakes=_MISTAKES),
    meaning="this is the whole GPT: one table at both ends, and between them blocks that add to one stream.",
    hints=(
        "Four stations: the two tables, the blocks one after another, the final layer norm, the head.",
        "Keep one variable x for the stream. Each block takes it and gives the new one.",
        "The head has no weights of its own: exercise 1.2 scored a vector against every row of the token table.",
    ),
)
