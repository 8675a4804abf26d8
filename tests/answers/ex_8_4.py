"""Answers to exercise 8.4: the size and the tokens that use a budget best."""

import math

import numpy as np
import torch

from utils.scaling import compute_optimal


def _best(flops, tokens_per_param=20):
    n_params = (flops / (6 * tokens_per_param)) ** 0.5
    return n_params, tokens_per_param * n_params


def _cube_root(flops, tokens_per_param=20):
    n_best = (flops / (6 * tokens_per_param)) ** (1 / 3)
    return n_best, tokens_per_param * n_best


def _swapped(flops, tokens_per_param=20):
    n_best = (flops / (6 * tokens_per_param)) ** 0.5
    return tokens_per_param * n_best, n_best


RIGHT = [
    _best,
    compute_optimal,
    lambda C, r=20: tuple(np.sqrt(C / 6 * np.array([1 / r, r]))),
    lambda C, r=20: (torch.tensor(C / 6 / r, dtype=torch.float64).sqrt(), math.sqrt(C * r / 6)),
    lambda C, r=20: torch.tensor(_best(C, r), dtype=torch.float64),
]
WRONG = [
    ("look    line 2", _cube_root),
    ("look    line 3", _swapped),
    ("the tokens alone: this is 1 too much", lambda C, r=20: (_best(C, r)[0], _best(C, r)[1] + 1)),
    ("`r` is not used", lambda C, r=20: (3 * math.sqrt(C), 20 * math.sqrt(C))),
    ("2 results are wanted", lambda C, r=20: (*_best(C, r), C)),
    ("raised", lambda C, r=20: _best(C, r) / 2),
]
