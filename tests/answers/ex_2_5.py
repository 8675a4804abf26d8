"""Answers to exercise 2.5: a pre-norm residual block."""

import functools

import torch
from torch import nn


def _pre_norm(x, ln_1, attn, ln_2, mlp):
    x = x + attn(ln_1(x))
    return x + mlp(ln_2(x))


class _AsModule(nn.Module):
    def forward(self, x, ln_1, attn, ln_2, mlp):
        return _pre_norm(x, ln_1, attn, ln_2, mlp)


def _adds_in_place(x, ln_1, attn, ln_2, mlp):
    x += attn(ln_1(x))
    x += mlp(ln_2(x))
    return x


def _drops_the_first_half(x, ln_1, attn, ln_2, mlp):
    x + attn(ln_1(x))
    return x + mlp(ln_2(x))


def _starts_again(x, ln_1, attn, ln_2, mlp):
    h = x + attn(ln_1(x))
    return x + mlp(ln_2(h))


RIGHT = [
    _pre_norm,
    _AsModule(),
    lambda x, *parts: _adds_in_place(x.clone(), *parts),
    lambda x, ln_1, attn, ln_2, mlp: functools.reduce(lambda x, h: x + h[1](h[0](x)), [(ln_1, attn), (ln_2, mlp)], x),
    lambda *case: _pre_norm(*case).double().numpy(),
]
WRONG = [
    ("look    line 3", _starts_again),
    ("computed and dropped", _drops_the_first_half),
    ("`x` in place", _adds_in_place),
    ("no gradient flow back", torch.no_grad()(_pre_norm)),
    ("mlp(ln_1(", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + mlp(ln_1(h))),
    ("this computes x + attn(ln_1(x)).", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x))),
    ("same result in every case", lambda x, ln_1, attn, ln_2, mlp: 90),
    ("raised", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1)),
]
