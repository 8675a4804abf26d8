"""Answers to exercise 9.6: the count of a Llama."""

import numpy as np
import torch

from utils.llama import LlamaConfig


def _count(V, d, L, H, G, d_ff, tied, norms=2, final=1):
    attention = 2 * d * d + 2 * d * (d // H * G)
    block = attention + 3 * d * d_ff + norms * d
    return (V if tied else 2 * V) * d + L * block + final * d


def _from_a_model_without_memory(V, d, L, H, G, d_ff, tied):
    with torch.device("meta"):
        model = LlamaConfig(V, 1, d, L, H, G, d_ff, tied).build()
    return sum(parameter.numel() for parameter in model.parameters())


def _adds_the_heads(V, d, L, H, G, d_ff, tied):
    attention = 2 * d * d + 2 * d * (d // H + G)
    return (V if tied else 2 * V) * d + L * (attention + 3 * d * d_ff + 2 * d) + d


RIGHT = [
    _count,
    _from_a_model_without_memory,
    lambda *sizes: np.int64(_count(*sizes)),
    lambda *sizes: torch.tensor(float(_count(*sizes)), dtype=torch.float64),
]
WRONG = [
    ("as wide as the queries", lambda V, d, L, H, G, d_ff, tied: _count(V, d, L, 1, 1, d_ff, tied)),
    ("missing here: `gate_proj`", lambda V, d, L, H, G, d_ff, tied: _count(V, d, L, H, G, d_ff, tied) - L * d_ff * d),
    ("`ln_1`, or `ln_2`", lambda *sizes: _count(*sizes, norms=1)),
    ("missing here: the final norm", lambda *sizes: _count(*sizes, final=0)),
    ("missing here: the table of an untied head", lambda V, d, L, H, G, f, t: _count(V, d, L, H, G, f, True)),
    ("a scale and no shift", lambda *sizes: _count(*sizes, norms=4, final=2)),
    ("these are millions", lambda *sizes: _count(*sizes) / 1e6),
    ("look    line 2", _adds_the_heads),
]
