"""Answers to exercise 4.4: top-k."""

import math

import torch

INF = math.inf


def _top_k(logits, k):
    values, order = logits.sort(dim=-1, descending=True, stable=True)
    return torch.full_like(logits, -INF).scatter(-1, order[..., :k], values[..., :k])


def _by_rank(logits, k):
    order = torch.argsort(-logits, dim=-1, stable=True)
    return torch.where(order.argsort(-1) < k, logits, -INF)


def _usual(logits, k):
    logits = logits.clone()
    logits[logits < torch.topk(logits, min(k, logits.shape[-1])).values[..., [-1]]] = -INF
    return logits


def _one_too_many(logits, k):
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    dropped = order[..., k + 1 :]
    return logits.scatter(-1, dropped, -INF)


RIGHT = [_top_k, _by_rank, lambda x, k: _top_k(x.double(), k).numpy()]
WRONG = [
    ("a threshold cannot part equals", _usual),
    ("look    line 3", _one_too_many),
    ("changes `x` in place", lambda x, k: x.copy_(_top_k(x, k))),
    ("`k` is not used", lambda x, k: _top_k(x, 2)),
    ("became a number", lambda x, k: torch.where(_top_k(x, k) > -INF, x, -1e9)),
    ("NaN", lambda x, k: _top_k(x, k) * 0),
]
