"""Answers to exercise 3.3: the token table's share."""

from fractions import Fraction

import numpy as np
import torch

from utils.counting import gpt_params


def _divides_one_part(V, n, d, L):
    total = V * d + n * d + L * (12 * d * d + 13 * d) + 2 * d
    return (V * d) * total


RIGHT = [
    lambda V, n, d, L: V / (V + n + L * (12 * d + 13) + 2),
    lambda V, n, d, L: Fraction(V * d, gpt_params(V, n, d, L)),
    lambda V, n, d, L: torch.tensor(V * d) / gpt_params(V, n, d, L),
    lambda V, n, d, L: np.float64(V * d) / gpt_params(V, n, d, L),
    lambda V, n, d, L: 1 - (n * d + L * (12 * d * d + 13 * d) + 2 * d) / gpt_params(V, n, d, L),
]
WRONG = [
    ("per cent", lambda V, n, d, L: 100 * V * d / gpt_params(V, n, d, L)),
    ("stands on its head", lambda V, n, d, L: gpt_params(V, n, d, L) / (V * d)),
    ("missing here: the position table", lambda V, n, d, L: V * d / (gpt_params(V, n, d, L) - n * d)),
    ("look    line 3", _divides_one_part),
    ("are rounded", lambda V, n, d, L: round(V * d / gpt_params(V, n, d, L), 4)),
    ("returns a text", lambda V, n, d, L: f"{V * d / gpt_params(V, n, d, L):.1%}"),
]
