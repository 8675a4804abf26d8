"""Answers to exercise 3.5: bytes while training with AdamW."""

from fractions import Fraction

import numpy as np
import torch


def _without_brackets(n_params, weight_bytes):
    per_parameter = weight_bytes + weight_bytes + 4 * 4
    return n_params * per_parameter


def _a_power(n_params, weight_bytes):
    weights = n_params * weight_bytes
    moments = n_params * 4 * 3
    return 2 * weights + moments


def _twice_the_moments(n_params, weight_bytes):
    per_parameter = 2 * (weight_bytes + 2 * 4)
    return n_params * per_parameter


RIGHT = [
    lambda n, w: n * (w + w + 4 + 4),
    lambda n, w: 2 * n * w + 2 * n * 4,
    lambda n, w: float(n * (2 * w + 8)),
    lambda n, w: np.int64(n) * (2 * w + 8),
    lambda n, w: sum(torch.tensor([w, w, 4, 4])) * n,
    lambda n_params, weight_bytes: Fraction(2 * n_params * (weight_bytes + 4)),
]
WRONG = [
    ("a moment of AdamW", lambda n, w: n * w + n * w + 4 * n),
    ("missing here: the weights, or the gradients", lambda n, w: n * w + 2 * n * 4),
    ("these are millions", lambda n, w: n * (2 * w + 8) / 1e6),
    ("1,024 times 1,024", lambda n, w: n * (2 * w + 8) / 2**20),
    ("8 bytes each", _without_brackets),
    ("further copy", _a_power),
    ("8 bytes each", _twice_the_moments),
    ("number is not", lambda n, w: n * (4 * w + 8) + 1),
    ("returns a str", lambda n, w: f"{n * (2 * w + 8)} bytes"),
]
