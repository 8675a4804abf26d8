"""Answers to exercise 4.2: temperature."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def _by_hand(logits, temperature):
    scaled = logits / temperature
    weights = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    return weights / weights.sum(dim=-1, keepdim=True)


def _in_numpy(logits, temperature):
    scaled = logits.numpy() / temperature
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _by_powers(logits, temperature):
    powers = logits.softmax(-1) ** (1 / temperature)
    return powers / powers.sum(-1, keepdim=True)


def _by_the_root(logits, temperature):
    scaled = logits / math.sqrt(temperature)
    return scaled.softmax(dim=-1)


def _limited(logits, temperature):
    temperature = max(temperature, 1e-8)
    return F.softmax(logits / temperature, dim=-1)


def _a_sign_turned(logits, temperature):
    scaled = -logits / temperature
    return F.softmax(scaled, dim=-1)


def _keeps_no_dimension(logits, temperature):
    weights = torch.exp(logits / temperature - (logits / temperature).amax(-1, keepdim=True))
    return weights / weights.sum(dim=-1)


def _divides_in_place(logits, temperature):
    logits /= temperature
    return logits.softmax(-1)


RIGHT = [
    lambda logits, t: F.softmax(logits / t, dim=-1),
    lambda logits, t: (logits * (1 / t)).softmax(logits.ndim - 1),
    lambda logits, t: (logits / t - (logits / t).logsumexp(-1, keepdim=True)).exp(),
    lambda logits, t: torch.nn.Softmax(dim=-1)(logits.double() / t).tolist(),
    _by_hand,
    _in_numpy,
    lambda logits, t: F.softmax(logits / torch.full_like(logits, t), dim=-1),
]
WRONG = [
    ("look    line 2", _limited),
    ("look    line 2", _a_sign_turned),
    ("look    line 3", _keeps_no_dimension),
    ("not used", lambda logits, temp: (logits - temp).softmax(-1)),
    ("guesses its dimension", lambda logits, t: F.softmax(logits / t)),
    ("look    line 2", _by_the_root),
    ("powers round to 0", _by_powers),
    ("do not sum to 1", lambda logits, t: (logits / t).sigmoid()),
    ("changes `logits` in place", _divides_in_place),
    ("rounded", lambda logits, t: (logits / t).softmax(-1).round(decimals=3)),
]
