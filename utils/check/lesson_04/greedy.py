"""Exercise 4.3: greedy, the limit of low temperatures."""

import math

import torch
import torch.nn.functional as F

from utils.check.compare import brief, same
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge
from utils.check.lesson_04.temperature import MISTAKES, NO_PROBABILITIES, probabilities, random_scores, shares

TINY = torch.tensor([[1.0, 3.0, 2.0], [-1.0, -2.0, -3.0]])


def _greedy_cases():
    return [
        (torch.tensor([1.0, 3.0]), 0),
        (torch.tensor([1.0, 3.0]), 2.0),
        (torch.tensor([3.0, 1.0, 3.0]), 0.0),
        (torch.tensor([[1.0, 2.0, 0.0], [5.0, 4.0, 5.0], [-3.0, -2.0, -1.0]]), 0),
        (random_scores(2, 3, 4, seed=2), 1.5),
        (random_scores(2, 3, 4, seed=3), 0),
        (torch.tensor([1.0, 1.05]), 0.05),
        (torch.tensor([0.0, 0.01]), 0.01),
        (torch.tensor([0.0, 0.001]), 0.001),
        (torch.tensor([1.0, 3.0, 2.0]), 1e-30),
        (torch.tensor([-math.inf, -1.0, -2.0]), 0),
        (torch.tensor([1000.0, 1001.0]), 1),
        (torch.tensor([[1000.0, 1001.0], [0.0, 1.0]]), 1),
        (torch.randint(3, (4, 20), generator=torch.Generator().manual_seed(1)).float(), 0),
    ]


def _one(logits):
    """The whole probability on the highest score, the lowest id if several tie."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


def _by_topk(logits):
    return F.one_hot(logits.topk(1).indices[..., 0], logits.shape[-1])


def _by_sort(logits):
    return F.one_hot(logits.argsort(descending=True)[..., 0], logits.shape[-1])


def _from_the_highest(logits, temperature):
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)


def _last_of_equals(logits):
    return _one(logits.flip(-1)).flip(-1)


def _or(cold, warm=probabilities, limit=0.0):
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
            "infinite scores is NaN. Take each row's highest score off first.\n"
            f"  input   {brief(TINY)}, 1e-40\n  yours   {brief(probs)}\n  wanted  {brief(_one(TINY))}"
        )


_greedy_by_cases = by_cases(
    _greedy_cases,
    right=_or(_one),
    signs=(NO_PROBABILITIES,),
    mistakes=(
        (
            "a temperature of 0 divides by zero, and the softmax of infinity is NaN; 0 needs a way of its own.",
            probabilities,
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
            _or(lambda logits: shares(_is_highest(logits))),
        ),
        ("at 0 equal highest scores get a 1 each; only the lowest id of them does.", _or(_is_highest)),
        ("at 0 the highest id of several equal scores is taken; the lowest is wanted.", _or(_last_of_equals)),
        *(
            (
                "at 0 not always the lowest id of equal scores is taken: `topk` makes no promise for equals, and a "
                "sort only with `stable=True`; `argmax` does.",
                _or(cold, warm),
            )
            for cold in (_by_topk, _by_sort)
            for warm in (probabilities, _from_the_highest)
        ),
        *(
            (
                "at 0 one id is sought in the whole batch: tell `argmax` to look along the last axis.",
                _or(lambda logits: F.one_hot(logits.argmax(), logits.shape[-1]), warm),
            )
            for warm in (probabilities, _from_the_highest)
        ),
        *(
            (
                "at 0 the highest is sought along the first axis; the tokens of the vocabulary lie along the last.",
                _or(lambda logits: F.one_hot(logits.argmax(0), logits.shape[-1]), warm),
            )
            for warm in (probabilities, _from_the_highest)
        ),
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
                lambda logits, t, extra=extra: probabilities(logits, t + extra),
            )
            for extra in (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
        ),
        *(
            (
                "temperatures below some limit are raised to it; treat only 0 apart.",
                _or(cold, lambda logits, t, limit=limit: probabilities(logits, max(t, limit))),
            )
            for limit in (1, 0.1, 0.05, 0.01)
            for cold in (_one, lambda logits, limit=limit: probabilities(logits, limit))
        ),
        *((diagnosis, _or(_one, warm)) for diagnosis, warm in MISTAKES),
        *MISTAKES,
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


def ex_4_3(answer) -> Verdict:
    """Exercise 4.3: greedy as a limit. answer(logits (..., V), temperature >= 0) -> probabilities (..., V)."""
    return judge(GREEDY, answer)
