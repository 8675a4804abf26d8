"""Answers to exercise 2.3: the attention of one head."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def _scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def _masked(scores):
    return scores.masked_fill(torch.tril(torch.ones_like(scores)) == 0, float("-inf"))


def _attend(q, k, v):
    return F.softmax(_masked(_scores(q, k)), dim=-1) @ v


def _renormalised(q, k, v):
    weights = torch.tril(_scores(q, k).softmax(-1))
    return weights / weights.sum(-1, keepdim=True) @ v


def _in_numpy(q, k, v):
    q, k, v = (part.double().numpy() for part in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.tril(np.exp(scores - scores.max(-1, keepdims=True)))
    return weights / weights.sum(-1, keepdims=True) @ v


def _root_of_the_tokens(q, k, v):
    n_tokens = q.shape[-2]
    scores = q @ k.transpose(-2, -1) / n_tokens**0.5
    return _masked(scores).softmax(-1) @ v


def _without_the_maximum(q, k, v):
    exponentials = _scores(q, k).exp().tril()
    return exponentials / exponentials.sum(-1, keepdim=True) @ v


def _down_the_columns(q, k, v):
    scores = _masked(_scores(q, k))
    return scores.softmax(-2) @ v


RIGHT = [
    _attend,
    _renormalised,
    _in_numpy,
    lambda q, k, v: _masked(q / q.shape[-1] ** 0.25 @ (k / k.shape[-1] ** 0.25).mT).softmax(-1) @ v,
    lambda q, k, v: (_scores(q, k) + torch.full((q.shape[-2],) * 2, -1e9).triu(1)).softmax(-1) @ v,
    lambda q, k, v: _attend(q, k, v).requires_grad_(),
]
WRONG = [
    ("than the root of the head", lambda q, k, v: _masked(q @ k.mT / q.shape[-1]).softmax(-1) @ v),
    ("asks for it without", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
    ("`.T` turns all", lambda q, k, v: _masked(q @ k.T / q.shape[-1] ** 0.5).softmax(-1) @ v),
    (
        "minus infinity times 0",
        lambda q, k, v: ((s := _scores(q, k)) - torch.ones_like(s).triu(1) * torch.inf).softmax(-1) @ v,
    ),
    ("some hundreds", _without_the_maximum),
    ("than the root of the head", _root_of_the_tokens),
    ("look    line 3", _down_the_columns),
    ("`q` in place", lambda q, k, v: _attend(q.div_(2), k, v)),
    ("`q` and `k` are not used", lambda q, k, v: v.cumsum(-2) / torch.arange(1, v.shape[-2] + 1)[:, None]),
]
