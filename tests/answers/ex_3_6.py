"""Answers to exercise 3.6: which convention a model card used."""

import numpy as np
import torch

from utils.counting import conventions


def _convention(stated, cfg):
    name, count = min(conventions(cfg).items(), key=lambda item: abs(item[1] - stated))
    return name if abs(count - stated) / stated <= 0.01 else None


def _in_a_loop(stated, cfg):
    best, distance = None, 0.01 * stated
    for name, count in conventions(cfg).items():
        if abs(count - stated) <= distance:
            best, distance = name, abs(count - stated)
    return best


def _in_numpy(stated, cfg):
    names, counts = (np.array(part) for part in zip(*conventions(cfg).items(), strict=True))
    away = np.abs(counts / stated - 1)
    return names[away.argmin()] if away.min() <= 0.01 else None


def _the_farthest(stated, cfg):
    counts = conventions(cfg)
    nearest = max(counts, key=lambda name: abs(counts[name] - stated))
    return nearest if abs(counts[nearest] - stated) <= 0.01 * stated else None


def _keeps_the_last(stated, cfg):
    best, distance = None, 0.01 * stated
    for name, count in conventions(cfg).items():
        if abs(count - stated) <= distance:
            best = name
    return best


RIGHT = [
    _convention,
    _in_a_loop,
    _in_numpy,
    lambda stated, cfg: _convention(torch.tensor(float(stated), dtype=torch.float64), cfg),
]
WRONG = [
    ("look    line 3", _the_farthest),
    ("another one is nearer", _keeps_the_last),
    ("only an exact number", lambda s, cfg: {count: name for name, count in conventions(cfg).items()}.get(s)),
    ("in quotes", lambda s, cfg: str(_convention(s, cfg))),
    ("a bool, and None is wanted", lambda s, cfg: _convention(s, cfg) or False),
    ("raised", lambda s, cfg: conventions(cfg)[s]),
]
