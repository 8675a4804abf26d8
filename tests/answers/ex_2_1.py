"""Answers to exercise 2.1: tokens and positions."""

import torch
import torch.nn.functional as F


def _in_place_sum(ids, wte, wpe):
    x = wte[ids]
    x += wpe[: ids.shape[1]]
    return x


def _multiplies(ids, wte, wpe):
    tokens = wte[ids]
    return tokens * wpe[: ids.shape[1]]


def _counts_sequences(ids, wte, wpe):
    n_tokens = ids.shape[0]
    return wte[ids] + wpe[:n_tokens]


def _drops_the_sum(ids, wte, wpe):
    x = wte[ids]
    x + wpe[: ids.shape[1]]
    return x


RIGHT = [
    _in_place_sum,
    lambda ids, wte, wpe: F.one_hot(ids, len(wte)).double() @ wte.double() + wpe[None, : ids.shape[-1]],
    lambda ids, wte, wpe: wte.numpy()[ids.numpy()] + wpe.numpy()[: ids.shape[1]],
    lambda ids, wte, wpe: [[(wte[token] + wpe[t]).tolist() for t, token in enumerate(row)] for row in ids],
]
WRONG = [
    ("`wpe` is not used", lambda ids, wte, wpe: wte[ids] + torch.arange(ids.shape[1])[:, None]),
    ("computed and dropped", _drops_the_sum),
    ("look    line 3", _multiplies),
    ("look    line 2", _counts_sequences),
    ("`wte` in place", lambda ids, wte, wpe: wte.add_(1)[ids] + wpe[: ids.shape[1]]),
    ("NaN", lambda ids, wte, wpe: (wte[ids] + wpe[: ids.shape[1]]) * torch.nan),
    ("raised", lambda ids, wte, wpe: wte(ids) + wpe(torch.arange(ids.shape[1]))),
]
