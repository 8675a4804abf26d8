"""Answers to exercise 8.1: the work of one token in the forward pass."""

from decimal import Decimal

import numpy as np
import torch


def _flops(vocab_size, n_embd, n_layer):
    shapes = [(n_embd, 3 * n_embd), (n_embd, n_embd), (n_embd, 4 * n_embd), (4 * n_embd, n_embd)] * n_layer
    return 2 * sum(rows * columns for rows, columns in [*shapes, (n_embd, vocab_size)])


def _too_wide(vocab_size, n_embd, n_layer):
    return 2 * (n_layer * 24 * n_embd**2 + vocab_size * n_embd)


RIGHT = [
    _flops,
    lambda V, d, L: 24 * L * d**2 + 2 * V * d,
    lambda V, d, L: 2.0 * d * (12 * L * d + V),
    lambda V, d, L: torch.tensor(_flops(V, d, L)),
    lambda V, d, L: Decimal(int(np.int64(_flops(V, d, L)))),
]
WRONG = [
    ("missing here: attention's `c_proj`", lambda V, d, L: 2 * (11 * L * d**2 + V * d)),
    ("these are billions", lambda *sizes: _flops(*sizes) / 1e9),
    ("look    line 2", _too_wide),
    ("the matrix `c_fc`, or the MLP's", lambda V, d, L: 2 * (8 * L * d**2 + V * d)),
    ("1 too much", lambda V, d, L: _flops(V, d, L) + 1),
    ("returns a dict", lambda V, d, L: {"blocks": 24 * L * d * d, "head": 2 * V * d}),
]
