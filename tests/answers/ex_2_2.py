"""Answers to exercise 2.2: the causal mask."""

import numpy as np
import torch


def _filled(n_tokens):
    mask = torch.zeros(n_tokens, n_tokens, dtype=torch.bool)
    for row in range(n_tokens):
        mask[row, : row + 1] = True
    return mask


def _minus_infinity(n_tokens):
    return torch.full((n_tokens, n_tokens), -torch.inf).triu(1)


def _looks_ahead(n_tokens):
    square = torch.ones(n_tokens, n_tokens)
    return square.tril(1).bool()


RIGHT = [
    _filled,
    lambda n_tokens: ~torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1),
    lambda n_tokens: np.tri(n_tokens, dtype=bool),
    lambda n_tokens: [[column <= row for column in range(n_tokens)] for row in range(n_tokens)],
    lambda n_tokens: _minus_infinity(n_tokens) == 0,
]
WRONG = [
    ("as numbers", lambda n_tokens: np.tri(n_tokens, dtype=int)),
    ("to add to the scores", _minus_infinity),
    ("to add to the scores", lambda n_tokens: -1e9 * (1 - torch.ones(n_tokens, n_tokens).tril())),
    ("one place too late", lambda n_tokens: torch.arange(n_tokens)[:, None] > torch.arange(n_tokens)),
    ("look    line 3", _looks_ahead),
    ("in the shape (1, 1, 3, 3)", lambda n_tokens: _filled(n_tokens)[None, None]),
    ("infinity", lambda n_tokens: torch.ones(n_tokens, n_tokens).tril().log() + 1),
    ("raised", lambda n_tokens: torch.tril(n_tokens)),
]
