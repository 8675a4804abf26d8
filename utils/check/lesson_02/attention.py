"""Exercise 2.3: the attention of one head."""

import math

import torch

from utils.check.engine import Exercise, Verdict, Wrong, by_cases, judge
from utils.check.lesson_02.mask import causal_mask
from utils.check.lesson_02.parts import normal

INFINITY = float("inf")


def _one_head_cases():
    q = torch.tensor([[1.0, 0, 1, 0], [2, 2, 0, 0]])
    k = torch.tensor([[1.0, 0, 0, 0], [0, 2, 0, 1]])
    v = torch.tensor([[1.0, 0, 0, 5], [0, 1, 0, 5]])
    return [
        (q, k, v),
        tuple(normal(3, 3, seed=seed) for seed in (1, 2, 3)),
        tuple(2 * normal(6, 4, seed=seed) for seed in (4, 5, 6)),
    ]


def _batch_cases():
    return [
        tuple(normal(1, 2, 2, seed=seed) for seed in (1, 2, 3)),
        tuple(normal(2, 5, 4, seed=seed) for seed in (4, 5, 6)),
        tuple(normal(3, 3, 3, seed=seed) for seed in (7, 8, 9)),
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
    return scores.masked_fill(~(causal_mask(scores.shape[-1]) if mask is None else mask(scores.shape[-1])), fill)


def _attend(q, k, v, scale=None, mask=None, fill=-INFINITY, dim=-1):
    return _seen(_scores(q, k, scale), mask, fill).softmax(dim) @ v


def _masked_late(q, k, v):
    return _seen(_scores(q, k).softmax(-1), fill=0.0) @ v


def _counted(turn=lambda k: k.mT, width=-1, size=-2, dim=lambda places: -1):
    """Attention with a place of the shape counted otherwise: the two of k that turn, the head's width, the number
    of tokens for the mask, or the softmax's place among so many."""

    def attend(q, k, v):
        scores = q @ turn(k) * q.shape[width] ** -0.5
        seen = scores.masked_fill(~causal_mask(q.shape[size]), -INFINITY)
        return seen.softmax(dim(seen.ndim)) @ v

    return attend


def _turned_whole(q, k, v):
    scores = q @ k.T * q.shape[-1] ** -0.5
    return scores.masked_fill(torch.ones_like(scores).tril() == 0, -INFINITY).softmax(-1) @ v


_COUNTED_MISTAKES = (
    *(
        (
            f"k is turned at the places {place} and {place + 1}, counted from the front; with more places before them, "
            "or with fewer, the last two are others.",
            _counted(turn=lambda k, place=place: k.transpose(place, place + 1)),
        )
        for place in (0, 1)
    ),
    *(
        ("`.T` turns all places of k round, a batch and heads too; the last two alone have to change.", mistake)
        for mistake in (_counted(turn=lambda k: k.T), _turned_whole)
    ),
    *(
        (
            f"the scores are divided by the root of `shape[{place}]`, counted from the front; that is {what}, and the "
            "head's width is the last place.",
            _counted(width=place),
        )
        for place, what in (
            (0, "the number of tokens, or the batch"),
            (1, "the number of tokens with a batch, and of heads with several heads"),
            (2, "the number of tokens with several heads"),
        )
    ),
    *(
        (
            f"the mask has `shape[{place}]` rows, counted from the front; the tokens are the last place but one.",
            _counted(size=place),
        )
        for place in (0, 1)
    ),
    *(
        (
            f"the softmax runs along the place {place}, counted from the front; the keys of a word lie along the last.",
            _counted(dim=lambda places, place=place: place),
        )
        for place in (1, 2)
    ),
    (
        "without `dim` the softmax guesses its place, and with a batch it takes the first; tell it the last.",
        _counted(dim=lambda places: 0 if places == 3 else 1),
    ),
)

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
    *(
        (
            "forbidden scores are set to a low number, and the softmax still gives those words some weight; "
            "which score gives none?",
            lambda q, k, v, fill=fill: _attend(q, k, v, fill=fill),
        )
        for fill in (-1, -5, -10)
    ),
    (
        "forbidden scores are set to plus infinity, and the softmax of that is NaN; its sign is minus.",
        lambda q, k, v: _attend(q, k, v, fill=INFINITY),
    ),
    *(
        (
            f"the scores are divided by {root}, whatever the head's width is; it stands in the shape.",
            lambda q, k, v, root=root: _attend(q, k, v, scale=lambda T, d_head: 1 / root),
        )
        for root in (4, 8)
    ),
    (
        "every word sees one word ahead; the last one allowed is the word itself.",
        lambda q, k, v: _seen(_scores(q, k), mask=lambda T: torch.ones(T, T).tril(1) == 1).softmax(-1) @ v,
    ),
    (
        "only the last word's result is there; every word has one.",
        lambda q, k, v: _attend(q, k, v)[..., -1, :],
    ),
    (
        "the mask is added as ones and zeros, which only raises some scores by 1; forbidden ones must get no weight.",
        lambda q, k, v: (_scores(q, k) + causal_mask(q.shape[-2])).softmax(-1) @ v,
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
        lambda q, k, v: _attend(q, k, v, mask=lambda T: causal_mask(T).T),
    ),
    (
        "the first row is NaN: a word that may not even look at itself has nothing to share its weight among.",
        lambda q, k, v: _attend(q, k, v, mask=lambda T: causal_mask(T).tril(-1)),
    ),
    (
        "the last row is NaN, since the mask is inside out: it forbids what it should allow.",
        lambda q, k, v: _attend(q, k, v, mask=lambda T: ~causal_mask(T)),
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

_BY_SHAPE = {
    "one head, (T, d_head)": by_cases(_one_head_cases, right=_attend, mistakes=_ATTENTION_MISTAKES),
    "a batch, (B, T, d_head)": by_cases(_batch_cases, right=_attend, mistakes=_ATTENTION_MISTAKES),
    "several heads, (B, H, T, d_head)": by_cases(_many_head_cases, right=_attend, mistakes=_ATTENTION_MISTAKES),
}
_by_place = by_cases(
    lambda: [*_one_head_cases(), *_batch_cases(), *_many_head_cases()], right=_attend, mistakes=_COUNTED_MISTAKES
)


def _diagnosis(probe, function):
    """What a probe finds wrong, None for a right answer."""
    try:
        probe(function)
    except Wrong as diagnosis:
        return diagnosis
    return None


def _attention_probe(function):
    found = {shape: _diagnosis(probe, function) for shape, probe in _BY_SHAPE.items()}
    right = [shape for shape, diagnosis in found.items() if diagnosis is None]
    if len(right) == len(found):
        return
    place = _diagnosis(_by_place, function)
    if str(place).startswith(tuple(text for text, mistake in _COUNTED_MISTAKES)):
        raise place
    shape, diagnosis = next((shape, diagnosis) for shape, diagnosis in found.items() if diagnosis)
    raise Wrong(f"right for {' and '.join(right)}, and not for {shape}: {diagnosis}") if right else diagnosis


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


def ex_2_3(answer) -> Verdict:
    """Exercise 2.3: causal attention of one head. answer(q, k, v), each (..., T, d_head) -> (..., T, d_head)."""
    return judge(ATTENTION, answer)
