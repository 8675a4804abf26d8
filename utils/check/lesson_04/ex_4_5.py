"""Exercise 4.5: top-p. answer(probs (..., V), p) -> (..., V): the smallest likeliest set that reaches p."""

import math

import torch

from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_2 import random_scores, shares
from utils.check.lesson_04.ex_4_4 import is_a_mask


def _cases():
    return [
        (torch.tensor([0.5, 0.3, 0.2]), 0.6),
        (torch.tensor([0.5, 0.3, 0.2]), 0.4),
        (torch.tensor([0.2, 0.5, 0.3]), 0.6),
        (torch.tensor([0.2, 0.5, 0.3]), 1.0),
        (torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 0.65),
        (torch.tensor([0.04, 0.9, 0.06]), 0.001),
        (torch.tensor([0.25, 0.5, 0.25]), 0.5),
        (torch.tensor([0.6, 0.0, 0.4, 0.0]), 0.7),
        (random_scores(2, 3, 8, seed=3).softmax(-1), 0.8),
    ]


def _back(sorted_values, order):
    return torch.zeros_like(sorted_values).scatter(-1, order, sorted_values)


def _kept(probs, p, descending=True):
    """The probabilities that stay, 0 elsewhere, not yet divided by their sum."""
    ranked, order = probs.sort(descending=descending, stable=True)
    return _back(ranked * (ranked.cumsum(-1) - ranked < p), order)


def _keep_top_p(probs, p):
    return shares(_kept(probs, p))


def _without_the_last(below, first):
    """The tokens whose own sum does not pass p; with `first` the likeliest anyway."""

    def keep(probs, p):
        ranked, order = probs.sort(descending=True, stable=True)
        needed = below(ranked.cumsum(-1), torch.tensor(p))
        needed[..., 0] |= first
        return shares(_back(ranked * needed, order))

    return keep


def _from_sorted(join):
    """Another way back from the sorted order: join(probs, ranked, needed, order)."""

    def keep(probs, p):
        ranked, order = probs.sort(descending=True, stable=True)
        return shares(join(probs, ranked, ranked.cumsum(-1) - ranked < p, order))

    return keep


def _ranked(function):
    """The numbers of a result in order, whichever of several equals has which."""
    return lambda probs, p: torch.as_tensor(as_array(function(probs, p))).sort().values


_MISTAKES = {
    "the token with which the sum reaches p is missing; with it the set first reaches p, so it stays, alone too.": (
        *(_without_the_last(below, first) for below in (torch.le, torch.lt) for first in (False, True)),
    ),
    "what stays does not sum to 1; divide it by its sum.": _kept,
    "a softmax of probabilities flattens them; divide what stays by its sum.": (
        lambda x, p: x.masked_fill(_kept(x, p) == 0, -math.inf).softmax(-1),
        lambda x, p: _kept(x, p).softmax(-1),
    ),
    "single probabilities are compared with p; the rule adds them up, the likeliest first, until they reach p.": (
        lambda x, p: shares(x * (x >= p)),
        lambda x, p: shares(x * (x >= 1 - p)),
    ),
    "the probabilities stand in sorted order; each must go back to the id of its token.": (
        _from_sorted(lambda probs, ranked, needed, order: ranked * needed)
    ),
    "the mask stands in sorted order and the probabilities do not; bring it back to the tokens' ids.": (
        _from_sorted(lambda probs, ranked, needed, order: probs * needed)
    ),
    "what is sorted is brought back the wrong way, as `gather` or the inverse order do: the order says to which "
    "token each sorted rank belongs.": (
        _from_sorted(lambda probs, ranked, needed, order: (ranked * needed).gather(-1, order)),
        _from_sorted(lambda probs, ranked, needed, order: probs * needed.gather(-1, order)),
    ),
    "the sum runs up from the least likely token; start with the likeliest.": lambda x, p: shares(_kept(x, p, False)),
    "the sum runs in the order of the ids; sort first.": lambda x, p: shares(x * (x.cumsum(-1) - x < p)),
}
_TIES = {
    "where probabilities tie at the border, too many of them stay: the smallest set that reaches p takes "
    "as many of the equals as it needs. A threshold cannot part them, their ranks can.": (
        lambda x, p: shares(x * (x >= torch.where(_kept(x, p) > 0, x, 1.0).amin(-1, keepdim=True)))
    ),
}

EXERCISE = Exercise(
    target="An example: probabilities [0.2, 0.5, 0.3] and p = 0.6 give [0, 0.625, 0.375].",
    probe=InTurn(
        Cases(
            _cases,
            right=_keep_top_p,
            mistakes=_MISTAKES,
            signs={
                "this is a mask of which tokens stay; their probabilities are wanted.": is_a_mask,
                "a removed token became -inf; that is for scores, and a probability becomes 0.": (
                    lambda result, want: as_array(result) is not None and (as_array(result) == -math.inf).any()
                ),
            },
        ),
        Cases(
            lambda: [(torch.tensor([0.25, 0.5, 0.25]), 0.6), (torch.tensor([[0.125, 0.125, 0.5, 0.125, 0.125]]), 0.7)],
            right=_keep_top_p,
            mistakes=_TIES,
            view=_ranked,
        ),
    ),
    meaning="where the model is sure, few tokens stay, and where it doubts, many: the set fits itself to the moment.",
    hints=(
        "Sort each row from the likeliest token down, and let `cumsum` add the probabilities up.",
        "A token stays if the tokens before it, without itself, have not reached p. The first one always stays.",
        "`scatter` along the last dimension puts what stays back at the sorted ids; then divide each row by its sum.",
    ),
)
