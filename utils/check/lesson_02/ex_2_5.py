"""Exercise 2.5: a pre-norm block. answer(x (B, T, d), ln_1, attn, ln_2, mlp) -> (B, T, d)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import Function, normal


def _cases():
    small = (
        torch.ones(1, 1, 1),
        Function("ln_1(x) = x + 1", lambda x: x + 1),
        Function("attn(x) = 10 x", lambda x: 10 * x),
        Function("ln_2(x) = x + 2", lambda x: x + 2),
        Function("mlp(x) = 3 x", lambda x: 3 * x),
    )
    first, second, inner = normal(4, seed=2), normal(4, seed=3), normal(4, 4, seed=4)
    usual = (
        normal(2, 3, 4, seed=1),
        Function("ln_1", lambda x: F.layer_norm(x, (4,), first)),
        Function("attn", lambda x: x.cumsum(1) @ inner),
        Function("ln_2", lambda x: F.layer_norm(x, (4,), second)),
        Function("mlp", lambda x: F.gelu(x @ inner.T)),
    )
    return [small, usual]


def _half(x, norm, work):
    return x + work(norm(x))


def _block(x, ln_1, attn, ln_2, mlp):
    return _half(_half(x, ln_1, attn), ln_2, mlp)


def _post_norm(x, ln_1, attn, ln_2, mlp):
    x = ln_1(x + attn(x))
    return ln_2(x + mlp(x))


def _from_the_norm(norm, work):
    """A half whose sum starts from what the norm gave."""
    return lambda x: norm(x) + work(norm(x))


EXERCISE = Exercise(
    target="An example: x = [[[1]]], ln_1(x) = x + 1, attn(x) = 10 x, ln_2(x) = x + 2, mlp(x) = 3 x give [[[90]]].",
    probe=Cases(
        _cases,
        right=_block,
        mistakes={
            "this is post-norm: the norms stand after the sums; in pre-norm each stands before what reads from it.": (
                _post_norm
            ),
            "neither half adds to what it was given: both sums are missing.": (
                lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(attn(ln_1(x))))
            ),
            "attention's result replaces x; it is to be added to it.": (
                lambda x, ln_1, attn, ln_2, mlp: _half(attn(ln_1(x)), ln_2, mlp)
            ),
            "the MLP's result stands alone; it is to be added to what went into the second half.": (
                lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(_half(x, ln_1, attn)))
            ),
            "there is one sum, round both halves together; each half adds its own result.": (
                lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(attn(ln_1(x))))
            ),
            "a sum starts from the normalised x; the stream itself goes round the norms, untouched.": (
                lambda x, ln_1, attn, ln_2, mlp: _from_the_norm(ln_2, mlp)(_from_the_norm(ln_1, attn)(x)),
                lambda x, ln_1, attn, ln_2, mlp: _half(_from_the_norm(ln_1, attn)(x), ln_2, mlp),
                lambda x, ln_1, attn, ln_2, mlp: _from_the_norm(ln_2, mlp)(_half(x, ln_1, attn)),
            ),
            "the two halves run side by side, both on the x of the beginning; "
            "the MLP must read what attention has added.": (
                lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x)) + mlp(ln_2(x))
            ),
            "the second sum starts from the x of the beginning, so what attention has added is lost.": (
                lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(_half(x, ln_1, attn)))
            ),
            "the two norms are swapped: ln_1 belongs to attention, ln_2 to the MLP.": (
                lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_2, attn, ln_1, mlp)
            ),
            "the MLP comes first; attention gathers before the MLP works on it.": (
                lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_2, mlp, ln_1, attn),
                lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, mlp, ln_2, attn),
            ),
            "a norm works on what its half has found; it belongs before attention, or before the MLP.": (
                lambda x, ln_1, attn, ln_2, mlp: _block(x, attn, ln_1, mlp, ln_2),
                lambda x, ln_1, attn, ln_2, mlp: _block(x, attn, ln_1, ln_2, mlp),
                lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, attn, mlp, ln_2),
            ),
            "the MLP reads attention's result alone; it reads the stream to which that has been added.": (
                lambda x, ln_1, attn, ln_2, mlp: _half(x, ln_1, attn) + mlp(ln_2(attn(ln_1(x))))
            ),
        },
    ),
    meaning="nothing on the main path is ever normalised or replaced: each half only adds to it.",
    hints=(
        "The block has two halves of the same form, attention first, the MLP second. Write one, and the other follows.",
        "A half reads a normalised copy of the stream, works on it, and adds the result to the stream itself.",
        "The second half starts from the first half's sum. Follow the target's numbers: after the first half x is 21.",
    ),
)
