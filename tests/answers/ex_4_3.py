"""Answers to exercise 4.3: greedy as a limit."""

import torch
import torch.nn.functional as F


def _greedy(logits, temperature):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return _from_the_highest(logits, temperature)


def _from_the_highest(logits, temperature):
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)


def _scattered(logits, temperature):
    if not temperature:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    return (logits.double() / temperature).softmax(-1)


def _in_lists(logits, temperature):
    if temperature > 0:
        return _from_the_highest(logits, temperature).tolist()
    return (torch.arange(logits.shape[-1]) == logits.argmax(-1, keepdim=True)).int().tolist()


def _lowest_wins(logits, temperature):
    if temperature == 0:
        return F.one_hot(logits.argmin(-1), logits.shape[-1]).float()
    return _from_the_highest(logits, temperature)


RIGHT = [
    _greedy,
    _scattered,
    _in_lists,
    lambda logits, t: _greedy(logits, t).double().numpy(),
]
WRONG = [
    ("of the kind torch.int64", lambda x, t: _greedy(x, t) if t else _greedy(x, t).long()),
    ("look    line 3", _lowest_wins),
    ("do not sum to 1", lambda x, t: _greedy(x, t) if t else x.softmax(-1) * _greedy(x, 0)),
    ("small temperature is treated as 0", lambda x, t: _greedy(x, 0 if t < 1e-10 else t)),
    ("share the probability", lambda logits, t: (logits / max(t, 1e-6)).softmax(-1)),
    ("right in 12 of 13 cases", lambda x, t: _greedy(x, t and max(t, 1e-4))),
    ("returns None", lambda logits, t: _greedy(logits, t) if t == 0 else None),
]
