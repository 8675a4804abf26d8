"""Exercise 9.1: RMSNorm. answer(x (..., d), weight (d,), eps) -> (..., d)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    small = torch.tensor([1.0, 7.0]), torch.tensor([1.0, 10.0]), 0.0
    shapes = ((3,), 0.5), ((4, 4), 1e-5), ((1, 1, 4), 1e-5), ((2, 5, 3), 1e-5), ((3, 3, 3), 1e-5)
    usual = [(normal(*shape, seed=1) + 0.5, normal(shape[-1], seed=2), eps) for shape, eps in shapes]
    tiny = torch.tensor([[2e-3, -3e-3, 1e-3], [0, 0, 0]]), normal(3, seed=3), 1e-5
    return [small, *usual, tiny, (normal(2, 4, seed=4), normal(4, seed=5), 0.5)]


def _mean_square(x, dim=-1):
    return x.square().mean(dim, keepdim=True)


def _rms_norm(x, weight, eps, square=_mean_square):
    return x / (square(x) + eps).sqrt() * weight


def _by(*squares):
    """The norm with another number in place of the mean square, one function for each."""
    return tuple(lambda *case, square=square: _rms_norm(*case, square=square) for square in squares)


def _divided(by):
    return lambda x, weight, eps: x / by(x, eps) * weight


def _centred(x):
    return x - x.mean(-1, keepdim=True)


def _std(x, correction):
    return x.std(-1, keepdim=True, correction=correction)


_MISTAKES = {
    "the mean is subtracted, as in a layer norm; RMSNorm leaves it in.": (
        lambda x, weight, eps: F.layer_norm(x, weight.shape, weight, None, eps),
        *(lambda x, weight, eps, n=n: _centred(x) / (_std(x, n) + eps) * weight for n in (0, 1)),
        lambda x, weight, eps: _rms_norm(_centred(x), weight, eps, lambda x: _std(x, 1) ** 2),
        lambda x, weight, eps: _centred(x) / (_mean_square(x) + eps).sqrt() * weight,
    ),
    "x is divided by its standard deviation, which subtracts the mean; take the squares of x as it is.": (
        *_by(lambda x: _std(x, 0) ** 2, lambda x: _std(x, 1) ** 2),
        *(_divided(lambda x, eps, n=n: _std(x, n) + eps) for n in (0, 1)),
    ),
    "x is divided by its length, the root of the sum; the root of the *mean* is wanted.": (
        *_by(lambda x: x.square().sum(-1, keepdim=True)),
        _divided(lambda x, eps: x.norm(dim=-1, keepdim=True) + eps),
        _divided(lambda x, eps: x.norm(dim=-1, keepdim=True) / x.shape[-1] + eps),
        lambda x, weight, eps: F.normalize(x, dim=-1, eps=eps) * weight,
    ),
    "`eps` is added to the root; it belongs under it, where it counts for small vectors.": (
        *(_divided(lambda x, eps: _mean_square(x).sqrt() + eps), lambda x, w, eps: _rms_norm(x, w, 0.0) + eps),
    ),
    "the mean runs over several vectors; each has a root mean square of its own, over its last dimension.": _by(
        *(lambda x: x.square().mean(), lambda x: _mean_square(x, 0), lambda x: _mean_square(x, (0, -1))),
        lambda x: _mean_square(x, -2 if x.ndim > 1 else -1),
    ),
    "the mean is taken of x itself; square each number first, then take the mean.": (
        *_by(lambda x: x.mean(-1, keepdim=True).square(), lambda x: x.mean(-1, keepdim=True)),
        _divided(lambda x, eps: x.mean(-1, keepdim=True) + eps),
    ),
    "the weight is in x before its root mean square is taken; it comes after the division.": (
        lambda x, weight, eps: _rms_norm(x * weight, torch.ones_like(weight), eps)
    ),
}

EXERCISE = Exercise(
    target="An example: x = [1, 7], weight = [1, 10] and eps = 0 give [0.2, 14].",
    probe=Cases(_cases, right=_rms_norm, mistakes=_MISTAKES),
    meaning="what a layer norm does to the length of a vector is enough; its mean can stay where it is.",
    hints=(
        "Read the name backwards: square each number, take the mean, then the root. Divide x by that.",
        "The mean runs over the last dimension, and keeps it, so that each vector is divided by its own number.",
        "`eps` is added to the mean of the squares, before the root. The weight multiplies the result.",
    ),
)
