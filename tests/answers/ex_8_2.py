"""Answers to exercise 8.2: how many days a training takes."""

import datetime
from fractions import Fraction

import numpy as np
import torch

from utils.scaling import gpu_hours, training_flops


def _days(n_params, n_tokens, flops_per_second, n_gpus=1):
    return 6 * n_params * n_tokens / (flops_per_second * n_gpus) / (24 * 60 * 60)


def _exactly(n_params, n_tokens, flops_per_second, n_gpus=1):
    work = 6 * Fraction(n_params) * Fraction(n_tokens)
    return work / Fraction(flops_per_second) / n_gpus / 86_400


def _by_the_library(n_params, n_tokens, flops_per_second, n_gpus=1):
    return gpu_hours(training_flops(n_params, n_tokens), flops_per_second * n_gpus) / 24


def _gpus_squared(n_params, n_tokens, flops_per_second, n_gpus=1):
    seconds = 6 * n_params * n_tokens / flops_per_second / n_gpus
    days = seconds / 3600 / 24
    return days / n_gpus


RIGHT = [
    _days,
    _exactly,
    _by_the_library,
    lambda N, D, speed, n_gpus=1: np.float64(6) * N * D / speed / n_gpus / 86_400,
    lambda N, D, speed, n_gpus=1: torch.tensor(6.0 * N * D / speed) / n_gpus / 3600 / 24,
]
WRONG = [
    ("missing here: `n_gpus`", lambda N, D, speed, n_gpus=1: _days(N, D, speed)),
    ("missing here: the 6 operations", lambda *case: _days(*case) / 6),
    ("look    line 2", _gpus_squared),
    ("1 too much", lambda *case: _days(*case) + 1),
    ("returns a timedelta", lambda *case: datetime.timedelta(_days(*case))),
]
