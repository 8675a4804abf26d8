"""Answers to exercise 4.5: top-p."""

import math

import torch
import torch.nn.functional as F


def _top_p(probs, p):
    values, order = probs.sort(dim=-1, descending=True)
    values = values.masked_fill(values.cumsum(-1) - values >= p, 0.0)
    kept = torch.zeros_like(probs).scatter(-1, order, values)
    return kept / kept.sum(-1, keepdim=True)


def _by_shifting(probs, p):
    values, order = torch.sort(probs, descending=True)
    remove = values.cumsum(-1) >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return F.normalize(probs.masked_fill(remove.gather(-1, order.argsort(-1)), 0.0), p=1, dim=-1)


def _by_scores(probs, p):
    return torch.where(_top_p(probs, p) > 0, probs.log(), -math.inf).softmax(-1)


def _all_rows_together(probs, p):
    values, order = probs.sort(dim=-1, descending=True, stable=True)
    values = values.masked_fill(values.cumsum(-1) - values >= p, 0.0)
    kept = torch.zeros_like(probs).scatter(-1, order, values)
    return kept / kept.sum()


def _until_above(probs, p):
    values, order = probs.sort(dim=-1, descending=True, stable=True)
    needed = values.cumsum(-1) - values <= p
    kept = torch.zeros_like(probs).scatter(-1, order, values * needed)
    return kept / kept.sum(-1, keepdim=True)


RIGHT = [
    *(_top_p, _by_shifting, _by_scores),
    lambda x, p: _top_p(x.flip(-1), p).flip(-1),  # the higher of two equal ids
    lambda x, p: _top_p(x.double(), p).tolist(),
]
WRONG = [
    ("look    line 5", _all_rows_together),
    ("look    line 3", _until_above),
    ("`p` is not used", lambda x, p: F.one_hot(x.argmax(-1), x.shape[-1]).float()),
    ("became -inf", lambda x, p: _top_p(x, p).masked_fill(_top_p(x, p) == 0, -math.inf)),
    ("changes `x` in place", lambda x, p: x.mul_(_top_p(x, p) > 0)),
    ("right for the shape (3,)", lambda x, p: _top_p(x[None] if x.ndim == 1 else x[:1], p)[0]),
]
