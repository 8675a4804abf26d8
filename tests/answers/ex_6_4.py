"""Answers to exercise 6.4: the bytes of a cache."""

import math

import numpy as np
import torch


def _bytes(n_layer, n_embd, n_tokens, batch_size, bytes_per_number):
    return 2 * n_layer * n_embd * n_tokens * batch_size * bytes_per_number


def _adds_the_batch(n_layer, n_embd, n_tokens, batch_size, bytes_per_number):
    numbers = 2 * n_layer * n_embd * n_tokens
    return numbers * bytes_per_number + batch_size


RIGHT = [
    _bytes,
    lambda *sizes: 2 * math.prod(sizes),
    lambda *sizes: float(2 * np.prod(sizes)),
    lambda L, d, n, B, b: sum(L * B * n * d * b for _ in ("keys", "values")),
    lambda L, d, n, B, b: torch.tensor([2, L, d, n, B, b]).prod(),
]
WRONG = [
    ("missing here: the layers", lambda L, d, n, B, b: 2 * d * n * B * b),
    ("missing here: the two, keys and values and the bytes", lambda L, d, n, B, b: L * d * n * B),
    ("these are bits", lambda *sizes: 8 * _bytes(*sizes)),
    ("1,024 times 1,024", lambda *sizes: _bytes(*sizes) / 2**20),
    ("look    line 3", _adds_the_batch),
    ("1000 too much", lambda *sizes: _bytes(*sizes) + 1000),
    ("raised", lambda L, d, n, B: 2 * L * d * n * B),
]
