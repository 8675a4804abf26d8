"""Answers to exercise 3.4: the widest model within a budget."""

import math

import numpy as np
import torch

from utils.counting import gpt_params


def _by_root(budget, V, n, L, H):
    b = V + n + 13 * L + 2
    width = (math.isqrt(b * b + 48 * L * budget) - b) // (24 * L)
    return width // H * H


def _tried(budget, V, n, L, H, end=None):
    return max(d for d in range(H, end or budget, H) if gpt_params(V, n, d, L) <= budget)


def _looks_back(budget, vocab_size, n_ctx, n_layer, n_head):
    width = n_head
    while gpt_params(vocab_size, n_ctx, width - n_head, n_layer) <= budget:
        width += n_head
    return width


RIGHT = [
    _by_root,
    _tried,
    lambda *case: int(_by_root(*case[:-1], 1)) // case[-1] * case[-1],
    lambda *case: float(np.float64(_by_root(*case))),
    lambda *case: torch.tensor(_by_root(*case)),
]
WRONG = [
    ("ends at a width of its own", lambda *case: _tried(*case, end=999)),
    ("multiple of n_head", lambda *case: _by_root(*case[:-1], 1)),
    ("look    line 3", _looks_back),
    ("same result in every case", lambda *case: 4),
    ("3 times `argument 5` too much", lambda *case: _by_root(*case) + 3 * case[-1]),
    ("raised", lambda budget, V, n, L, H: max(d for d in range(0) if d)),
]
