"""Exercise 4.2: temperature. answer(logits (..., V), temperature > 0) -> probabilities (..., V)."""

import torch

from utils.check.cases import Cases
from utils.check.compare import as_array
from utils.check.engine import Exercise


def random_scores(*shape, seed):
    """Scores of this shape, the same for one seed."""
    return 2 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _cases():
    return [
        (torch.tensor([1.0, 3.0]), 2.0),
        (torch.tensor([1.0, 3.0, 2.0]), 1.0),
        (random_scores(2, 3, seed=1), 0.5),
        (random_scores(2, 3, 4, seed=2), 1.5),
        (random_scores(1, 1, 3, seed=3), 0.7),
        (torch.tensor([1.0, 3.0, 2.0]), 0.02),
        (torch.tensor([[1000.0, 1001.0], [0.0, 1.0]]), 1),
        (torch.tensor([0.0, 1e-11], dtype=torch.float64), 1e-11),  # below any limit that one would set
    ]


def probabilities(logits, temperature):
    """logits (..., V), temperature > 0 -> (..., V)."""
    return (logits / temperature).softmax(-1)


def shares(positive):
    """Numbers (..., V) divided by their sum along the last dimension."""
    return positive / positive.sum(-1, keepdim=True)


def _do_not_sum_to_one(result, want):
    given = as_array(result)
    return given is not None and given.shape == want.shape and abs(given.sum(-1) - 1).max() > 1e-3


NO_PROBABILITIES = {
    "the results do not sum to 1 along the last dimension, so they are no probabilities.": _do_not_sum_to_one
}
MISTAKES = {
    "the probabilities are raised to 1 / T, and at a low temperature all such powers round to 0: divide the scores.": (
        lambda x, t: shares(x.softmax(-1) ** (1 / t))
    ),
    "a large score or a small temperature makes the exponential overflow: `softmax` is safe.": (
        lambda x, t: shares((x / t).exp())
    ),
}

EXERCISE = Exercise(
    target="An example: scores [1, 3] and a temperature of 2 give [0.2689, 0.7311].",
    probe=Cases(_cases, right=probabilities, mistakes=MISTAKES, signs=NO_PROBABILITIES),
    meaning="one number turns the same scores from daring (high) to careful (low), and their order never changes.",
    hints=(
        "At a temperature of 2 every difference between two scores counts half.",
        "The scores change first; the probabilities are made of what results.",
        "`softmax` wants to know along which dimension. The vocabulary is the last, -1 however many there are.",
    ),
)
