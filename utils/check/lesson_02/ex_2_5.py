"""Exercise 2.5: a pre-norm block. answer(x (B, T, d), ln_1, attn, ln_2, mlp) -> (B, T, d)."""

import torch
import torch.nn.functional as F

from utils.check.calling import Unclear, Wrong, call
from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import Formula, Function, normal


def _cases():
    says = "ln_1(x) = x + 1", "attn(x) = 10 x", "ln_2(x) = x + 2", "mlp(x) = 3 x"
    small = lambda x: x + 1, lambda x: 10 * x, lambda x: x + 2, lambda x: 3 * x
    first, second, inner = normal(4, seed=2), normal(4, seed=3), normal(4, 4, seed=4)
    norms = [lambda x, scale=scale: F.layer_norm(x, (4,), scale) for scale in (first, second)]
    usual = norms[0], lambda x: x.cumsum(1) @ inner, norms[1], lambda x: F.gelu(x @ inner.T)
    inputs = (torch.ones(1, 1, 1), says, small), (normal(2, 3, 4, seed=1), ("ln_1", "attn", "ln_2", "mlp"), usual)
    return [(x, *map(Function, names, works)) for x, names, works in inputs]


def _half(x, norm, work):
    return x + work(norm(x))


def _block(x, ln_1, attn, ln_2, mlp):
    return _half(_half(x, ln_1, attn), ln_2, mlp)


def _from_the_norm(x, norm, work):
    return norm(x) + work(norm(x))


_MISTAKES = {  # of x, the norms n and m, attention a and the MLP f
    "this is post-norm: the norms stand after the sums.": lambda x, n, a, m, f: m(n(x + a(x)) + f(n(x + a(x)))),
    "both sums are missing: each half adds to what it was given.": lambda x, n, a, m, f: f(m(a(n(x)))),
    "a sum starts from the normalised x; the stream itself goes round the norms, untouched.": (
        lambda x, n, a, m, f: _from_the_norm(_from_the_norm(x, n, a), m, f),
        lambda x, n, a, m, f: _from_the_norm(_half(x, n, a), m, f),
        lambda x, n, a, m, f: _half(_from_the_norm(x, n, a), m, f),
    ),
    "the two halves run side by side; the MLP must read the first sum.": lambda x, n, a, m, f: x + a(n(x)) + f(m(x)),
    "the MLP comes first; attention gathers before it.": lambda x, n, a, m, f: _block(x, m, f, n, a),
}


class _Told(Cases):
    """Tells a wrong answer what it computes, as one line."""

    def __call__(self, block):
        try:
            super().__call__(block)
        except Unclear as unclear:
            names = "ln_1", "attn", "ln_2", "mlp"
            try:
                formula = block(Formula("x"), *(Function(name, None) for name in names))
            except Exception:  # it does more than to add and to call
                raise unclear from None
            is_formula = isinstance(formula, Formula) and len(formula.text) < 100
            seen = f"this computes {formula}." if is_formula else unclear.seen
            raise Unclear(seen, unclear.example, unclear.is_told) from None


def _can_learn(block):
    """Wrong if the parts are called where no gradient flows."""
    flows = []
    part = Function("a part", lambda x: flows.append(torch.is_grad_enabled()) or x)
    call(block, torch.ones(1, 1, 1), *[part] * 4)
    if not all(flows):
        raise Wrong("the values are right, but `no_grad` lets no gradient flow back, and no block could learn.")


EXERCISE = Exercise(
    target="An example: x = [[[1]]], ln_1(x) = x + 1, attn(x) = 10 x, ln_2(x) = x + 2, mlp(x) = 3 x give [[[90]]].",
    probe=InTurn(_Told(_cases, right=_block, mistakes=_MISTAKES), _can_learn),
    meaning="nothing on the main path is ever normalised or replaced: each half only adds to it.",
    hints=(
        "The block has two halves of the same form, attention first, the MLP second. Write one, and the other follows.",
        "A half reads a normalised copy of the stream, works on it, and adds the result to the stream itself.",
        "The second half starts from the first half's sum. Follow the target's numbers: after the first half x is 21.",
    ),
)
