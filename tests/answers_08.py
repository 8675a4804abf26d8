"""Answers to lesson 08's exercises, right and wrong: what tests/test_check.py tries."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

from utils.model import GPTConfig
from utils.scaling import compute_optimal, cost, gpu_hours, matmul_flops, training_flops

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 8.1 the work of one token


def _flops(vocab_size, n_embd, n_layer, each=2, head=1):
    shapes = [(n_embd, 3 * n_embd), (n_embd, n_embd), (n_embd, 4 * n_embd), (4 * n_embd, n_embd)] * n_layer
    shapes += [(n_embd, vocab_size)] * head
    return each * sum(rows * columns for rows, columns in shapes)


def _by_the_ledger(vocab_size, n_embd, n_layer):
    parts = matmul_flops(GPTConfig(vocab_size, 1, n_embd, n_layer, 1), 1)
    return sum(parts.values()) - parts["attention scores"] - parts["weighted sum"]


RIGHT["8.1"] = [
    _flops,
    _by_the_ledger,
    lambda V, d, L: 24 * L * d**2 + 2 * V * d,
    lambda V, d, L: 2.0 * d * (12 * L * d + V),
    lambda V, d, L: np.int64(_flops(V, d, L)),
    lambda V, d, L: torch.tensor(_flops(V, d, L)),
    lambda V, d, L: Decimal(_flops(V, d, L)),
]
WRONG["8.1"] = [
    ("how many numbers", lambda *sizes: _flops(*sizes, each=1)),
    ("the head is missing: its", lambda *sizes: _flops(*sizes, head=0)),
    ("the head is missing, and", lambda *sizes: _flops(*sizes, each=1, head=0)),
    ("this is the head alone", lambda V, d, L: 2 * V * d),
    ("counted twice", lambda *sizes: _flops(*sizes, head=2)),
    ("with one operation for each number; it picks", lambda V, d, L: _flops(V, d, L) + V * d),
    ("with d operations", lambda V, d, L: _flops(V, d, L) + d),
    ("token of training", lambda *sizes: _flops(*sizes, each=6)),
    ("the backward pass", lambda *sizes: _flops(*sizes, each=4)),
    ("32 times too much", lambda *sizes: _flops(*sizes, each=64)),
    ("32 times too much", lambda *sizes: 32 * _flops(*sizes)),
    ("its 32 bits", lambda *sizes: _flops(*sizes, each=32)),
    ("four times too much", lambda *sizes: 4 * _flops(*sizes)),
    ("eight times too much", lambda *sizes: _flops(*sizes, each=16)),
    ("1,024 tokens", lambda *sizes: _flops(*sizes) * 1024),
    ("in billions", lambda *sizes: _flops(*sizes) / 1e9),
    ("in trillions", lambda *sizes: _flops(*sizes) / 1e12),
    ("squared with the width", lambda V, d, L: 2 * (12 * d**2 * L**2 + V * d)),
    ("and not the blocks", lambda V, d, L: 2 * (12 * d**2 + V * d * L)),
    ("with 10 d²", lambda V, d, L: 2 * (10 * L * d**2 + V * d)),
    ("adds V and d", lambda V, d, L: 2 * (12 * L * d**2 + V + d)),
    ("V times V", lambda V, d, L: 2 * (12 * L * d**2 + V**2)),
    ("every parameter", lambda V, d, L: 2 * (V * d + 1024 * d + L * (12 * d * d + 13 * d) + 2 * d)),
    ("*square* of d", lambda V, d, L: 2 * (12 * L * d + V * d)),
    ("one block is counted", lambda V, d, L: _flops(V, d, 1)),
    ("once for each block", lambda V, d, L: 2 * L * (12 * d * d + V * d)),
    ("reaches the blocks alone", lambda V, d, L: 2 * 12 * L * d * d + V * d),
    ("reaches the head alone", lambda V, d, L: 12 * L * d * d + 2 * V * d),
    ("yours counts V.", lambda V, d, L: 2 * (12 * L * d * d + V)),
    ("yours counts V times d²", lambda V, d, L: 2 * d * d * (12 * L + V)),
    ("attention and the head", lambda V, d, L: 2 * (4 * L * d * d + V * d)),
    ("MLP and the head", lambda V, d, L: 2 * (8 * L * d * d + V * d)),
    ("biases and layer norms", lambda V, d, L: 2 * (L * (12 * d * d + 13 * d) + V * d)),
    ("biases and layer norms", lambda V, d, L: 2 * (L * (12 * d * d + 13 * d) + V * d + 2 * d)),
    ("so add", lambda V, d, L: 2 * (12 * L * d * d) * (V * d)),
    ("before it is multiplied", lambda V, d, L: 2 * d * (12 * L * d * d + V)),
    ("same result in every case", lambda V, d, L: 216_000),
    ("NaN", lambda V, d, L: _flops(V, d, L) * (1 if L == 1 else np.nan)),
    ("number is not", lambda V, d, L: _flops(V, d, L) + 1),
    ("a single number", lambda V, d, L: {"blocks": 24 * L * d * d, "head": 2 * V * d}.values() and [V, d, L]),
    ("returns a dict", lambda V, d, L: {"blocks": 24 * L * d * d, "head": 2 * V * d}),
    ("raised", lambda cfg: _flops(cfg.vocab_size, cfg.n_embd, cfg.n_layer)),
]

# 8.2 days


def _days(n_params, n_tokens, flops_per_second, n_gpus=1, rule=6, unit=24 * 60 * 60):
    return rule * n_params * n_tokens / (flops_per_second * n_gpus) / unit


def _exactly(n_params, n_tokens, flops_per_second, n_gpus=1):
    work = 6 * Fraction(n_params) * Fraction(n_tokens)
    return work / Fraction(flops_per_second) / n_gpus / 86_400


def _by_the_library(n_params, n_tokens, flops_per_second, n_gpus=1):
    return gpu_hours(training_flops(n_params, n_tokens), flops_per_second * n_gpus) / 24


RIGHT["8.2"] = [
    _days,
    _exactly,
    _by_the_library,
    lambda N, D, speed, n_gpus=1: np.float64(6) * N * D / speed / n_gpus / 86_400,
    lambda N, D, speed, n_gpus=1: torch.tensor(6.0 * N * D / speed) / n_gpus / 3600 / 24,
    lambda *sizes: 6 * math.prod(sizes[:2]) / math.prod(sizes[2:]) / (60 * 60 * 24),
]
WRONG["8.2"] = [
    ("forward pass alone", lambda *case: _days(*case, rule=2)),
    ("backward pass alone", lambda *case: _days(*case, rule=4)),
    ("one operation is counted", lambda *case: _days(*case, rule=1)),
    ("multiplications alone", lambda *case: _days(*case, rule=3)),
    ("in seconds", lambda *case: _days(*case, unit=1)),
    ("in minutes", lambda *case: _days(*case, unit=60)),
    ("in hours", lambda *case: _days(*case, unit=3600)),
    ("in weeks", lambda *case: _days(*case) / 7),
    ("in years", lambda *case: _days(*case) / 365),
    ("60 times as many seconds", lambda *case: _days(*case, unit=24 * 60)),
    ("divided by 12", lambda *case: _days(*case, unit=12 * 3600)),
    ("make it longer", lambda N, D, speed, n_gpus=1: 6 * N * D / speed * n_gpus / 86_400),
    ("`n_gpus` is not used", lambda N, D, speed, n_gpus=1: 6 * N * D / speed / 86_400),
    ("has no `n_gpus`", lambda N, D, speed: 6 * N * D / speed / 86_400),
    ("may be left out", lambda N, D, speed, n_gpus: 6 * N * D / speed / n_gpus / 86_400),
    ("multiplied by 1e12", lambda N, D, speed, n_gpus=1: _days(N, D, speed * 1e12, n_gpus)),
    ("divided by 1e12", lambda N, D, speed, n_gpus=1: _days(N, D, speed / 1e12, n_gpus)),
    ("divided by 1e9", lambda N, D, speed, n_gpus=1: _days(N, D, speed / 1e9, n_gpus)),
    ("`/ 24 * 60 * 60`", lambda N, D, speed, n_gpus=1: 6 * N * D / (speed * n_gpus) / 24 * 60 * 60),
    ("`/ 60 * 60 * 24`", lambda N, D, speed, n_gpus=1: 6 * N * D / (speed * n_gpus) / 60 * 60 * 24),
    ("multiplied by 24", lambda *case: _days(*case, unit=3600) * 24),
    ("in months", lambda *case: _days(*case) / 30),
    ("20 for each parameter", lambda N, D, speed, n_gpus=1: _days(N, 20 * N, speed, n_gpus)),
    ("second forward pass", lambda *case: _days(*case, rule=8)),
    ("number of GPUs twice", lambda N, D, speed, n_gpus=1: _days(N, D, speed * n_gpus, n_gpus)),
    ("multiplied by the speed", lambda N, D, speed, n_gpus=1: 6 * N * D * speed / n_gpus / 86_400),
    ("these are the FLOPs", lambda N, D, speed, n_gpus=1: 6 * N * D),
    ("speed is not used", lambda N, D, speed, n_gpus=1: 6 * N * D / n_gpus / 86_400),
    ("from seconds to days", lambda *case: _days(*case, unit=1) * 86_400),
    ("upside down", lambda N, D, speed, n_gpus=1: speed * n_gpus / (6 * N * D) / 86_400),
    ("upside down", lambda *case: 1 / _days(*case)),
    ("are added", lambda N, D, speed, n_gpus=1: 6 * (N + D) / (speed * n_gpus) / 86_400),
    ("tokens are not used", lambda N, D, speed, n_gpus=1: _days(N, 1, speed, n_gpus)),
    ("parameters are not used", lambda N, D, speed, n_gpus=1: _days(1, D, speed, n_gpus)),
    ("rounded down", lambda *case: int(_days(*case))),
    ("days are rounded;", lambda *case: round(_days(*case))),
    ("rounded up", lambda *case: math.ceil(_days(*case))),
    ("NaN", lambda N, D, speed, n_gpus=1: _days(N, D, speed, n_gpus) if n_gpus > 1 else math.nan),
    ("infinity", lambda N, D, speed, n_gpus=1: _days(N, D, speed, n_gpus) if n_gpus > 1 else math.inf),
    ("same result in every case", lambda N, D, speed, n_gpus=1: 10),
    ("values are rounded", lambda *case: round(_days(*case), 2)),
    ("number is not", lambda *case: _days(*case) + 1),
    ("returns a timedelta", lambda *case: __import__("datetime").timedelta(_days(*case))),
    ("returns None", lambda N, D, speed, n_gpus=1: print(end="")),
]

# 8.3 the price


def _price(n_params, n_tokens, flops_per_second, price_per_hour, rule=6, unit=3600):
    return rule * n_params * n_tokens / flops_per_second / unit * price_per_hour


RIGHT["8.3"] = [
    _price,
    lambda N, D, speed, price: cost(gpu_hours(training_flops(N, D), speed), price),
    lambda N, D, speed, price: _days(N, D, speed) * 24 * price,
    lambda N, D, speed, price: Fraction(6 * int(N) * int(D), 3600 * int(speed)) * Fraction(price),
    lambda N, D, speed, price: np.float32(6 * N * D / speed / 3600) * price,
    lambda N, D, speed, price: torch.tensor(N * D / speed) / 600 * price,
]
WRONG["8.3"] = [
    ("forward pass alone", lambda *case: _price(*case, rule=2)),
    ("backward pass alone", lambda *case: _price(*case, rule=4)),
    ("one operation is counted", lambda *case: _price(*case, rule=1)),
    ("multiplications alone", lambda *case: _price(*case, rule=3)),
    ("every second is paid", lambda *case: _price(*case, unit=1)),
    ("every minute is paid", lambda *case: _price(*case, unit=60)),
    ("every day is paid", lambda *case: _price(*case, unit=86_400)),
    ("divided by the price", lambda N, D, speed, price: 6 * N * D / speed / 3600 / price),
    ("multiplied by 1e12", lambda N, D, speed, price: _price(N, D, speed * 1e12, price)),
    ("divided by 1e12", lambda N, D, speed, price: _price(N, D, speed / 1e12, price)),
    ("divided by 1e9", lambda N, D, speed, price: _price(N, D, speed / 1e9, price)),
    ("multiplied by 1e15", lambda N, D, speed, price: _price(N, D, speed * 1e15, price)),
    ("multiplied by 24", lambda *case: 24 * _price(*case)),
    ("every FLOP is paid", lambda N, D, speed, price: 6 * N * D * price),
    ("upside down", lambda *case: 1 / _price(*case)),
    ("upside down", lambda N, D, speed, price: speed / (6 * N * D) / 3600 * price),
    ("passes each parameter", lambda N, D, speed, price: 6 * (N + D) / speed / 3600 * price),
    ("20 for each parameter", lambda N, D, speed, price: _price(N, 20 * N, speed, price)),
    ("rounded up", lambda *case: math.ceil(_price(*case))),
    ("these are the hours", lambda N, D, speed, price: 6 * N * D / speed / 3600),
    ("these are the seconds", lambda N, D, speed, price: 6 * N * D / speed),
    ("these are the days", lambda N, D, speed, price: 6 * N * D / speed / 86_400),
    ("these are the FLOPs", lambda N, D, speed, price: 6 * N * D),
    ("speed is not used", lambda N, D, speed, price: 6 * N * D / 3600 * price),
    ("multiplied by the speed", lambda N, D, speed, price: 6 * N * D * speed / 3600 * price),
    ("seconds to hours", lambda N, D, speed, price: 6 * N * D / speed * 3600 * price),
    ("are added", lambda N, D, speed, price: 6 * N * D / speed / 3600 + price),
    ("in hundredths", lambda *case: 100 * _price(*case)),
    ("in thousands", lambda *case: _price(*case) / 1000),
    ("in millions", lambda *case: _price(*case) / 1e6),
    ("tokens are not used", lambda N, D, speed, price: _price(N, 1, speed, price)),
    ("parameters are not used", lambda N, D, speed, price: _price(1, D, speed, price)),
    ("only whole hours", lambda N, D, speed, price: int(_price(N, D, speed, 1)) * price),
    ("last hour is paid in full", lambda N, D, speed, price: math.ceil(_price(N, D, speed, 1)) * price),
    ("the price is rounded; leave", lambda *case: round(_price(*case))),
    ("rounded down", lambda *case: math.floor(_price(*case))),
    ("NaN", lambda *case: torch.tensor(_price(*case) if case[-1] == 2 else torch.nan)),
    ("same result in every case", lambda *case: 20),
    ("number is not", lambda *case: _price(*case) + 1),
    ("returns a str", lambda *case: f"${_price(*case):,.2f}"),
    ("raised", lambda N, D, speed, n_gpus, price: _price(N, D, speed * n_gpus, price)),
    ("returns None", lambda *case: print(end="")),
]

# 8.4 the best size


def _best(flops, tokens_per_param=20):
    n_params = (flops / (6 * tokens_per_param)) ** 0.5
    return n_params, tokens_per_param * n_params


def _by_logarithms(flops, r=20):
    n_params = math.exp((math.log(flops) - math.log(6) - math.log(r)) / 2)
    return [n_params, flops / 6 / n_params]


def _by_halving(flops, r=20):
    low, high = 0.0, flops
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if 6 * r * middle**2 < flops else (low, middle)
    return low, r * low


def _sized(size, tokens=lambda C, N, r: r * N):
    def best(flops, tokens_per_param=20):
        n_params = size(flops, tokens_per_param)
        return n_params, tokens(flops, n_params, tokens_per_param)

    return best


def _tokens(tokens):
    return _sized(lambda C, r: math.sqrt(C / 6 / r), tokens)


RIGHT["8.4"] = [
    _best,
    compute_optimal,
    _by_logarithms,
    _by_halving,
    lambda C, r=20: tuple(np.sqrt(C / 6 * np.array([1 / r, r]))),
    lambda C, r=20: (torch.tensor(C / 6 / r, dtype=torch.float64).sqrt(), math.sqrt(C * r / 6)),
    lambda C, r=20: tuple(round(part) for part in _best(C, r)),
    lambda C, r=20: np.array(_best(C, r)),
    lambda C, r=20: torch.tensor(_best(C, r), dtype=torch.float64),
]
WRONG["8.4"] = [
    ("the 6 is missing: training", _sized(lambda C, r: math.sqrt(C / r))),
    ("the 6 is missing: training", _sized(lambda C, r: math.sqrt(C / r), lambda C, N, r: C / (6 * N))),
    ("the forward pass alone; training", _sized(lambda C, r: (C / (2 * r)) ** 0.5)),
    ("4 N D is", _sized(lambda C, r: math.sqrt(C / 4 / r))),
    ("8 N D counts", _sized(lambda C, r: math.sqrt(C / 8 / r))),
    ("the 6 is outside", _sized(lambda C, r: (C / r) ** 0.5 / 6)),
    ("N and D were added", _sized(lambda C, r: C / 6 / (1 + r))),
    ("they divide it", _sized(lambda C, r: math.sqrt(C * 6 * r))),
    ("is squared; N", _sized(lambda C, r: (C / 6 / r) ** 2)),
    ("the ratio is added", _tokens(lambda C, N, r: r + N)),
    ("in billions", lambda C, r=20: (_best(C, r)[0] / 1e9, _best(C, r)[1] / 1e9)),
    ("N times D", _tokens(lambda C, N, r: N * r * N)),
    ("default of `tokens_per_param`", lambda C, tokens_per_param=1: _best(C, tokens_per_param)),
    ("the root is missing", _sized(lambda C, r: C / (6 * r))),
    ("the root is missing", _sized(lambda C, r: C / (6 * r), lambda C, N, r: C / (6 * N))),
    ("binds more strongly", _sized(lambda C, r: C / (6 * r) ** 0.5)),
    ("of the budget alone", _sized(lambda C, r: C**0.5 / (6 * r))),
    ("one token per parameter", _sized(lambda C, r: math.sqrt(C / 6))),
    ("one token per parameter", _sized(lambda C, r: math.sqrt(C / 6), lambda C, N, r: C / (6 * N))),
    ("outside the root", _sized(lambda C, r: math.sqrt(C / 6) / r)),
    ("put what divides in brackets", _sized(lambda C, r: math.sqrt(C / 6 * r))),
    ("size is that for 20", _sized(lambda C, r: math.sqrt(C / 120))),
    ("size is that for 20", _sized(lambda C, r: math.sqrt(C / 120), lambda C, N, r: N * r)),
    ("cube root", _sized(lambda C, r: np.cbrt(C / (6 * r)))),
    ("is not used: this is for 20", lambda C, r=20: _best(C)),
    ("there are 20 tokens for each", _tokens(lambda C, N, r: 20 * N)),
    ("as many tokens as parameters", _tokens(lambda C, N, r: N)),
    ("are divided by the ratio", _tokens(lambda C, N, r: N / r)),
    ("the tokens are C / N", _tokens(lambda C, N, r: C / N)),
    ("with 2 N D", _tokens(lambda C, N, r: C / (2 * N))),
    ("comes with the ratio", _tokens(lambda C, N, r: r)),
    ("comes with the budget", _tokens(lambda C, N, r: C)),
    ("swapped", lambda C, r=20: (math.sqrt(C * r / 6), math.sqrt(C / (6 * r)))),
    ("the size alone", lambda C, r=20: math.sqrt(C / (6 * r))),
    ("the tokens alone", lambda C, r=20: r * math.sqrt(C / (6 * r))),
    ("has no `tokens_per_param`", lambda C: _best(C)),
    ("give it 20", lambda C, tokens_per_param: _best(C, tokens_per_param)),
    ("NaN", _tokens(lambda C, N, r: r * N if r == 20 else math.nan)),
    ("result 2 of 2", _tokens(lambda C, N, r: r * N + 1)),
    ("result 1 of 2", _sized(lambda C, r: 3 * math.sqrt(C))),
    ("2 results are wanted", lambda C, r=20: (*_best(C, r), C)),
    ("same result in every case", lambda C, r=20: (1e9, 20e9)),
    ("returns None", lambda C, r=20: print(end="")),
    ("raised", lambda C, r=20: _best(C, r) / 2),
]
