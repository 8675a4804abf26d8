"""Exercises 2.2 and 2.3: the causal mask, and the attention of one head."""

import math

import numpy as np
import torch

from utils.check.compare import as_array, same
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, judge
from utils.check.lesson_02.parts import normal

INFINITY = float("inf")


def _mask_cases():
    return [(3,), (1,), (5,)]


def _mask(n_tokens):
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril()


def _is_to_be_added(result, want):
    """Is this a mask of zeros and large negative numbers, to be added to the scores?"""
    given = as_array(result)
    if given is None or given.dtype.kind != "f" or given.shape != want.shape or np.isnan(given).any():
        return False
    return bool((given < -100).any() and ((given == 0) | (given < -100)).all())


MASK = Exercise(
    number="2.2",
    target="An example: 2 tokens give [[True, False], [True, True]].",
    probe=by_cases(
        _mask_cases,
        right=_mask,
        signs=(
            (
                "this is a mask to add to the scores, of 0 and large negative numbers; True and False are wanted.",
                _is_to_be_added,
            ),
            (
                "the ones stand well, but as numbers; True and False are wanted: compare, or use `dtype=torch.bool`.",
                lambda result, want: same(result, want) and as_array(result).dtype.kind != "b",
            ),
        ),
        mistakes=(
            (
                "rows and columns are swapped: a row is the word that looks, a column the word looked at.",
                lambda n_tokens: _mask(n_tokens).T,
            ),
            (
                "no word may look at itself here, and the first one at nothing; the diagonal belongs to the mask.",
                lambda n_tokens: _mask(n_tokens).tril(-1),
            ),
            (
                "True stands where looking is forbidden, as some libraries have it; here True means allowed.",
                lambda n_tokens: ~_mask(n_tokens),
            ),
            (
                "every word may look at every word, those after it too; where is the future shut out?",
                lambda n_tokens: torch.ones(n_tokens, n_tokens),
            ),
            (
                "every word may look one word ahead; the last one allowed is the word itself.",
                lambda n_tokens: torch.ones(n_tokens, n_tokens).tril(1),
            ),
            (
                "every word sees itself alone; those before it are allowed too.",
                lambda n_tokens: torch.eye(n_tokens),
            ),
            (
                "every word sees itself and the one before it; all the earlier ones are allowed.",
                lambda n_tokens: _mask(n_tokens).triu(-1),
            ),
            (
                "no word may look at anything: where are the places that are allowed?",
                lambda n_tokens: torch.zeros(n_tokens, n_tokens),
            ),
            (
                "the triangle leans to the other side: column 0 is the first word, and every word may look at it.",
                lambda n_tokens: _mask(n_tokens).flip(1),
            ),
            (
                "these are the numbers of the allowed words; a row of True and False for each word is wanted.",
                lambda n_tokens: torch.arange(n_tokens) * _mask(n_tokens),
            ),
            (
                "this counts how many words each may look at; a row of True and False for each word is wanted.",
                lambda n_tokens: _mask(n_tokens).sum(1),
            ),
        ),
    ),
    meaning="a triangle of True is all that keeps a GPT from reading the words that it is to predict.",
    hints=(
        "Start with a square: one row for each word that looks, one column for each word that it may look at.",
        "In row t the columns from 0 to t are True. What shape do the True places make together?",
        "Comparing a column of row numbers with a row of column numbers gives it; so does keeping a triangle of ones.",
    ),
)


def _one_head_cases():
    q = torch.tensor([[1.0, 0, 1, 0], [2, 2, 0, 0]])
    k = torch.tensor([[1.0, 0, 0, 0], [0, 2, 0, 1]])
    v = torch.tensor([[1.0, 0, 0, 5], [0, 1, 0, 5]])
    return [
        (q, k, v),
        tuple(normal(3, 3, seed=seed) for seed in (1, 2, 3)),
        tuple(2 * normal(6, 4, seed=seed) for seed in (4, 5, 6)),
    ]


def _many_head_cases():
    return [
        tuple(normal(1, 2, 2, 2, seed=seed) for seed in (1, 2, 3)),
        tuple(normal(2, 3, 5, 4, seed=seed) for seed in (4, 5, 6)),
        tuple(normal(3, 3, 3, 3, seed=seed) for seed in (7, 8, 9)),
    ]


def _scores(q, k, scale=None):
    return q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale(*q.shape[-2:]))


def _seen(scores, mask=None, fill=-INFINITY):
    return scores.masked_fill(~(_mask(scores.shape[-1]) if mask is None else mask(scores.shape[-1])), fill)


def _attend(q, k, v, scale=None, mask=None, fill=-INFINITY, dim=-1):
    return _seen(_scores(q, k, scale), mask, fill).softmax(dim) @ v


def _masked_late(q, k, v):
    return _seen(_scores(q, k).softmax(-1), fill=0.0) @ v


_ATTENTION_MISTAKES = (
    (
        "the scores are not divided by the root of the head's width.",
        lambda q, k, v: _attend(q, k, v, scale=lambda T, d_head: 1),
    ),
    (
        "the scores are divided by the head's width; its root is wanted.",
        lambda q, k, v: _attend(q, k, v, scale=lambda T, d_head: 1 / d_head),
    ),
    (
        "the scores are divided by the root of the number of tokens; the head's width is the last place of the shape.",
        lambda q, k, v: _attend(q, k, v, scale=lambda T, d_head: T**-0.5),
    ),
    (
        "the scores are multiplied by the root of the head's width; divide by it.",
        lambda q, k, v: _attend(q, k, v, scale=lambda T, d_head: d_head**0.5),
    ),
    (
        "the weights are divided by the root, after the softmax; divide the scores, before it.",
        lambda q, k, v: _attend(q, k, v, scale=lambda T, d_head: 1) / math.sqrt(q.shape[-1]),
    ),
    (
        "there is no mask: every word sees the words after it.",
        lambda q, k, v: _scores(q, k).softmax(-1) @ v,
    ),
    (
        "there is neither a mask nor the root of the head's width.",
        lambda q, k, v: (q @ k.mT).softmax(-1) @ v,
    ),
    (
        "the mask comes after the softmax, so the weights of a row no longer sum to 1; mask the scores.",
        _masked_late,
    ),
    (
        "forbidden scores are set to 0, and the softmax still gives those words weight; which score gives none?",
        lambda q, k, v: _attend(q, k, v, fill=0.0),
    ),
    (
        "the mask is added as ones and zeros, which only raises some scores by 1; forbidden ones must get no weight.",
        lambda q, k, v: (_scores(q, k) + _mask(q.shape[-2])).softmax(-1) @ v,
    ),
    (
        "the softmax runs down the columns: each row, the word that looks, must have weights that sum to 1.",
        lambda q, k, v: _attend(q, k, v, dim=-2),
    ),
    (
        "q and k are swapped: the rows of the scores belong to the queries.",
        lambda q, k, v: _attend(k, q, v),
    ),
    (
        "every word looks at itself and the words after it; the mask is turned round.",
        lambda q, k, v: _attend(q, k, v, mask=lambda T: _mask(T).T),
    ),
    (
        "the first row is NaN: a word that may not even look at itself has nothing to share its weight among.",
        lambda q, k, v: _attend(q, k, v, mask=lambda T: _mask(T).tril(-1)),
    ),
    (
        "the last row is NaN, since the mask is inside out: it forbids what it should allow.",
        lambda q, k, v: _attend(q, k, v, mask=lambda T: ~_mask(T)),
    ),
    (
        "every number is NaN, as minus infinity times 0 is; put it in the forbidden places alone, with `masked_fill`.",
        lambda q, k, v: v * torch.nan,
    ),
    (
        "these are the weights; they still have to mix the values.",
        lambda q, k, v: _seen(_scores(q, k)).softmax(-1),
    ),
    (
        "these are the scores; a softmax and the values are still missing.",
        lambda q, k, v: _seen(_scores(q, k)),
    ),
    (
        "these are the scores; the mask, a softmax and the values are still missing.",
        lambda q, k, v: _scores(q, k),
    ),
    (
        "the softmax is missing: the weights of a row must be above 0 and sum to 1.",
        lambda q, k, v: _seen(_scores(q, k), fill=0.0) @ v,
    ),
    (
        "the weights mix the keys; it is the values that they mix.",
        lambda q, k, v: _attend(q, k, k),
    ),
    (
        "the weights mix the queries; it is the values that they mix.",
        lambda q, k, v: _attend(q, k, q),
    ),
    (
        "every word gets the plain mean of the values that it may see; q and k should decide how much of each.",
        lambda q, k, v: _attend(0 * q, k, v),
    ),
    (
        "the weights are turned before they mix the values: row t of the result needs row t of the weights.",
        lambda q, k, v: _seen(_scores(q, k)).softmax(-1).mT @ v,
    ),
)

_one_head = by_cases(_one_head_cases, right=_attend, mistakes=_ATTENTION_MISTAKES)
_many_heads = by_cases(_many_head_cases, right=_attend, mistakes=_ATTENTION_MISTAKES)


def _diagnosis(probe, function):
    """What a probe finds wrong, None for a right answer."""
    try:
        probe(function)
    except Wrong as diagnosis:
        return diagnosis
    return None


def _attention_probe(function):
    one, many = _diagnosis(_one_head, function), _diagnosis(_many_heads, function)
    if one and many:
        raise one
    if many:
        raise Wrong(f"right for one head, (T, d_head), and not for several, (B, H, T, d_head): {many}")
    if one:
        raise Wrong(f"right for several heads, (B, H, T, d_head), and not for one alone, (T, d_head): {one}")


ATTENTION = Exercise(
    number="2.3",
    target="An example: with all zeros in q and k, v = [[1, 0], [0, 1]] gives [[1, 0], [0.5, 0.5]].",
    probe=_attention_probe,
    meaning="each word takes a weighted mean of the values before it, and its query and the keys set the weights.",
    hints=(
        "There are five steps: scores, scale, mask, softmax, mix. Print the shape after each.",
        "The scores are every query times every key, (..., T, T); turn only the last two places of k, with `.mT`.",
        "Before the softmax, `masked_fill` puts minus infinity where exercise 2.2's mask has False.",
    ),
)


def ex_2_2(answer) -> Verdict:
    """Exercise 2.2: the causal mask. answer(n_tokens) -> bool (T, T), True where the row may look at the column."""
    return judge(MASK, answer)


def ex_2_3(answer) -> Verdict:
    """Exercise 2.3: causal attention of one head. answer(q, k, v), each (..., T, d_head) -> (..., T, d_head)."""
    return judge(ATTENTION, answer)
