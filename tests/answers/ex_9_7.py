"""Answers to exercise 9.7: the cache of a Llama."""

import numpy as np
import torch


def _bytes(n_layer, n_embd, n_head, n_kv_head, n_tokens, bytes_per_number):
    width = n_embd // n_head * n_kv_head
    return 2 * n_layer * width * n_tokens * bytes_per_number


def _of_the_tensors(n_layer, n_embd, n_head, n_kv_head, n_tokens, bytes_per_number):
    kept = torch.empty(2, n_layer, n_kv_head, n_tokens, n_embd // n_head, device="meta")
    return kept.numel() * bytes_per_number


def _divides_at_the_end(L, d, H, G, n, b):
    return 2 * L * d * G * n * b / H


def _divides_wrongly(L, d, H, G, n, b):
    width = d // H // G
    return 2 * L * width * n * b


RIGHT = [
    _bytes,
    _of_the_tensors,
    _divides_at_the_end,
    lambda L, d, H, G, n, b: np.prod([2, L, d // H, G, n, b]),
    lambda *sizes: torch.tensor(_bytes(*sizes)),
]
WRONG = [
    ("for every query head", lambda L, d, H, G, n, b: 2 * L * H * (d // H) * n * b),
    ("`H` is not used", lambda L, d, H, G, n, b: 2 * L * G * d * n * b),
    ("missing here: the two", lambda *sizes: _bytes(*sizes) // 2),
    ("missing here: the layers", lambda L, *sizes: _bytes(1, *sizes)),
    ("missing here: the bytes", lambda *sizes: _bytes(*sizes[:5], 1)),
    ("these are bits", lambda *sizes: 8 * _bytes(*sizes)),
    ("stands on its head", lambda L, d, H, G, n, b: 2 * L * d * n * b * (H / G)),
    ("look    line 2", _divides_wrongly),
]
