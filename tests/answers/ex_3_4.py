"""Answers to exercise 3.4: the widest model within a budget."""

import math

import numpy as np
import torch

from utils.counting import gpt_params


def _widest(budget, V, n, L, H):
    width = H
    while gpt_params(V, n, width + H, L) <= budget:
        width += H
    return width


def _by_root(budget, V, n, L, H):
    b = V + n + 13 * L + 2
    width = (math.isqrt(b * b + 48 * L * budget) - b) // (24 * L)
    return width // H * H


def _one_by_one(budget, V, n, L, H):
    width = 1
    while gpt_params(V, n, width + 1, L) <= budget:
        width += 1
    return width


def _too_wide(budget, V, n, L, H):
    width = H
    while gpt_params(V, n, width, L) <= budget:
        width += H
    return width


def _strictly(budget, vocab_size, n_ctx, n_layer, n_head):
    width = n_head
    while gpt_params(vocab_size, n_ctx, width + n_head, n_layer) < budget:
        width += n_head
    return width


def _looks_back(budget, vocab_size, n_ctx, n_layer, n_head):
    width = n_head
    while gpt_params(vocab_size, n_ctx, width - n_head, n_layer) <= budget:
        width += n_head
    return width


def _never_steps(budget, vocab_size, n_ctx, n_layer, n_head):
    width = n_head
    while gpt_params(vocab_size, n_ctx, width + n_head, n_layer) <= budget:
        return width + n_head
    return width


RIGHT = [
    _widest,
    _by_root,
    lambda budget, V, n, L, H: _too_wide(budget, V, n, L, H) - H,
    lambda budget, V, n, L, H: _one_by_one(budget, V, n, L, H) // H * H,
    lambda budget, V, n, L, H: max(d for d in range(H, budget, H) if gpt_params(V, n, d, L) <= budget),
    lambda *case: float(np.float64(_widest(*case))),
    lambda *case: torch.tensor(_widest(*case)),
]
WRONG = [
    (
        "ends at a width of its own",
        lambda b, V, n, L, H: max(d for d in range(H, 999, H) if gpt_params(V, n, d, L) <= b),
    ),
    ("ends at a width of its own", lambda *case: min(2_000, _widest(*case))),
    ("multiple of n_head", _one_by_one),
    ("at most, not less", _strictly),
    ("look    line 3", _looks_back),
    ("does not change with `budget`", _never_steps),
    ("number is not", lambda *case: _widest(*case) + 3 * case[-1]),
    ("raised", lambda budget, V, n, L, H: max(d for d in range(0) if d)),
]
