"""Exercise 6.3: one query. answer(q (B, H, 1, d_head), k and v (B, H, S, d_head)) -> (B, H, 1, d_head)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _random(S, B=2, H=3, d_head=4, factor=1):
    generator = torch.Generator().manual_seed(S)
    q, k, v = (torch.randn(B, H, length, d_head, generator=generator) for length in (1, S, S))
    return factor * q, factor * k, v


def _cases():
    keys, values = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0]]
    small = torch.tensor([[[[2.0, 0.0]]]]), torch.tensor([[keys]]), torch.tensor([[values]])
    return [small, _random(1, B=1, H=2), _random(7), _random(5, H=2, d_head=8, factor=20)]


def _attend(q, k, v, scaled=lambda q: q.shape[-1] ** -0.5, softmax=lambda scores: scores.softmax(-1)):
    """Attention with another factor for the scores, or with something else in place of their softmax."""
    return softmax(q @ k.transpose(-2, -1) * scaled(q)) @ v  # (B, H, 1, S) @ (B, H, S, d_head)


def _but(**changes):
    return lambda q, k, v: _attend(q, k, v, **changes)


EXERCISE = Exercise(
    target="An example: if the query is [2, 0], the keys are [1, 0], [0, 1], [2, 1] and the values [1, 0], [0, 1], "
    "[4, 4], the result is about [3.26, 3.12].",
    probe=Cases(
        _cases,
        right=_attend,
        mistakes={
            "this is the value of the best key alone; the softmax weighs all values.": _but(
                softmax=lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).float()
            ),
            "the scores are divided by another number, or by none; it is the root of d_head, the shape's last.": (
                *(_but(scaled=lambda q: 1), _but(scaled=lambda q: 1 / q.shape[-1]), _but(scaled=lambda q: 1 / 8)),
            ),
            "the keys are reshaped, which deals their numbers out anew; turn them, with `.mT`.": (
                lambda q, k, v: _attend(q, k.reshape(*k.shape[:2], k.shape[3], k.shape[2]).mT, v)
            ),
            "right for small scores; with large ones the exponential overflows: `softmax` is safe.": (
                _but(softmax=lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True))
            ),
        },
    ),
    meaning="the newest token may look at every token so far, so with a cache one query needs no mask.",
    hints=(
        "The newest token comes after all the others. Is there any key that it must not see?",
        "The scores have the shape (B, H, 1, S): the query with each key, divided by the root of d_head.",
        "The softmax runs along the keys, and the weights, matrix-multiplied with v, add the values up.",
    ),
)
