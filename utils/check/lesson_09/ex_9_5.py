"""Exercise 9.5: shared keys and values. answer(q (B, H, T, d_head), k and v (B, G, T, d_head)) -> as q."""

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.ex_2_2 import causal_mask
from utils.check.lesson_02.parts import normal


def _cases():
    v = torch.tensor([[1.0, 3.0], [10.0, 30.0]]).view(1, 2, 2, 1)
    sizes = (1, 4, 2, 3, 4), (2, 3, 1, 4, 2), (1, 2, 2, 3, 4), (2, 6, 3, 4, 2), (2, 6, 2, 5, 3), (1, 4, 2, 1, 2)
    return [(torch.zeros(1, 4, 2, 1), torch.zeros(1, 2, 2, 1), v), *(_random(*size) for size in sizes)]


def _random(B, H, G, T, d_head):
    return tuple(2 * normal(B, heads, T, d_head, seed=seed) for seed, heads in enumerate((H, G, G), 1))


def _groups(x, H):
    return x.repeat_interleave(H // x.shape[1], 1)


def _tiled(x, H):
    return x.repeat(1, H // x.shape[1], 1, 1)


def _weights(scores):
    return scores.masked_fill(~causal_mask(scores.shape[-1]), -torch.inf).softmax(-1)


def _attend(q, k, v, keys=_groups, values=_groups, scale=lambda q: q.shape[-1] ** -0.5, weights=_weights):
    H = q.shape[1]
    return weights(q @ keys(k, H).mT * scale(q)) @ values(v, H)


def _with(**changes):
    return lambda *case: _attend(*case, **changes)


def _shared_by(share):
    """The function with keys and values, both or one of them, given to the query heads in another way."""
    return _with(keys=share, values=share), _with(keys=share), _with(values=share)


def _mean_of_each_group(q, G):
    return q.unflatten(1, (G, -1)).mean(2)


_MISTAKES = {
    "keys, values or both are dealt out in turn, 0, 1, 0, 1; a group is of neighbours, 0, 0, 1, 1.": _shared_by(_tiled),
    "a query head asks the wrong group; the first H / G of them share key-value head 0, the next ones head 1.": (
        *_shared_by(lambda x, H: _groups(x.flip(1), H)),
        *_shared_by(lambda x, H: x.repeat_interleave(x.shape[1], 1)),
    ),
    "every query head asks one key-value head; each group has its own.": (
        *_shared_by(lambda x, H: x[:, :1]),
        *_shared_by(lambda x, H: x[:, -1:]),
        *_shared_by(lambda x, H: x.mean(1, keepdim=True)),
    ),
    "this works for equally many heads, or a single one that all share; in between, H query heads meet G others: "
    "which of them belong together?": (*_shared_by(lambda x, H: x), _with(keys=lambda x, H: x.repeat(1, H, 1, 1))),
    "the queries of a group are averaged; each query head asks for itself, only keys and values are shared.": (
        lambda q, k, v: _attend(_mean_of_each_group(q, k.shape[1]), k, v),
        lambda q, k, v: _attend(_groups(_mean_of_each_group(q, k.shape[1]), q.shape[1]), k, v),
    ),
    "there is no mask: a token sees those after it.": _with(weights=lambda scores: scores.softmax(-1)),
    "the mask comes after the softmax, so the weights of a row no longer sum to 1; mask the scores.": (
        _with(weights=lambda scores: scores.softmax(-1).tril())
    ),
    "forbidden scores are set to 0, and the softmax still gives those tokens weight; minus infinity gives none.": (
        _with(weights=lambda scores: scores.tril().softmax(-1))
    ),
    "the scores are divided by something else than the root of the head's width, d_head, or by nothing.": (
        *(_with(scale=lambda q: 1), _with(scale=lambda q: 1 / q.shape[-1])),
        *(_with(scale=lambda q, dim=dim: q.shape[dim] ** -0.5) for dim in (1, 2)),
        _with(scale=lambda q: (q.shape[1] * q.shape[-1]) ** -0.5),
    ),
}

EXERCISE = Exercise(
    target="An example: with all zeros in q and k, four query heads and v = [1, 3] in head 0, [10, 30] in head 1, the "
    "heads give [1, 2], [1, 2], [10, 20], [10, 20].",
    probe=Cases(_cases, right=_attend, mistakes=_MISTAKES),
    meaning="several heads ask different questions of one set of keys, and the cache holds that set once.",
    hints=(
        "How many query heads share one key-value head? The shapes of q and k say it.",
        "Make k and v as wide in heads as q is: each head as often as it is needed, its copies side by side.",
        "What is left is exercise 2.3: scores, scale, mask, softmax, mix. It works for all heads at once.",
    ),
)
