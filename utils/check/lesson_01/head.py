"""Exercise 1.5: the stable softmax with top-k, in NumPy."""

import numpy as np

from utils.check.compare import as_array, brief, same
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge

CLOSE = np.array([1000.0, 1001.0])
FAR_APART = np.array([-1000.0, 1000.0, 1001.0, -1001.0, -1002.0])  # taking off the mean or the first does not help


def _softmax_cases():
    spread = np.random.default_rng(5).normal(0, 3, 40)
    return [
        (np.array([1.0, 3.0, 2.0]), 2),
        (np.array([1000.0, 1002.0, 1001.0, -1000.0]), 3),
        (np.array([-2000.0, -2001.0]), 1),
        (spread, 8),
        (np.array([99_999.0, 0.0, 100_000.0]), 2),  # too large for a longer float
    ]


def _softmax(logits):
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _top(logits, k):
    probs = _softmax(logits)
    ids = np.argsort(-probs, kind="stable")[:k]
    return ids, probs[ids]


def _probs_of(result):
    return as_array(result[1]) if isinstance(result, (tuple, list)) and len(result) == 2 else None


def _softmax_probe(function):
    small = np.array([1.0, 3.0, 2.0])
    if same(call(function, small, 2), _top(small, 2)):
        _require_stable(function)
    _softmax_by_cases(function)


def _require_stable(function):
    """Wrong if a softmax that is right for small scores fails on large ones."""
    probs = _probs_of(call(function, CLOSE, 2))
    if probs is not None and not np.isfinite(probs).all():
        raise Wrong(
            "right for small scores, but with scores around 1000 the exponential overflows and the result is NaN.\n"
            "  input   [1000, 1001], 2"
        )
    # all of them, since argsort hides NaN behind the others
    probs, wanted = _probs_of(call(function, FAR_APART, 5)), _top(FAR_APART, 5)[1]
    if probs is not None and probs.shape == wanted.shape and not same(probs, wanted):
        raise Wrong(
            "right for scores that are close together; if they are far apart, can an exponent still be large?\n"
            f"  input   {brief(FAR_APART)}, 5\n  yours   {brief(probs)}\n  wanted  {brief(wanted)}"
        )


def _is_unsorted(result, want):
    """Are these the right tokens, with their probabilities, in another order?"""
    probs = _probs_of(result)
    if probs is None or same(result, want):
        return False
    return all(same(sorted(as_array(part).flat), sorted(right)) for part, right in zip(result, want, strict=True))


_softmax_by_cases = by_cases(
    _softmax_cases,
    right=_top,
    signs=(("the right tokens in the wrong order: the likeliest comes first.", _is_unsorted),),
    mistakes=(
        (
            "the probabilities of the k are made to sum to 1; keep what they have among all tokens.",
            lambda logits, k: (_top(logits, k)[0], _top(logits, k)[1] / _top(logits, k)[1].sum()),
        ),
        (
            "these are the k least likely tokens; sort the other way round.",
            lambda logits, k: (np.argsort(_softmax(logits), kind="stable")[:k], np.sort(_softmax(logits))[:k]),
        ),
        (
            "the tokens are right, but with them stand scores and not probabilities.",
            lambda logits, k: (_top(logits, k)[0], np.sort(logits)[::-1][:k]),
        ),
        (
            "ids and probabilities are swapped: ids first.",
            lambda logits, k: _top(logits, k)[::-1],
        ),
        (
            "the probabilities do not belong to the ids beside them: pick both with the same order.",
            lambda logits, k: (_top(logits, k)[0], _softmax(logits)[:k]),
        ),
        (
            "these are all probabilities; the k likeliest tokens are wanted, with their ids.",
            lambda logits, k: _softmax(logits),
        ),
        (
            "these are all tokens, the likeliest first; only the first k are wanted.",
            lambda logits, k: _top(logits, len(logits)),
        ),
        (
            "only the ids are there; their probabilities are wanted with them.",
            lambda logits, k: _top(logits, k)[0],
        ),
        (
            "only the probabilities are there; the ids come before them.",
            lambda logits, k: _top(logits, k)[1],
        ),
        (
            "these are pairs of an id and its probability; all the ids come first, then all the probabilities.",
            lambda logits, k: list(zip(*_top(logits, k), strict=True)),
        ),
        (
            "every id is one too high: ids are counted from 0.",
            lambda logits, k: (_top(logits, k)[0] + 1, _top(logits, k)[1]),
        ),
        (
            "the exponentials are not divided by their sum, so they are not yet probabilities.",
            lambda logits, k: (_top(logits, k)[0], np.exp(np.sort(logits)[::-1] - logits.max())[:k]),
        ),
    ),
)

SOFTMAX = Exercise(
    number="1.5",
    target="An example: scores [1, 3, 2] and k = 2 give ids [1, 2] and probabilities [0.6652, 0.2447].",
    probe=_softmax_probe,
    meaning="subtracting the maximum changes no probability, and no score can overflow any more.",
    hints=(
        "Taking one number from every score changes no probability. Which number brings them all to 0 or below?",
        "`np.argsort` sorts upwards; turn its result round, or sort the negative, and keep the first k.",
        "Use one order for both results: it is the ids, and it picks the probabilities.",
    ),
)


def ex_1_5(answer) -> Verdict:
    """Exercise 1.5: stable softmax with top-k. answer(logits (V,), k) -> (ids (k,), probabilities (k,))."""
    return judge(SOFTMAX, answer)
