"""Answers to exercise 6.2: the positions of new tokens."""

import numpy as np
import torch


def _one_too_many(length, n_new):
    start = length
    return torch.arange(start, start + n_new + 1)


def _a_factor(length, n_new):
    return length * torch.arange(n_new)


RIGHT = [
    lambda length, n_new: torch.arange(length, length + n_new),
    lambda length, n_new: length + torch.arange(n_new),
    lambda length, n_new: list(range(length, length + n_new)),
    lambda length, n_new: range(length, length + n_new),
    lambda length, n_new: torch.tensor([length + i for i in range(n_new)], dtype=torch.int32),
    lambda length, n_new: np.arange(length + n_new)[length:],
    lambda length, n_new: torch.ones(n_new, dtype=torch.int64).cumsum(0) - 1 + length,
]
WRONG = [
    ("look    line 3", _one_too_many),
    ("look    line 2, `return length * torch.arange(n_new)`: the operator", _a_factor),
    ("as floats", lambda length, n_new: torch.linspace(length, length + n_new - 1, n_new)),
    ("in the shape (3, 1)", lambda length, n_new: [[length + i] for i in range(n_new)]),
    ("generator", lambda length, n_new: (length + i for i in range(n_new))),
    ("raised", lambda length, n_new: torch.arange(length, length + n_new)[n_new]),
]
