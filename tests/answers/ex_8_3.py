"""Answers to exercise 8.3: what a training costs."""

from fractions import Fraction

import numpy as np
import torch

from utils.scaling import cost, gpu_hours, training_flops


def _price(n_params, n_tokens, flops_per_second, price_per_hour):
    return 6 * n_params * n_tokens / flops_per_second / 3600 * price_per_hour


def _times_the_speed(n_params, n_tokens, flops_per_second, price_per_hour):
    seconds = 6 * n_params * n_tokens * flops_per_second
    return seconds / 3600 * price_per_hour


def _from_hours_to_seconds(n_params, n_tokens, flops_per_second, price_per_hour):
    seconds = 6 * n_params * n_tokens / flops_per_second
    hours = seconds * 3600
    return hours * price_per_hour


RIGHT = [
    _price,
    lambda N, D, speed, price: cost(gpu_hours(training_flops(N, D), speed), price),
    lambda N, D, speed, price: Fraction(6 * int(N) * int(D), 3600 * int(speed)) * Fraction(price),
    lambda N, D, speed, price: np.float32(6 * N * D / speed / 3600) * price,
    lambda N, D, speed, price: torch.tensor(N * D / speed) / 600 * price,
]
WRONG = [
    ("missing here: the 6 operations", lambda *case: _price(*case) / 6),
    ("these are millions", lambda *case: _price(*case) / 1e6),
    ("look    line 2", _times_the_speed),
    ("look    line 3", _from_hours_to_seconds),
    ("1 too much", lambda *case: _price(*case) + 1),
    ("returns a text", lambda *case: f"${_price(*case):,.2f}"),
]
