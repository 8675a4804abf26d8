"""Exercise 4.3: greedy as a limit. answer(logits (..., V), temperature >= 0) -> probabilities (..., V)."""

import math

import torch
import torch.nn.functional as F

from utils.check.calling import Nearly, call
from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_2 import NO_PROBABILITIES, probabilities, random_scores, shares


def _cases():
    two, ties = torch.tensor([1.0, 3.0]), torch.randint(3, (4, 20), generator=torch.Generator().manual_seed(1)).float()
    return [
        *((two, 0), (two, 2.0), (torch.tensor([3.0, 1.0, 3.0]), 0.0)),
        (torch.tensor([[1.0, 2.0, 0.0], [5.0, 4.0, 5.0], [-3.0, -2.0, -1.0]]), 0),
        *((random_scores(2, 3, 4, seed=2), 1.5), (random_scores(2, 3, 4, seed=3), 0)),
        *((torch.tensor([1.0, 1.25]), 0.25), (random_scores(1, 1, 3, seed=4), 0), (random_scores(1, 3, seed=4), 2)),
        (torch.tensor([0.0, 1e-30]), 1e-30),  # below any limit that one would set
        *((torch.tensor([-math.inf, -1.0, -2.0]), 0), (torch.tensor([[1000.0, 1001.0], [0.0, 1.0]]), 1), (ties, 0)),
    ]


def _one(logits):
    """The whole probability on the highest score, the lowest id if several tie."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


def _or(cold, warm=probabilities, limit=0.0):
    """One function for a temperature up to the limit, another above."""
    return lambda x, t: cold(x) if t <= limit else warm(x, t)


def _right(logits, temperature):
    return _or(_one)(logits.double(), temperature)


_ORDINARY = {
    "a temperature of 0 divides by zero, and the softmax of infinity is NaN; 0 needs a way of its own.": probabilities,
    "at 0 equal highest scores share the probability; the lowest id of them gets it all "
    "(a tiny number in place of 0 does not do this).": (
        _or(lambda x: shares((x == x.amax(-1, keepdim=True)).float())),
        *(lambda x, t, more=more: probabilities(x, t + more) for more in (1e-3, 1e-4, 1e-6)),
    ),
    "at 0 the highest id of several equal scores is taken; take the lowest.": _or(lambda x: _one(x.flip(-1)).flip(-1)),
    "at 0 one id is sought in the whole batch: tell `argmax` to look along the last dimension.": (
        _or(lambda x: _one(x.flatten()).view(x.shape)),
    ),
    "at 0 `one_hot` makes as many columns as the largest id needs; tell it V.": _or(lambda x: F.one_hot(x.argmax(-1))),
    "a small temperature is treated as 0; it only sharpens, and close scores stay both possible.": (
        *(_or(_one, limit=limit) for limit in (1e-6, 0.5, 1)),
    ),
}
_TINY = {
    "right for ordinary temperatures; at a tiny one the divided scores overflow, and the softmax of two "
    "infinite scores is NaN. Take each row's highest score off first.": _or(_one),
    "at a tiny temperature NaN is hidden as 0, and nothing is left to draw; take each row's highest score off first, "
    "so that no NaN comes.": _or(_one, lambda x, t: probabilities(x, t).nan_to_num()),
    "at a tiny temperature the highest score of the whole batch is taken off, and in other rows nothing is left; "
    "each row has a highest of its own.": _or(_one, lambda x, t: probabilities(x - x.amax(), t)),
}


def _require_floats(function):
    """Nearly if the result at 0 is a tensor of whole numbers or of truth values, from which nothing can be drawn."""
    result = call(function, torch.tensor([1.0, 3.0]), 0)
    if hasattr(result, "dtype") and as_array(result).dtype.kind != "f":
        raise Nearly(f"at 0 the numbers are right, but of the kind {result.dtype}, from which nothing can be drawn.")


EXERCISE = Exercise(
    target="An example: scores [3, 1, 3] and a temperature of 0 give [1, 0, 0]; with 2 they give "
    "[0.4223, 0.1554, 0.4223].",
    probe=InTurn(
        Cases(_cases, right=_right, mistakes=_ORDINARY, signs=NO_PROBABILITIES),
        Cases(lambda: [(torch.tensor([[1.0, 3.0, 2.0], [-1.0, -2.0, -3.0]]), 1e-40)], right=_right, mistakes=_TINY),
        _require_floats,
    ),
    meaning="the lower the temperature, the nearer to always taking the likeliest, and 0 is that limit.",
    hints=(
        "Dividing by 0 is no option, so a temperature of 0 needs an `if`.",
        "At 0 the result is 0 everywhere but at one id. `argmax` gives that id, the lowest among equals.",
        "`F.one_hot` turns ids into such rows. Give it V, and make floats of what it gives.",
    ),
)
