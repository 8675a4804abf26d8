"""Answers to exercise 3.5: bytes while training with AdamW."""

from fractions import Fraction

import numpy as np
import torch


def _in_bits(n_params, weight_bytes):
    moments = 2 * 32
    return n_params * (2 * weight_bytes + moments)


RIGHT = [
    lambda n, w: n * (w + w + 4 + 4),
    lambda n, w: float(n * (2 * w + 8)),
    lambda n, w: np.int64(n) * (2 * w + 8),
    lambda n, w: sum(torch.tensor([w, w, 4, 4])) * n,
    lambda n_params, weight_bytes: Fraction(2 * n_params * (weight_bytes + 4)),
]
WRONG = [
    ("counted once, and it comes several times: a moment of AdamW", lambda n, w: n * w + n * w + 4 * n),
    ("missing here: the weights, or the gradients", lambda n, w: n * w + 2 * n * 4),
    ("these are millions", lambda n, w: n * (2 * w + 8) / 1e6),
    ("1,024 times 1,024", lambda n, w: n * (2 * w + 8) / 2**20),
    ("`n` is not used", lambda n, w: 2 * w + 8),
    ("look    line 2", _in_bits),
    ("returns a text", lambda n, w: f"{n * (2 * w + 8)} bytes"),
]
