"""Answers to exercise 5.3: perplexity."""

import math

import numpy as np
import torch


def _summed(losses):
    average = torch.sum(losses)
    return torch.exp(average)


def _multiplied(losses):
    product = 1.0
    for loss in losses.flatten().tolist():
        product *= math.exp(loss)
    return product ** (1 / losses.numel())


RIGHT = [
    lambda losses: losses.mean().exp(),
    lambda losses: torch.e ** losses.mean().item(),
    lambda losses: losses.exp().log().mean().exp(),
    lambda losses: losses.flatten().exp().pow(1 / losses.numel()).prod(),
    lambda losses: np.exp(losses.double().numpy().mean()),
]
WRONG = [
    ("look    line 2", _summed),
    ("overflows", _multiplied),
    ("number is not", lambda losses: losses.max().exp()),
    ("raised", lambda losses: math.exp(losses)),
    ("a single number is wanted", lambda losses: losses.mean().exp()[None]),
]
