"""Answers to exercise 2.5: a pre-norm residual block."""

import functools

from torch import nn


def _pre_norm(x, ln_1, attn, ln_2, mlp):
    x = x + attn(ln_1(x))
    return x + mlp(ln_2(x))


class _AsModule(nn.Module):
    def forward(self, x, ln_1, attn, ln_2, mlp):
        return _pre_norm(x, ln_1, attn, ln_2, mlp)


def _adds_to_its_own(x, ln_1, attn, ln_2, mlp):
    x = x.clone()
    x += attn(ln_1(x))
    x += mlp(ln_2(x))
    return x


def _changes_x(x, ln_1, attn, ln_2, mlp):
    x += attn(ln_1(x))
    x += mlp(ln_2(x))
    return x


def _from_the_norm(x, ln_1, attn, ln_2, mlp):
    x = x + attn(ln_1(x))
    normed = ln_2(x)
    return normed + mlp(normed)


def _drops_the_first_half(x, ln_1, attn, ln_2, mlp):
    x + attn(ln_1(x))
    return x + mlp(ln_2(x))


def _takes_off(x, ln_1, attn, ln_2, mlp):
    x = x - attn(ln_1(x))
    return x + mlp(ln_2(x))


RIGHT = [
    _pre_norm,
    _AsModule(),
    _adds_to_its_own,
    lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(attn(ln_1(x)) + x)) + attn(ln_1(x)) + x,
    lambda x, ln_1, attn, ln_2, mlp: functools.reduce(lambda x, h: x + h[1](h[0](x)), [(ln_1, attn), (ln_2, mlp)], x),
    lambda *case: _pre_norm(*case).double().numpy(),
]
WRONG = [
    ("a sum starts from the normalised", _from_the_norm),
    ("computed and dropped", _drops_the_first_half),
    ("look    line 2", _takes_off),
    ("`x` in place", _changes_x),
    ("`ln_2` is not used", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + mlp(ln_1(h))),
    ("`ln_1` and `ln_2` are not used", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(x)) + mlp(h)),
    ("`ln_2` and `mlp` are not used", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x))),
    ("same result in every case", lambda x, ln_1, attn, ln_2, mlp: 90),
    ("raised", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1)),
]
