"""Exercise 2.3: causal attention of one head. answer(q, k, v), each (..., T, d_head) -> (..., T, d_head)."""

import torch

from utils.check.cases import Cases, InTurn
from utils.check.compare import differs
from utils.check.engine import Exercise
from utils.check.lesson_02.ex_2_2 import causal_mask
from utils.check.lesson_02.parts import normal


def _random(*shape):
    return tuple(normal(*shape, seed=seed) for seed in (1, 2, 3))


def _one_head():
    q = torch.tensor([[1.0, 0, 1, 0], [2, 2, 0, 0]])
    k = torch.tensor([[1.0, 0, 0, 0], [0, 2, 0, 1]])
    v = torch.tensor([[1.0, 0, 0, 5], [0, 1, 0, 5]])
    return [(q, k, v), _random(3, 3), tuple(2 * part for part in _random(5, 4))]


def _large_scores():
    """Scores of about -200 in the first row and 200 in the other, small differences between them."""
    q, k, v = _random(2, 4)
    q[:, 0], k[:, 0] = torch.tensor([-20, 20]), 20
    return [(q, k, v)]


def _all_shapes():
    shapes = (3, 3), (1, 2, 2), (2, 5, 4), (3, 3, 3), (1, 2, 2, 2), (2, 3, 5, 4), (3, 3, 3, 3), (1, 1, 1, 3)
    return [_random(*shape) for shape in shapes]


def _scores(q, k, scale=lambda d: d**-0.5):
    return q @ k.mT * scale(q.shape[-1])


def _attend(q, k, v, scale=lambda d: d**-0.5, fill=-torch.inf):
    return _scores(q, k, scale).masked_fill(~causal_mask(q.shape[-2]), fill).softmax(-1) @ v


def _by(scale):
    return lambda q, k, v: _attend(q, k, v, scale)


_MISTAKES = {
    "the scores are not divided by the root of the head's width.": _by(lambda d: 1),
    "the scores are divided by another number than the root of the head's width, the last size of q.": (
        *(_by(lambda d, by=by: 1 / by(d)) for by in (lambda d: d, lambda d: 4, lambda d: 8)),
        lambda q, k, v: _attend(q * (q.shape[-1] / q.shape[-2]) ** 0.5, k, v),
    ),
    "the mask has one size, 5 by 5; make it as large as the scores are.": (
        lambda q, k, v: _scores(q, k).masked_fill(~causal_mask(5), -torch.inf).softmax(-1) @ v
    ),
    "the weights are divided by the root, after the softmax; divide the scores, before it.": (
        lambda q, k, v: _attend(q, k, v, lambda d: 1) / q.shape[-1] ** 0.5
    ),
    "there is no mask: every word sees the words after it.": (
        lambda q, k, v: _scores(q, k).softmax(-1) @ v,
        lambda q, k, v: (q @ k.mT).softmax(-1) @ v,
    ),
    "the mask comes after the softmax, so the weights of a row no longer sum to 1; mask the scores.": (
        lambda q, k, v: _scores(q, k).softmax(-1).tril() @ v
    ),
    "forbidden scores are set to 0, and the softmax still gives those words weight; which score gives none?": (
        lambda q, k, v: _attend(q, k, v, fill=0.0)
    ),
    "every number is NaN, as minus infinity times 0 is; put it where looking is forbidden, with `masked_fill`.": (
        lambda q, k, v: v * torch.nan
    ),
}

EXERCISE = Exercise(
    target="An example: with all zeros in q and k, v = [[1, 0], [0, 1]] gives [[1, 0], [0.5, 0.5]].",
    probe=InTurn(
        Cases(_one_head, right=_attend, mistakes=_MISTAKES),
        Cases(
            _large_scores,
            right=_attend,
            signs={
                "right for small scores; for those of some hundreds, take each row's largest off before `exp`.": (
                    lambda result, want: "NaN" in (differs(result, want) or "")
                )
            },
        ),
        Cases(_all_shapes, right=_attend),
    ),
    meaning="each word takes a weighted mean of the values before it, and its query and the keys set the weights.",
    hints=(
        "There are five steps: scores, scale, mask, softmax, mix. Print the shape after each.",
        "The scores are every query times every key, (..., T, T); turn only the last two dimensions of k, with `.mT`.",
        "Before the softmax, `masked_fill` puts minus infinity where exercise 2.2's mask has False.",
    ),
    without=("scaled_dot_product_attention",),
)
