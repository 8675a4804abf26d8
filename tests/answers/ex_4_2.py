"""Answers to exercise 4.2: temperature."""

import math

import torch
import torch.nn.functional as F


def _by_hand(logits, temperature):
    scaled = logits / temperature
    weights = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    return weights / weights.sum(dim=-1, keepdim=True)


def _by_the_root(logits, temperature):
    scaled = logits / math.sqrt(temperature)
    return scaled.softmax(dim=-1)


def _limited(logits, temperature):
    temperature = max(temperature, 1e-8)
    return F.softmax(logits / temperature, dim=-1)


def _keeps_no_dimension(logits, temperature):
    weights = torch.exp(logits / temperature - (logits / temperature).amax(-1, keepdim=True))
    return weights / weights.sum(dim=-1)


RIGHT = [
    lambda logits, t: (logits * (1 / t)).softmax(logits.ndim - 1),
    lambda logits, t: (logits / t - (logits / t).logsumexp(-1, keepdim=True)).exp(),
    lambda logits, t: torch.nn.Softmax(dim=-1)(logits.double() / t).tolist(),
    lambda logits, t: 1 / ((logits[..., None, :] - logits[..., None]) / t).exp().sum(-1),
    _by_hand,
]
WRONG = [
    ("look    line 2", _by_the_root),
    ("look    line 2", _limited),
    ("look    line 3", _keeps_no_dimension),
    ("does not change with `temp`", lambda logits, temp: (logits - temp).softmax(-1)),
    ("do not sum to 1", lambda logits, t: F.softmax(logits / t)),
    ("do not sum to 1", lambda logits, t: (logits / t).sigmoid()),
    ("changes `logits` in place", lambda logits, t: logits.div_(t).softmax(-1)),
    ("rounded", lambda logits, t: (logits / t).softmax(-1).round(decimals=3)),
]
