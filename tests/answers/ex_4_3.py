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


def _in_whole_numbers(logits, temperature):
    if temperature > 0:
        return _from_the_highest(logits, temperature)
    return F.one_hot(logits.argmax(-1), logits.shape[-1])


def _lowest_wins(logits, temperature):
    if temperature == 0:
        return F.one_hot(logits.argmin(-1), logits.shape[-1]).float()
    return _from_the_highest(logits, temperature)


def _condition_turned(logits, temperature):
    if temperature != 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return _from_the_highest(logits, temperature)


def _highest_keeps_its_size(logits, temperature):
    if temperature == 0:
        return logits.softmax(-1) * _greedy(logits, 0)
    return _from_the_highest(logits, temperature)


def _below_a_limit(logits, temperature):
    return _greedy(logits, 0 if temperature < 1e-10 else temperature)


RIGHT = [
    _greedy,
    _scattered,
    _in_lists,
    lambda logits, t: _greedy(logits, t).double().numpy(),
    lambda logits, t: _greedy(logits.double(), t).float() if t else _scattered(logits, t),
]
WRONG = [
    ("of the kind torch.int64", _in_whole_numbers),
    ("look    line 3", _lowest_wins),
    ("look    line 2", _condition_turned),
    ("do not sum to 1", _highest_keeps_its_size),
    ("small temperature is treated as 0", _below_a_limit),
    ("share the probability", lambda logits, t: (logits / max(t, 1e-6)).softmax(-1)),
    ("small temperatures are raised", lambda x, t: _greedy(x, t and max(t, 1e-4))),
    ("at a tiny one the divided scores overflow", lambda x, t: (x / t).softmax(-1) if t else _greedy(x, t)),
    ("returns None", lambda logits, t: _greedy(logits, t) if t == 0 else None),
]
