"""Answers to exercise 2.1: tokens and positions."""

import torch
import torch.nn.functional as F
from torch import nn


def _with_loops(ids, wte, wpe):
    x = torch.zeros(*ids.shape, wte.shape[1])
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            x[b, t] = wte[ids[b, t]] + wpe[t]
    return x


def _with_layers(ids, wte, wpe):
    tokens, positions = nn.Embedding.from_pretrained(wte), nn.Embedding(*wpe.shape)
    positions.weight = nn.Parameter(wpe)
    return tokens(ids) + positions(torch.arange(ids.size(1)))


def _in_place_sum(ids, wte, wpe):
    x = wte[ids]
    x += wpe[: ids.shape[1]]
    return x


def _spoils_wte(ids, wte, wpe):
    wte += 1
    return wte[ids] + wpe[: ids.shape[1]]


def _multiplies(ids, wte, wpe):
    tokens = wte[ids]
    positions = wpe[: ids.shape[1]]
    return tokens * positions


def _counts_sequences(ids, wte, wpe):
    n_tokens = ids.shape[0]
    return wte[ids] + wpe[:n_tokens]


def _drops_the_sum(ids, wte, wpe):
    x = wte[ids]
    x + wpe[: ids.shape[1]]
    return x


RIGHT = [
    _with_loops,
    _with_layers,
    _in_place_sum,
    lambda ids, wte, wpe: F.embedding(ids, wte) + wpe[None, : ids.shape[1]],
    lambda ids, wte, wpe: F.one_hot(ids, len(wte)).float() @ wte + wpe[: ids.shape[-1]],
    lambda ids, wte, wpe: wte.double()[ids] + wpe.double()[: ids.shape[1]],
    lambda ids, wte, wpe: wte.numpy()[ids.numpy()] + wpe.numpy()[: ids.shape[1]],
    lambda ids, wte, wpe: [[(wte[token] + wpe[t]).tolist() for t, token in enumerate(row)] for row in ids],
]
WRONG = [
    ("`wpe` is not used", lambda ids, wte, wpe: wte[ids]),
    ("`wte` is not used", lambda ids, wte, wpe: wpe[torch.arange(ids.shape[1])].repeat(len(ids), 1, 1)),
    ("computed and dropped", _drops_the_sum),
    ("look    line 4", _multiplies),
    ("look    line 2", _counts_sequences),
    ("`wte` in place", _spoils_wte),
    ("NaN", lambda ids, wte, wpe: (wte[ids] + wpe[: ids.shape[1]]) * torch.nan),
    ("raised", lambda ids, wte, wpe: wte(ids) + wpe(torch.arange(ids.shape[1]))),
]
