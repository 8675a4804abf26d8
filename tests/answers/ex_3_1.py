"""Answers to exercise 3.1: the parameters of one block."""

from fractions import Fraction

import numpy as np
import torch

from utils.model import Block, GPTConfig


def _counted_in_a_module(d):
    with torch.device("meta"):
        block = Block(GPTConfig(vocab_size=1, n_ctx=1, n_embd=d, n_layer=1, n_head=1))
    return sum(parameter.numel() for parameter in block.parameters())


def _a_sign_turned(d):
    attention = 4 * (d * d + d)
    mlp = 8 * d * d - 5 * d
    return attention + mlp + 4 * d


RIGHT = [
    _counted_in_a_module,
    lambda d: d * (12 * d + 13.0),
    lambda d: np.int64(12 * d * d + 13 * d),
    lambda d: torch.tensor(12 * d * d + 13 * d),
    lambda d: Fraction(12 * d * d + 13 * d),
]
WRONG = [
    ("missing here: the bias of `c_fc`, or a layer norm", lambda d: 12 * d * d + 9 * d),
    ("the matrix of attention's `c_proj`", lambda d: 11 * d * d + 13 * d),
    ("twice as much", lambda d: 2 * d * (12 * d + 13)),
    ("look    line 3", _a_sign_turned),
    ("the sum of this is wanted", lambda d: [12 * d * d, 13 * d]),
    ("raised", lambda d: d.numel()),
]
