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


def _by_counting(logits, k):
    ids = torch.arange(logits.shape[-1])
    higher = logits[..., None, :] > logits[..., :, None]
    equal = (logits[..., None, :] == logits[..., :, None]) & (ids[None, :] < ids[:, None])
    return logits.masked_fill((higher | equal).sum(-1) >= k, -INF)


def _row_after_row(logits, k):
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    kept = [sorted(range(len(row)), key=lambda i, row=row: (-row[i], i))[:k] for row in rows]
    whole = [[x if i in keep else -INF for i, x in enumerate(row)] for row, keep in zip(rows, kept, strict=True)]
    return torch.tensor(whole).view(logits.shape)


def _usual(logits, k):
    logits = logits.clone()
    logits[logits < torch.topk(logits, k).values[..., [-1]]] = -INF
    return logits


def _gathered_mask(logits, k):
    order = logits.sort(descending=True, stable=True).indices
    dropped = torch.zeros_like(logits, dtype=torch.bool)
    dropped[..., k:] = True
    return logits.masked_fill(dropped.gather(-1, order), -INF)


def _drops_the_highest(logits, k):
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    return logits.scatter(-1, order[..., :k], -INF)


def _one_too_many(logits, k):
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    dropped = order[..., k + 1 :]
    return logits.scatter(-1, dropped, -INF)


def _lowest_stay(logits, k):
    order = logits.sort(dim=-1, descending=False, stable=True).indices
    return logits.scatter(-1, order[..., k:], -INF)


def _in_place(logits, k):
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    return logits.scatter_(-1, order[..., k:], -INF)


RIGHT = [_top_k, _by_rank, _by_counting, _row_after_row, lambda x, k: _top_k(x.double(), k).numpy()]
WRONG = [
    ("a threshold cannot part equals", _usual),
    ("read backwards", _gathered_mask),
    ("look    line 3", _drops_the_highest),
    ("look    line 3", _one_too_many),
    ("look    line 2", _lowest_stay),
    ("changes `logits` in place", _in_place),
    ("`k` is not used", lambda x, k: _top_k(x, 2)),
    ("became 0", lambda x, k: torch.where(_top_k(x, k) > -INF, x, 0.0)),
    ("NaN", lambda x, k: _top_k(x, k) * 0),
]
