"""Exercise 6.3: one query. answer(q (B, H, 1, d_head), k and v (B, H, S, d_head)) -> (B, H, 1, d_head)."""

import math

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _random(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _cases():
    return [
        (
            torch.tensor([[[[2.0, 0.0]]]]),
            torch.tensor([[[[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]]]),
            torch.tensor([[[[1.0, 0.0], [0.0, 1.0], [4.0, 4.0]]]]),
        ),
        (_random(1, 2, 1, 4, seed=1), _random(1, 2, 1, 4, seed=2), _random(1, 2, 1, 4, seed=3)),
        (_random(2, 3, 1, 4, seed=4), _random(2, 3, 7, 4, seed=5), _random(2, 3, 7, 4, seed=6)),
        (20 * _random(2, 2, 1, 8, seed=7), 20 * _random(2, 2, 5, 8, seed=8), _random(2, 2, 5, 8, seed=9)),
    ]


def _scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, 1, S)


def _attend(q, k, v):
    return _scores(q, k).softmax(-1) @ v  # (B, H, 1, d_head)


def _scaled(by):
    """Attention with other scores, by(q, k) times the plain dot products."""
    return lambda q, k, v: (q @ k.transpose(-2, -1) * by(q, k)).softmax(-1) @ v


def _naive(q, k, v):
    weights = _scores(q, k).exp()
    return weights / weights.sum(-1, keepdim=True) @ v


def _masked(hidden):
    """Attention with some keys hidden, where hidden(S) is True."""
    return lambda q, k, v: _scores(q, k).masked_fill(hidden(k.shape[2]), -math.inf).softmax(-1) @ v


EXERCISE = Exercise(
    target="An example: if the query is [2, 0], the keys are [1, 0], [0, 1], [2, 1] and the values [1, 0], [0, 1], "
    "[4, 4], the result is about [3.26, 3.12].",
    probe=Cases(
        _cases,
        right=_attend,
        mistakes={
            "only the first key is seen: a causal mask lines up with the first token, and this query is the last.": (
                lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
            ),
            "the mask is for a query at every token, and there is one query, the last.": (
                _masked(lambda S: torch.ones(S, S).tril() == 0)
            ),
            "the newest token does not see itself; its own key and value count too.": (
                _masked(lambda S: torch.arange(S) == S - 1),
                lambda q, k, v: _attend(q, k[:, :, :-1], v[:, :, :-1]),
            ),
            "the scores are not scaled: divide them by the root of d_head.": _scaled(lambda q, k: 1),
            "the scores are divided by d_head; it is its root.": _scaled(lambda q, k: 1 / q.shape[-1]),
            "the scores are divided by another root; it is that of d_head, the last number of the shape.": (
                _scaled(lambda q, k: k.shape[2] ** -0.5),
                _scaled(lambda q, k: (q.shape[1] * q.shape[-1]) ** -0.5),
                _scaled(lambda q, k: q.shape[1] ** -0.5),
                _scaled(lambda q, k: q.shape[0] ** -0.5),
                _scaled(lambda q, k: 1 / 8),
            ),
            "the weights are divided by the root of d_head after the softmax; divide the scores, before it.": (
                lambda q, k, v: (q @ k.transpose(-2, -1)).softmax(-1) / math.sqrt(q.shape[-1]) @ v
            ),
            "the softmax runs along the one query, so each weight is 1; it runs along the keys.": (
                lambda q, k, v: _scores(q, k).softmax(-2) @ v
            ),
            "these are the weights; what is wanted is the values, added up with them.": (
                lambda q, k, v: _scores(q, k).softmax(-1)
            ),
            "the one query's dimension is gone; the shape is (B, H, 1, d_head).": (
                lambda q, k, v: _attend(q, k, v)[:, :, 0],
                lambda q, k, v: _attend(q, k, v).squeeze(),
            ),
            "the heads are joined here; the shape is (B, H, 1, d_head), and they are joined later.": (
                lambda q, k, v: _attend(q, k, v).transpose(1, 2).flatten(2)
            ),
            "right for small scores; with large ones the exponential overflows: `softmax` is safe.": _naive,
        },
    ),
    meaning="the newest token may look at every token so far, so with a cache one query needs no mask.",
    hints=(
        "The newest token comes after all the others. Is there any key that it must not see?",
        "The scores have the shape (B, H, 1, S): the query with each key, divided by the root of d_head.",
        "The softmax runs along the keys, and the weights, matrix-multiplied with v, add the values up.",
    ),
)
