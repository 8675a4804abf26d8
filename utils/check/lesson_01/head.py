"""Exercise 1.5: the stable softmax with top-k, in NumPy."""

import numpy as np

from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge


def _softmax_cases():
    spread = np.random.default_rng(5).normal(0, 3, 40)
    return [
        (np.array([1.0, 3.0, 2.0]), 2),
        (np.array([1000.0, 1002.0, 1001.0, -1000.0]), 3),
        (np.array([-2000.0, -2001.0]), 1),
        (spread, 5),
    ]


def _softmax(logits):
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _top(logits, k):
    probs = _softmax(logits)
    ids = np.argsort(-probs, kind="stable")[:k]
    return ids, probs[ids]


def _overflows(function):
    """Does this student's softmax give NaN or raise on scores around 1000, and numbers on small ones?"""
    with np.errstate(all="ignore"):
        probs = np.asarray(call(function, np.array([1000.0, 1001.0]), 2)[1], dtype=float)
    return not np.isfinite(probs).all()


def _softmax_probe(function):
    small = call(function, np.array([1.0, 3.0, 2.0]), 2)
    if isinstance(small, tuple) and len(small) == 2 and np.shape(small[1]) == (2,) and _overflows(function):
        raise Wrong(
            "right for small scores, but with scores around 1000 the exponential overflows and the result is NaN.\n"
            "  input   [1000, 1001], 2"
        )
    with np.errstate(all="ignore"):
        _softmax_by_cases(function)


_softmax_by_cases = by_cases(
    _softmax_cases,
    right=_top,
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
            "the right tokens in the wrong order: the likeliest comes first.",
            lambda logits, k: (_top(logits, k)[0][::-1], _top(logits, k)[1][::-1]),
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
