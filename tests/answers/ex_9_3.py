"""Answers to exercise 9.3: the score by the distance alone."""

import math

import numpy as np
import torch

from utils.llama import rotate, rotation


def _score_at(q, k, distance, theta):
    d_head = q.shape[0]
    angles = distance * theta ** (-2 * torch.arange(d_head // 2) / d_head)
    return rotate(q[None], angles.cos(), angles.sin())[0] @ k


def _at_two_positions(q, k, distance, theta):
    cos, sin = rotation(5, distance + 1, len(q), theta)
    return (rotate(q, cos[-1], sin[-1]) * rotate(k, cos[0], sin[0])).sum().item()


def _key_turned_back(q, k, distance, theta):
    cos, sin = rotation(distance, 1, len(q), theta)
    return q @ rotate(k, cos[0], -sin[0])


def _in_numpy(q, k, distance, theta):
    half = len(q) // 2
    q, k = (x[:half].numpy() + 1j * x[half:].numpy() for x in (q, k))
    return np.sum(q * np.conj(k) * np.exp(1j * distance / theta ** (np.arange(half) / half))).real


def _by_hand(q, k, distance, theta):
    half, total = len(q) // 2, 0.0
    for i in range(half):
        angle = distance * theta ** (-i / half)
        a, b, c, d = (x.item() for x in (q[i], q[i + half], k[i], k[i + half]))
        total += (a * c + b * d) * math.cos(angle) + (a * d - b * c) * math.sin(angle)
    return total


def _doubled(q, k, distance, theta):
    d_head = len(q)
    angles = distance * theta ** (-2 * torch.arange(0, d_head, 2) / d_head)
    return rotate(q, angles.cos(), angles.sin()) @ k


def _added(q, k, distance, theta):
    d_head = len(q)
    angles = distance + theta ** (-torch.arange(0, d_head, 2) / d_head)
    return rotate(q, angles.cos(), angles.sin()) @ k


RIGHT = [_score_at, _at_two_positions, _key_turned_back, _in_numpy, _by_hand]
WRONG = [
    ("holds 2 i already", _doubled),
    ("look    line 3", _added),
    ("goes the wrong way", lambda q, k, *rest: _score_at(k, q, *rest)),
    ("`theta` is not used", lambda q, k, distance, theta: _score_at(q, k, distance, 10_000.0)),
    ("`distance` and `theta` are not used", lambda q, k, distance, theta: (q * k).sum()),
    ("a single number is wanted", lambda *case: [_score_at(*case)]),
]
