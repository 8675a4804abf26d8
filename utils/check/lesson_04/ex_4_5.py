"""Exercise 4.5: top-p. answer(probs (..., V), p) -> (..., V): the smallest likeliest set that reaches p."""

import math

import torch

from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_2 import random_scores, shares
from utils.check.lesson_04.ex_4_4 import is_a_mask


def _cases():
    likely, mixed = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.5, 0.3])
    return [
        *((likely, 0.6), (likely, 0.4), (mixed, 0.6), (mixed, 1.0)),
        (torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 0.65),
        (torch.tensor([0.04, 0.9, 0.06]), 0.001),
        (torch.tensor([0.25, 0.5, 0.25]), 0.5),
        (torch.tensor([[[0.3, 0.7]]]), 0.8),
        (torch.tensor([0.6, 0.0, 0.4, 0.0]), 0.7),
        (random_scores(2, 3, 8, seed=3).softmax(-1), 0.8),
    ]


def _is_needed(ranked, p):
    return ranked.cumsum(-1) - ranked < p


def _back(probs, ranked, needed, order):
    return torch.zeros_like(ranked).scatter(-1, order, ranked * needed)


def _top_p(probs, p, needs=_is_needed, back=_back, divided=shares):
    """Sort, decide what is needed, bring that back to the tokens' ids, and divide it by its sum."""
    ranked, order = probs.sort(descending=True, stable=True)
    return divided(back(probs, ranked, needs(ranked, p), order))


def _with(**changes):
    return lambda probs, p: _top_p(probs, p, **changes)


def _until(below, first):
    """The tokens whose own sum does not pass p; with `first` the likeliest anyway."""
    return _with(needs=lambda ranked, p: below(ranked.cumsum(-1), p) | (torch.arange(ranked.shape[-1]) < first))


def _stays(probs, p):
    return _top_p(probs, p) > 0


def _ranked(function):
    """The numbers of a result in order, whichever of several equals has which."""
    return lambda probs, p: torch.as_tensor(as_array(function(probs, p))).sort().values


_SIGNS = {
    "this is a mask of which tokens stay; their probabilities are wanted.": is_a_mask,
    "a removed token became -inf; that is for scores, and a probability becomes 0.": (
        lambda result, want: as_array(result) is not None and (as_array(result) == -math.inf).any()
    ),
}
_MISTAKES = {
    "the token with which the sum reaches p is missing; with it the set first reaches p, so it stays, alone too.": (
        *(_until(below, first) for below in (torch.le, torch.lt) for first in (0, 1)),
    ),
    "a softmax of probabilities flattens them; divide what stays by its sum.": (
        lambda x, p: x.masked_fill(~_stays(x, p), -math.inf).softmax(-1),
        _with(divided=lambda kept: kept.softmax(-1)),
    ),
    "single probabilities are compared with p; the rule adds them up, the likeliest first, until they reach p.": (
        *(lambda x, p, least=least: shares(x * (x >= least(p))) for least in (lambda p: p, lambda p: 1 - p)),
        *(lambda x, p, least=least: shares(x * (x > least(p))) for least in (lambda p: p, lambda p: 1 - p)),
    ),
    "what is sorted is brought back the wrong way, as `gather` or the inverse order do: the order says to which "
    "token each sorted rank belongs.": (
        _with(back=lambda x, r, needed, o: (r * needed).gather(-1, o)),
        _with(back=lambda x, r, needed, o: x * needed.gather(-1, o)),
    ),
    "the sum runs in the order of the ids; sort first.": lambda x, p: shares(x * _is_needed(x, p)),
}
_TIES = {
    "where probabilities tie at the border, too many of them stay: the smallest set that reaches p takes "
    "as many of the equals as it needs. A threshold cannot part them, their ranks can.": (
        lambda x, p: shares(x * (x >= torch.where(_stays(x, p), x, 1.0).amin(-1, keepdim=True)))
    )
}


def _tied():
    return [(torch.tensor([0.25, 0.5, 0.25]), 0.6), (torch.tensor([[0.125, 0.125, 0.5, 0.125, 0.125]]), 0.7)]


EXERCISE = Exercise(
    target="An example: probabilities [0.2, 0.5, 0.3] and p = 0.6 give [0, 0.625, 0.375].",
    probe=InTurn(
        Cases(_cases, right=_top_p, mistakes=_MISTAKES, signs=_SIGNS),
        Cases(_tied, right=_top_p, mistakes=_TIES, view=_ranked),
    ),
    meaning="where the model is sure, few tokens stay, and where it doubts, many: the set fits itself to the moment.",
    hints=(
        "Sort each row from the likeliest token down, and let `cumsum` add the probabilities up.",
        "A token stays if the tokens before it, without itself, have not reached p. The first one always stays.",
        "`scatter` along the last dimension puts what stays back at the sorted ids; then divide each row by its sum.",
    ),
)
