"""Exercise 1.5: stable softmax with top-k. answer(logits (V,), k) -> (ids (k,), probabilities (k,))."""

import numpy as np

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise

SMALL = np.array([1.0, 3.0, 2.0]), 2
LARGE = np.array([1000.0, 1002.0, 1001.0, 999.0]), 3
FAR_APART = np.array([-2000.0, 1000.0, -2001.0, 1001.0, -2002.0]), 2  # taking off the mean or the first fails here
LOW = np.array([-2000.0, -2001.0]), 1
HUGE = np.array([99_999.0, 0.0, 100_000.0]), 2  # for a longer float too


def _cases():
    return [SMALL, LARGE, LOW, FAR_APART, HUGE, (np.random.default_rng(5).normal(0, 3, 40), 8)]


def _softmax(logits):
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _top(logits, k):
    probs = _softmax(logits)
    ids = np.argsort(-probs, kind="stable")[:k]
    return ids, probs[ids]


def _probs_of(result):
    return as_array(result[1]) if isinstance(result, (tuple, list)) and len(result) == 2 else None


def _is_lost(probs):
    return not (probs > 0).any()


def _probs_in(*cases, are=_is_lost):
    """Are the probabilities as `are` says in one of these cases, which its wanted result tells from the others?"""

    def is_so(result, want):
        probs = _probs_of(result)
        return probs is not None and any(same(want, _top(*case)) for case in cases) and bool(are(probs))

    return is_so


def _is_unsorted(result, want):
    """Are these the right tokens, with their probabilities, in another order?"""
    probs = _probs_of(result)
    if probs is None or same(result, want):
        return False
    return all(same(sorted(as_array(part).flat), sorted(right)) for part, right in zip(result, want, strict=True))


EXERCISE = Exercise(
    target="An example: scores [1, 3, 2] and k = 2 give ids [1, 2] and probabilities [0.6652, 0.2447].",
    probe=Cases(
        _cases,
        right=_top,
        signs={
            "right for small scores, but with scores of 1000 and more the exponential overflows, which gives NaN.": (
                _probs_in(LARGE, HUGE)
            ),
            "right for scores that are close together; if they are far apart, can an exponent still be large?": (
                _probs_in(FAR_APART)
            ),
            "where all exponents are far below 0 every exponential is 0, and 0 divided by 0 is NaN.": (
                _probs_in(SMALL, LOW)
            ),
            "large scores are cut off, which makes them equal; take one number from all of them.": (
                _probs_in(LARGE, are=lambda probs: len(probs) > 1 and np.ptp(probs) == 0)
            ),
            "the right tokens in the wrong order: the likeliest comes first.": _is_unsorted,
            "the ids are right, but as floats; a table can be read at whole numbers alone.": (
                lambda result, want: same(result, want) and as_array(result[0]).dtype.kind == "f"
            ),
            "the probabilities are right, and the ids beside them are those of other tokens.": (
                lambda result, want: same(_probs_of(result), want[1]) and not same(result[0], want[0])
            ),
        },
        mistakes={
            "the probabilities of the k are made to sum to 1; keep what they have among all tokens.": (
                lambda logits, k: (_top(logits, k)[0], _top(logits, k)[1] / _top(logits, k)[1].sum())
            ),
            "these are the k least likely tokens; sort the other way round.": (
                lambda logits, k: (np.argsort(_softmax(logits), kind="stable")[:k], np.sort(_softmax(logits))[:k])
            ),
            "the tokens are right, but with them stand scores and not probabilities.": (
                lambda logits, k: (_top(logits, k)[0], np.sort(logits)[::-1][:k])
            ),
            "ids and probabilities are swapped: ids first.": lambda logits, k: _top(logits, k)[::-1],
            "the probabilities do not belong to the ids beside them: pick both with the same order.": (
                lambda logits, k: (_top(logits, k)[0], _softmax(logits)[:k])
            ),
            "the scores themselves are divided by their sum; a softmax takes the exponential of each first.": (
                lambda logits, k: tuple(
                    part[::-1][:k] for part in (np.argsort(logits / logits.sum()), np.sort(logits / logits.sum()))
                )
            ),
            "these are all probabilities; the k likeliest tokens are wanted, with their ids.": (
                lambda logits, k: _softmax(logits)
            ),
            "these are pairs of an id and its probability; all the ids come first, then all the probabilities.": (
                lambda logits, k: list(zip(*_top(logits, k), strict=True))
            ),
            "the exponentials are not divided by their sum, so they are not yet probabilities.": (
                lambda logits, k: (_top(logits, k)[0], np.exp(np.sort(logits)[::-1] - logits.max())[:k])
            ),
        },
    ),
    meaning="subtracting the maximum changes no probability, and no score can overflow any more.",
    hints=(
        "Taking one number from every score changes no probability. Which number brings them all to 0 or below?",
        "`np.argsort` sorts upwards; turn its result round, or sort the negative, and keep the first k.",
        "Use one order for both results: it is the ids, and it picks the probabilities.",
    ),
)
