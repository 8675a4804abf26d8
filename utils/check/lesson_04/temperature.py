"""Exercises 4.2 and 4.3: temperature, and greedy as its limit."""

import math

import torch
import torch.nn.functional as F

from utils.check.compare import as_array, brief, same
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge


def _random(*shape, seed):
    return 2 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _temperature_cases():
    return [
        (torch.tensor([1.0, 3.0]), 2.0),
        (torch.tensor([1.0, 3.0, 2.0]), 1.0),
        (_random(2, 3, seed=1), 0.5),
        (_random(2, 3, 4, seed=2), 1.5),
        (torch.tensor([1.0, 3.0, 2.0]), 0.02),
        (torch.tensor([1000.0, 1001.0]), 1),
        (torch.tensor([-math.inf, 1.0, 0.0]), 0.7),
    ]


def _probabilities(logits, temperature):
    return (logits / temperature).softmax(-1)


def _shares(positive):
    return positive / positive.sum(-1, keepdim=True)


def _guessed_axis(logits, temperature):
    """What F.softmax does when it is told no axis."""
    return (logits / temperature).softmax(1 if logits.ndim == 2 else 0)


def _do_not_sum_to_one(result, want):
    given = as_array(result)
    return given is not None and given.shape == want.shape and abs(given.sum(-1) - 1).max() > 1e-3


_NO_PROBABILITIES = (
    "the results do not sum to 1 along the last axis, so they are no probabilities.",
    _do_not_sum_to_one,
)
_MISTAKES = (
    (
        "the scores are multiplied by the temperature, so a high one sharpens; they are divided by it.",
        lambda logits, t: (logits * t).softmax(-1),
    ),
    (
        "the temperature divides the probabilities, which then no longer sum to 1; it divides the scores.",
        lambda logits, t: logits.softmax(-1) / t,
    ),
    (
        "the probabilities are raised to the temperature; it acts on the scores, before the softmax.",
        lambda logits, t: logits.softmax(-1) ** t,
    ),
    (
        "the probabilities raised to 1 / T are not divided by their sum; on the scores it takes no power.",
        lambda logits, t: logits.softmax(-1) ** (1 / t),
    ),
    ("the temperature is not used.", lambda logits, t: logits.softmax(-1)),
    (
        "the softmax runs along the first axis; the tokens of the vocabulary lie along the last.",
        lambda logits, t: (logits / t).softmax(0),
    ),
    (
        "the softmax runs along the second axis; the tokens of the vocabulary lie along the last.",
        lambda logits, t: (logits / t).softmax(1),
    ),
    (
        "without `dim` the softmax guesses its axis, and with three of them it takes the first; tell it the last.",
        _guessed_axis,
    ),
    (
        "all rows together sum to 1; each row is a distribution of its own.",
        lambda logits, t: (logits / t).flatten().softmax(0).view(logits.shape),
    ),
    ("these are log-probabilities; probabilities are wanted.", lambda logits, t: (logits / t).log_softmax(-1)),
    ("these are the divided scores; a softmax makes probabilities of them.", lambda logits, t: logits / t),
    (
        "the exponentials are not divided by their sum.",
        lambda logits, t: (logits / t).exp(),
    ),
    (
        "right for ordinary scores; a large score or a small temperature makes the exponential overflow: "
        "`softmax` is safe.",
        lambda logits, t: _shares((logits / t).exp()),
    ),
    (
        "the softmax is taken twice: the temperature divides scores, not probabilities.",
        lambda logits, t: (logits.softmax(-1) / t).softmax(-1),
    ),
    (
        "the highest score is taken off before the temperature, but the exponentials are divided by it after.",
        lambda logits, t: (logits - logits.amax(-1, keepdim=True)).exp() / t,
    ),
)

TEMPERATURE = Exercise(
    number="4.2",
    target="An example: scores [1, 3] and a temperature of 2 give [0.2689, 0.7311].",
    probe=by_cases(_temperature_cases, right=_probabilities, mistakes=_MISTAKES, signs=(_NO_PROBABILITIES,)),
    meaning="one number turns the same scores from daring (high) to careful (low), and their order never changes.",
    hints=(
        "At a temperature of 2 every difference between two scores counts half.",
        "The scores change first; the probabilities are made of what results.",
        "`softmax` wants to know along which axis. The vocabulary is the last, which is -1 however many there are.",
    ),
)


TINY = torch.tensor([1.0, 3.0, 2.0])


def _greedy_cases():
    return [
        (torch.tensor([1.0, 3.0]), 0),
        (torch.tensor([1.0, 3.0]), 2.0),
        (torch.tensor([3.0, 1.0, 3.0]), 0.0),
        (torch.tensor([[1.0, 2.0, 0.0], [5.0, 4.0, 5.0], [-3.0, -2.0, -1.0]]), 0),
        (_random(2, 3, 4, seed=2), 1.5),
        (_random(2, 3, 4, seed=3), 0),
        (torch.tensor([1.0, 1.05]), 0.05),
        (torch.tensor([0.0, 0.01]), 0.01),
        (torch.tensor([0.0, 0.001]), 0.001),
        (torch.tensor([1.0, 3.0, 2.0]), 1e-30),
        (torch.tensor([-math.inf, -1.0, -2.0]), 0),
        (torch.tensor([1000.0, 1001.0]), 1),
    ]


def _one(logits):
    """The whole probability on the highest score, the lowest id if several tie."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


def _last_of_equals(logits):
    return _one(logits.flip(-1)).flip(-1)


def _or(cold, warm=_probabilities, limit=0.0):
    """One function for a temperature up to the limit, another above."""
    return lambda logits, t: cold(logits) if t <= limit else warm(logits, t)


def _is_highest(logits):
    return (logits == logits.amax(-1, keepdim=True)).float()


def _one_for_all(logits):
    return (logits == logits.amax()).float()


def _greedy_probe(function):
    _greedy_by_cases(function)
    probs = call(function, TINY, 1e-40)
    if not same(probs, _one(TINY)):
        raise Wrong(
            "right for ordinary temperatures; at a tiny one the divided scores overflow, and the softmax of two "
            "infinite scores is NaN. Take the highest score off first.\n"
            f"  input   {brief(TINY)}, 1e-40\n  yours   {brief(probs)}\n  wanted  {brief(_one(TINY))}"
        )


_greedy_by_cases = by_cases(
    _greedy_cases,
    right=_or(_one),
    signs=(_NO_PROBABILITIES,),
    mistakes=(
        (
            "a temperature of 0 divides by zero, and the softmax of infinity is NaN; 0 needs a way of its own.",
            _probabilities,
        ),
        (
            "at 0 this is the id of the highest score; probabilities are wanted, a 1 in its place and 0 elsewhere.",
            _or(lambda logits: logits.argmax(-1)),
        ),
        (
            "at 0 this is the id of the highest score, with an axis; a 1 in its place and 0 elsewhere are wanted.",
            _or(lambda logits: logits.argmax(-1, keepdim=True)),
        ),
        (
            "a temperature of 0 is treated as 1; it is the limit of ever lower ones, not their absence.",
            _or(lambda logits: logits.softmax(-1)),
        ),
        (
            "at 0 equal highest scores share the probability; the lowest id of them gets it all "
            "(a tiny number in place of 0 does not do this).",
            _or(lambda logits: _shares(_is_highest(logits))),
        ),
        ("at 0 equal highest scores get a 1 each; only the lowest id of them does.", _or(_is_highest)),
        ("at 0 the highest id of several equal scores is taken; the lowest is wanted.", _or(_last_of_equals)),
        ("at 0 the lowest score is taken; the highest is wanted.", _or(lambda logits: _one(-logits))),
        (
            "at 0 one token is chosen for the whole batch; every row has a highest score of its own.",
            _or(_one_for_all),
        ),
        (
            "at 0 the score stands where a 1 is wanted.",
            _or(lambda logits: torch.where(_one(logits) > 0, logits, 0)),
        ),
        (
            "at 0 the highest probability keeps its size; it becomes 1.",
            _or(lambda logits: logits.softmax(-1) * _one(logits)),
        ),
        (
            "at 0 all tokens are equally likely: that is the limit of high temperatures.",
            _or(lambda logits: torch.full_like(logits, 1 / logits.shape[-1])),
        ),
        ("every temperature is treated as 0.", lambda logits, t: _one(logits)),
        *(
            (
                "a small temperature is treated as 0; it only sharpens, and close scores stay both possible.",
                _or(_one, limit=limit),
            )
            for limit in (1, 0.1, 0.05, 0.01, 0.001)
        ),
        *(
            (
                "a number is added to the temperature, which changes every one; treat only 0 apart.",
                lambda logits, t, extra=extra: _probabilities(logits, t + extra),
            )
            for extra in (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
        ),
        *(
            (
                "temperatures below some limit are raised to it; treat only 0 apart.",
                _or(cold, lambda logits, t, limit=limit: _probabilities(logits, max(t, limit))),
            )
            for limit in (1, 0.1, 0.05, 0.01)
            for cold in (_one, lambda logits, limit=limit: _probabilities(logits, limit))
        ),
        *((diagnosis, _or(_one, warm)) for diagnosis, warm in _MISTAKES),
        *_MISTAKES,
    ),
)

GREEDY = Exercise(
    number="4.3",
    target="An example: scores [3, 1, 3] and a temperature of 0 give [1, 0, 0]; with 2 they give "
    "[0.4223, 0.1554, 0.4223].",
    probe=_greedy_probe,
    meaning="the lower the temperature, the nearer to always taking the likeliest, and 0 is that limit.",
    hints=(
        "Dividing by 0 is no option, so a temperature of 0 needs an `if`.",
        "At 0 the result is 0 everywhere but at one id. `argmax` gives that id, the lowest among equals.",
        "`F.one_hot` turns ids into such rows. Give it V, and make floats of what it gives.",
    ),
)


def ex_4_2(answer) -> Verdict:
    """Exercise 4.2: temperature. answer(logits (..., V), temperature > 0) -> probabilities (..., V)."""
    return judge(TEMPERATURE, answer)


def ex_4_3(answer) -> Verdict:
    """Exercise 4.3: greedy as a limit. answer(logits (..., V), temperature >= 0) -> probabilities (..., V)."""
    return judge(GREEDY, answer)
