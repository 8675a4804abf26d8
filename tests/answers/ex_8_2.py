"""Answers to exercise 8.2: how many days a training takes."""

import datetime
import math
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


def _times_the_speed(n_params, n_tokens, flops_per_second, n_gpus=1):
    total = 6 * n_params * n_tokens
    seconds = total * (flops_per_second * n_gpus)
    return seconds / (24 * 60 * 60)


def _gpus_added(n_params, n_tokens, flops_per_second, n_gpus=1):
    total = 6 * n_params * n_tokens
    return total / (flops_per_second + n_gpus) / 86_400


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
    lambda *sizes: 6 * math.prod(sizes[:2]) / math.prod(sizes[2:]) / (60 * 60 * 24),
]
WRONG = [
    ("missing here: `n_gpus`", lambda N, D, speed, n_gpus=1: _days(N, D, speed)),
    ("missing here: the 6 operations", lambda *case: _days(*case) / 6),
    ("missing here: the speed", lambda N, D, speed, n_gpus=1: _days(N, D, 1, n_gpus)),
    ("look    line 3", _times_the_speed),
    ("look    line 3", _gpus_added),
    ("look    line 2", _gpus_squared),
    ("values are rounded", lambda *case: round(_days(*case), 2)),
    ("number is not", lambda *case: _days(*case) + 1),
    ("returns a timedelta", lambda *case: datetime.timedelta(_days(*case))),
]
