"""Answers to exercise 6.3: attention for the newest token alone."""

import math

import torch
import torch.nn.functional as F


def _attend(q, k, v):
    return ((q @ k.mT) / math.sqrt(q.shape[-1])).softmax(-1) @ v


def _with_einsum(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkd->bhqd", F.softmax(scores, dim=3), v)


def _summed_by_hand(q, k, v):
    scores = (q * k).sum(-1, keepdim=True) / math.sqrt(k.size(-1))
    return (scores.softmax(2) * v).sum(2, keepdim=True)


def _with_the_last_row_of_a_mask(q, k, v):
    length = k.shape[2]
    mask = torch.ones(length, length, dtype=torch.bool).tril()[-1:]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _top_left(q, k, v):
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    mask = torch.tril(torch.ones(q.shape[2], k.shape[2]))
    return scores.masked_fill(mask == 0, -math.inf).softmax(-1) @ v


def _multiplied(q, k, v):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ v


def _keys_added_up(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ k


def _adds_the_query(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return q + scores.softmax(dim=-1) @ v


def _along_the_heads(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.softmax(dim=1) @ v


RIGHT = [
    F.scaled_dot_product_attention,
    _attend,
    _with_einsum,
    _summed_by_hand,
    _with_the_last_row_of_a_mask,
    lambda q, k, v: _attend(q / 2, 2 * k, v),
    lambda q, k, v: _attend(q.double(), k.double(), v.double()).tolist(),
]
WRONG = [
    ("only the first key", _top_left),
    ("look    line 2", _multiplied),
    ("`v` is not used", _keys_added_up),
    ("look    line 3", _adds_the_query),
    ("look    line 3", _along_the_heads),
    ("changes `q` in place", lambda q, k, v: _attend(q.mul_(0.5), k, v)),
    ("raised", lambda q, k, v: q @ k / math.sqrt(q.shape[-1]) @ v),
    ("NaN", lambda q, k, v: _attend(q, k, v) * torch.nan),
    ("values are not", lambda q, k, v: F.one_hot((q @ k.mT).argmax(-1), k.shape[2]).float() @ v),
]
