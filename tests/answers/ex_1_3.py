"""Answers to exercise 1.3: what tying saves."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch


def _saving(vocab_size=0, n_embd=0, tied_total=0):
    saved = vocab_size * n_embd
    return saved, saved / tied_total, saved / (tied_total + saved)


def _added(vocab_size, n_embd, tied_total):
    saved = vocab_size + n_embd
    return saved, saved / tied_total, saved / (tied_total + saved)


def _without_brackets(vocab_size, n_embd, tied_total):
    saved = vocab_size * n_embd
    untied = saved / tied_total + saved
    return saved, saved / tied_total, untied


RIGHT = [
    _saving,
    lambda v, d, total: [v * d, v * d / total, v * d / (total + v * d)],
    lambda v, d, total: (torch.tensor(v * d), Fraction(v * d, total), 1 - total / (total + v * d)),
    lambda v, d, total: _saving(np.int64(v), d, np.float64(total)),
    lambda v, d, total: _saving(Decimal(v), d, total),
]
WRONG = [
    ("look    line 2", _added),
    ("look    line 3", _without_brackets),
    ("values are rounded", lambda *sizes: tuple(round(part, 4) for part in _saving(*sizes))),
    ("same result in every case", lambda *sizes: (20, 0.2, 0.1667)),
    ("missing: result 1", lambda *sizes: _saving(*sizes)[1:]),
    ("returns one dict", lambda *sizes: dict(zip("abc", _saving(*sizes), strict=True))),
]
