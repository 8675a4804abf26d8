"""Exercise 1.5: stable softmax with top-k. answer(logits (V,), k) -> (ids (k,), probabilities (k,))."""

import numpy as np

from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array, same
from utils.check.engine import Exercise

SMALL = np.array([1.0, 3.0, 2.0]), 2
LARGE = np.array([1000.0, 1002.0, 1001.0, 999.0]), 3
FAR_APART = np.array([-2000.0, 1000.0, -2001.0, 1001.0, -2002.0]), 2  # taking off the mean or the first fails here
LOW = np.array([-2000.0, -2001.0]), 1
ALL_BELOW = np.array([-1.0, -3.0, -2.0]), 3  # and all of them wanted
HUGE = np.array([99_999.0, 0.0, 100_000.0]), 2  # for a longer float too


def _softmax(logits):
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _top(logits, k, values=_softmax):
    ids = np.argsort(-logits, kind="stable")[:k]
    return ids, values(logits)[ids]


def _pair(result):
    """A result's ids and probabilities as arrays; of what is no pair, two that no sign fits."""
    parts = map(as_array, result) if isinstance(result, (tuple, list)) and len(result) == 2 else (None, None)
    return [np.ones(1) if part is None else part.flatten() for part in parts]


def _lost_in(*cases):
    """A sign: no probability is above 0 in one of these cases, which its wanted result tells from the others."""
    return lambda result, want: any(same(want, _top(*case)) for case in cases) and not (_pair(result)[1] > 0).any()


_SIGNS = {
    "right for small scores; with scores of 1000 and more the exponential overflows.": _lost_in(LARGE, HUGE),
    "right for scores that are close together; far apart, can an exponent still be large?": _lost_in(FAR_APART),
    "where all exponents are far below 0 every exponential is 0, and 0 / 0 is NaN.": _lost_in(SMALL, LOW),
    "large scores are cut off, which makes them equal; take one number from all of them.": (
        lambda result, want: same(want, _top(*LARGE)) and same(_pair(result)[1][1:], _pair(result)[1][:-1])
    ),
    "the right tokens in the wrong order: the likeliest comes first.": (
        lambda result, want: not same(result, want) and same(*([np.sort(p) for p in _pair(r)] for r in (result, want)))
    ),
    "the ids are right, but as floats; a table can be read at whole numbers alone.": (
        lambda result, want: same(result, want) and as_array(result[0]).dtype.kind == "f"
    ),
    "the probabilities are right, and the ids beside them are those of other tokens.": (
        lambda result, want: same(_pair(result)[1], want[1]) and not same(_pair(result)[0], want[0])
    ),
}
_MISTAKES = {
    "the probabilities of the k are made to sum to 1; keep what they have among all tokens.": (
        lambda x, k: _top(x, k, lambda x: _softmax(x) / np.sort(_softmax(x))[-k:].sum())
    ),
    "the probabilities are the first k; pick them by the ids.": lambda x, k: (_top(x, k)[0], _softmax(x)[:k]),
    "the exponentials are not divided by their sum.": lambda x, k: _top(x, k, lambda x: np.exp(x - x.max())),
}

_TWICE = {
    "of equal scores one id comes twice: `index` finds the first of equals; an order has each id once.": lambda x, k: (
        [x.tolist().index(score) for score in np.sort(x)[::-1][:k]],
        _top(x, k)[1],
    )
}


def _tied():
    return [(np.array([1.0, 2.0, 2.0]), 2), (np.array([0.0, 3.0, 3.0, 3.0]), 3)]


def _distinct(function):
    """How many tokens a result names, and their probabilities: of equals, any may come first."""

    def told(logits, k):
        ids, probabilities = _pair(function(logits, k))
        return len(set(ids.tolist())), probabilities

    return told


EXERCISE = Exercise(
    target="An example: scores [1, 3, 2] and k = 2 give ids [1, 2] and probabilities [0.6652, 0.2447].",
    probe=InTurn(
        Cases(
            lambda: [SMALL, LARGE, LOW, FAR_APART, ALL_BELOW, HUGE, (np.random.default_rng(5).normal(0, 3, 40), 8)],
            right=_top,
            signs=_SIGNS,
            mistakes=_MISTAKES,
        ),
        Cases(_tied, right=_top, mistakes=_TWICE, view=_distinct),
    ),
    meaning="subtracting the maximum changes no probability, and no score can overflow any more.",
    hints=(
        "Taking one number from every score changes no probability. Which number brings them all to 0 or below?",
        "`np.argsort` sorts upwards; turn its result round, or sort the negative, and keep the first k.",
        "Use one order for both results: it is the ids, and it picks the probabilities.",
    ),
)
