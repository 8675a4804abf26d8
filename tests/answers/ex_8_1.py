"""Answers to exercise 8.1: the work of one token in the forward pass."""

from decimal import Decimal

import numpy as np
import torch

from utils.model import GPTConfig
from utils.scaling import matmul_flops


def _flops(vocab_size, n_embd, n_layer):
    shapes = [(n_embd, 3 * n_embd), (n_embd, n_embd), (n_embd, 4 * n_embd), (4 * n_embd, n_embd)] * n_layer
    return 2 * sum(rows * columns for rows, columns in [*shapes, (n_embd, vocab_size)])


def _by_the_ledger(vocab_size, n_embd, n_layer):
    parts = matmul_flops(GPTConfig(vocab_size, 1, n_embd, n_layer, 1), 1)
    return sum(parts.values()) - parts["attention scores"] - parts["weighted sum"]


def _without_brackets(vocab_size, n_embd, n_layer):
    blocks = n_layer * 12 * n_embd + n_embd
    return 2 * (blocks + vocab_size * n_embd)


def _a_power(vocab_size, n_embd, n_layer):
    blocks = n_layer * 12 * n_embd**2
    head = vocab_size * n_embd
    return (blocks + head) ** 2


def _narrow_mlp(vocab_size, n_embd, n_layer):
    attention = 4 * n_embd**2
    mlp = 4 * n_embd**2
    return 2 * (n_layer * (attention + mlp) + vocab_size * n_embd)


RIGHT = [
    _flops,
    _by_the_ledger,
    lambda V, d, L: 24 * L * d**2 + 2 * V * d,
    lambda V, d, L: 2.0 * d * (12 * L * d + V),
    lambda V, d, L: torch.tensor(_flops(V, d, L)),
    lambda V, d, L: Decimal(int(np.int64(_flops(V, d, L)))),
]
WRONG = [
    ("missing here: attention's `c_proj`", lambda V, d, L: 2 * (11 * L * d**2 + V * d)),
    ("these are billions", lambda *sizes: _flops(*sizes) / 1e9),
    ("look    line 2", _without_brackets),
    ("look    line 4", _a_power),
    ("missing here: the matrix `c_fc`, or the MLP's", _narrow_mlp),
    ("number is not", lambda V, d, L: _flops(V, d, L) + 1),
    ("returns a dict", lambda V, d, L: {"blocks": 24 * L * d * d, "head": 2 * V * d}),
    ("raised", lambda cfg: _flops(cfg.vocab_size, cfg.n_embd, cfg.n_layer)),
]
