"""Exercise 2.5: a pre-norm residual block."""

import torch
import torch.nn.functional as F

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.check.lesson_02.parts import Function, normal


def _block_cases():
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


def _block(x, ln_1, attn, ln_2, mlp):
    x = x + attn(ln_1(x))
    return x + mlp(ln_2(x))


def _same(x):
    return x


def _post_norm(x, ln_1, attn, ln_2, mlp):
    x = ln_1(x + attn(x))
    return ln_2(x + mlp(x))


def _from_the_norm(first=True, second=True):
    """A block whose sums start from what the norms gave."""

    def block(x, ln_1, attn, ln_2, mlp):
        x, read = (ln_1(x) if first else x), ln_1(x)
        x = x + attn(read)
        return (ln_2(x) if second else x) + mlp(ln_2(x))

    return block


def _half(x, norm, work):
    return x + work(norm(x))


_BLOCK_MISTAKES = (
    (
        "this is post-norm: the norms stand after the sums; in pre-norm each stands before what reads from it.",
        _post_norm,
    ),
    (
        "neither half adds to what it was given: both sums are missing.",
        lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(attn(ln_1(x)))),
    ),
    (
        "attention's result takes the place of x; it is to be added to it.",
        lambda x, ln_1, attn, ln_2, mlp: _half(attn(ln_1(x)), ln_2, mlp),
    ),
    (
        "the MLP's result stands alone; it is to be added to what went into the second half.",
        lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(_half(x, ln_1, attn))),
    ),
    (
        "both sums start from the normalised x; the stream itself goes round the norms, untouched.",
        _from_the_norm(),
    ),
    (
        "the first sum starts from the normalised x; the stream itself goes round the norm, untouched.",
        _from_the_norm(second=False),
    ),
    (
        "the second sum starts from the normalised x; the stream itself goes round the norm, untouched.",
        _from_the_norm(first=False),
    ),
    (
        "the two halves run side by side, both on the x of the beginning; the MLP must read what attention has added.",
        lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x)) + mlp(ln_2(x)),
    ),
    (
        "the two halves run side by side behind one norm; here the MLP comes second and has its own norm.",
        lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x)) + mlp(ln_1(x)),
    ),
    (
        "the second sum starts from the x of the beginning, so what attention has added is lost.",
        lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(_half(x, ln_1, attn))),
    ),
    (
        "ln_1 is used twice; the second half has a norm of its own.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, attn, ln_1, mlp),
    ),
    (
        "ln_2 is used twice; the first half has a norm of its own.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_2, attn, ln_2, mlp),
    ),
    (
        "the two norms are swapped: ln_1 belongs to attention, ln_2 to the MLP.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_2, attn, ln_1, mlp),
    ),
    (
        "there is no norm in it: both halves read the stream as it is.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, _same, attn, _same, mlp),
    ),
    (
        "attention reads the stream as it is; ln_1 comes before it.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, _same, attn, ln_2, mlp),
    ),
    (
        "the MLP reads the stream as it is; ln_2 comes before it.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, attn, _same, mlp),
    ),
    (
        "the MLP comes first; attention gathers before the MLP works on it.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_2, mlp, ln_1, attn),
    ),
    (
        "the MLP comes first, behind ln_1; attention and ln_1 are the first half.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, mlp, ln_2, attn),
    ),
    (
        "the norms work on what the two halves found; they belong before attention and the MLP.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, attn, ln_1, mlp, ln_2),
    ),
    (
        "both halves multiply the stream by what they found; they add it.",
        lambda x, ln_1, attn, ln_2, mlp: (h := x * attn(ln_1(x))) * mlp(ln_2(h)),
    ),
    (
        "both halves take what they found off the stream; they add it.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, lambda x: -attn(x), ln_2, lambda x: -mlp(x)),
    ),
    (
        "there is one sum, round both halves together; each half adds its own result.",
        lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(attn(ln_1(x)))),
    ),
    (
        "x is added a second time, with the MLP's result; the second half adds to the first half's sum alone.",
        lambda x, ln_1, attn, ln_2, mlp: x + _block(x, ln_1, attn, ln_2, mlp),
    ),
    (
        "ln_2 comes once more at the end; what leaves a block is the sum itself, without a norm.",
        lambda x, ln_1, attn, ln_2, mlp: ln_2(_block(x, ln_1, attn, ln_2, mlp)),
    ),
    (
        "the first half is post-norm: ln_1 stands after its sum, and belongs before attention.",
        lambda x, ln_1, attn, ln_2, mlp: _half(ln_1(x + attn(x)), ln_2, mlp),
    ),
    (
        "the second half is post-norm: ln_2 stands after its sum, and belongs before the MLP.",
        lambda x, ln_1, attn, ln_2, mlp: ln_2(_half(_half(x, ln_1, attn), _same, mlp)),
    ),
    (
        "this is attention's result alone; two sums and the MLP are missing.",
        lambda x, ln_1, attn, ln_2, mlp: attn(ln_1(x)),
    ),
    (
        "only the first half is there; the MLP and its norm are missing.",
        lambda x, ln_1, attn, ln_2, mlp: _half(x, ln_1, attn),
    ),
    (
        "only the second half is there; attention and its norm are missing.",
        lambda x, ln_1, attn, ln_2, mlp: _half(x, ln_2, mlp),
    ),
    (
        "this is what the second half adds; it still has to be added.",
        lambda x, ln_1, attn, ln_2, mlp: _block(x, ln_1, attn, ln_2, mlp) - x,
    ),
)

BLOCK = Exercise(
    number="2.5",
    target="An example: x = [[[1]]], ln_1(x) = x + 1, attn(x) = 10 x, ln_2(x) = x + 2, mlp(x) = 3 x give [[[90]]].",
    probe=by_cases(_block_cases, right=_block, mistakes=_BLOCK_MISTAKES),
    meaning="nothing on the main path is ever normalised or replaced: each half only adds to it.",
    hints=(
        "The block has two halves of the same form, attention first, the MLP second. Write one, and the other follows.",
        "A half reads a normalised copy of the stream, works on it, and adds the result to the stream itself.",
        "The second half starts from the first half's sum. Follow the target's numbers: after the first half x is 21.",
    ),
)


def ex_2_5(answer) -> Verdict:
    """Exercise 2.5: a pre-norm block. answer(x (B, T, d), ln_1, attn, ln_2, mlp) -> (B, T, d)."""
    return judge(BLOCK, answer)
