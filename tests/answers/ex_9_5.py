"""Answers to exercise 9.5: query heads that share keys and values."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def _attend(q, k, v):
    T = q.shape[-2]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.masked_fill(torch.ones(T, T).tril() == 0, float("-inf")).softmax(dim=-1) @ v


def _shared(q, k, v):
    group = q.shape[1] // k.shape[1]
    return _attend(q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1))


def _by_groups(q, k, v):
    q = q.unflatten(1, (k.shape[1], -1))
    return _attend(q, k[:, :, None], v[:, :, None]).flatten(1, 2)


def _head_by_head(q, k, v):
    H, G = q.shape[1], k.shape[1]
    heads = [_attend(q[:, h], k[:, h * G // H], v[:, h * G // H]) for h in range(H)]
    return np.stack([head.double().numpy() for head in heads], axis=1)


def _viewed(q, k, v):
    group = q.shape[1] // k.shape[1]
    return _attend(q, *(part.repeat(1, 1, group, 1).view(q.shape) for part in (k, v)))


def _tiled(q, k, v):
    G = k.shape[1]
    return torch.stack([_attend(q[:, h], k[:, h % G], v[:, h % G]) for h in range(q.shape[1])], 1)


def _as_many_as_groups(q, k, v):
    group = k.shape[1]
    return _attend(q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1))


def _along_the_tokens(q, k, v):
    group = q.shape[1] // k.shape[1]
    return _attend(q, k.repeat_interleave(group, dim=2), v.repeat_interleave(group, dim=1))


RIGHT = [
    _shared,
    _by_groups,
    _viewed,
    _head_by_head,
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).tolist(),
]
WRONG = [
    ("dealt out in turn", _tiled),
    ("equally many heads", lambda q, k, v: _attend(q, k, v)),
    ("no mask", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)),
    ("or by nothing", lambda q, k, v: _shared(q * q.shape[-1] ** 0.5, k, v)),
    ("something else", lambda q, k, v: _shared(q / q.shape[-1] ** 0.5, k, v)),
    ("asks one key-value head", lambda q, k, v: _attend(q, k[:, [0]], v[:, [0]])),
    ("asks the wrong group", _as_many_as_groups),
    ("look    line 3", _along_the_tokens),
    ("`v` is not used", lambda q, k, v: _shared(q, k, k)),
]
