"""Exercise 4.5: top-p. answer(probs (..., V), p) -> (..., V): the smallest likeliest set that reaches p."""

import math

import torch

from utils.check.calling import Unclear, Wrong, call
from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array, brief
from utils.check.engine import Exercise
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
        ((2 * torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(3))).softmax(-1), 0.8),
    ]


def _needed(probs, p):
    """In sorted order, the tokens before which p is not yet reached -> (probs, bool, order)."""
    ranked, order = probs.sort(descending=True, stable=True)
    return ranked, ranked.cumsum(-1) - ranked < p, order


def _back(sorted_values, order):
    return torch.zeros_like(sorted_values).scatter(-1, order, sorted_values)


def _shares(kept):
    return kept / kept.sum(-1, keepdim=True)


def _kept(probs, p):
    """The probabilities that stay, 0 elsewhere, not yet divided by their sum."""
    ranked, needed, order = _needed(probs, p)
    return _back(ranked * needed, order)


def _keep_top_p(probs, p):
    return _shares(_kept(probs, p))


def _without_the_last(below, first):
    """The tokens whose own sum does not pass p; with `first` the likeliest anyway."""

    def keep(probs, p):
        ranked, _, order = _needed(probs, p)
        needed = below(ranked.cumsum(-1), torch.tensor(p))
        needed[..., 0] |= first
        return _shares(_back(ranked * needed, order))

    return keep


def _from_the_least(probs, p):
    ranked, order = probs.sort(stable=True)
    return _shares(_back(ranked * (ranked.cumsum(-1) - ranked < p), order))


def _from_sorted(join):
    """Another way back from the sorted order: join(probs, ranked, needed, order)."""
    return lambda probs, p: _shares(join(probs, *_needed(probs, p)))


def _require_smallest(function):
    """Wrong if more tokens stay than p needs, where several are equally likely; which of them is free."""
    for probs, p in ((torch.tensor([0.25, 0.5, 0.25]), 0.6), (torch.tensor([[0.125, 0.125, 0.5, 0.125, 0.125]]), 0.7)):
        result, want = call(function, probs, p), _keep_top_p(probs, p)
        given = as_array(result)
        if given is not None and given.shape == want.shape and abs(_ranked(given) - _ranked(want)).max() < 1e-4:
            continue
        shown = f"\n  input   {brief(probs)}, {p}\n  yours   {brief(result)}\n  wanted  {brief(want)}"
        if given is not None and given.shape == want.shape and (given > 0).sum() > (want > 0).sum():
            raise Wrong(
                "where probabilities tie at the border, too many of them stay: the smallest set that reaches p takes "
                f"as many of the equals as it needs. A threshold cannot part them, their ranks can.{shown}"
            )
        raise Unclear("where probabilities tie, the values are not right.", shown)


def _ranked(array):
    return torch.as_tensor(array).double().sort().values


_COMPARED = Cases(
    _cases,
    right=_keep_top_p,
    mistakes={
        "the token with which the sum reaches p is missing; with it the set first reaches p, so it stays, alone too.": (
            *(_without_the_last(below, first) for below in (torch.le, torch.lt) for first in (False, True)),
        ),
        "what stays does not sum to 1; divide it by its sum.": _kept,
        "a softmax of probabilities flattens them; divide what stays by its sum.": (
            lambda x, p: x.masked_fill(_kept(x, p) == 0, -math.inf).softmax(-1),
            lambda x, p: _kept(x, p).softmax(-1),
        ),
        "single probabilities are compared with p; the rule adds them up, the likeliest first, until they reach p.": (
            lambda x, p: _shares(x * (x >= p)),
            lambda x, p: _shares(x * (x > p)),
            lambda x, p: _shares(x * (x >= 1 - p)),
            lambda x, p: _shares(x * (x > 1 - p)),
        ),
        "p is taken as a share of the highest probability; the rule adds probabilities up until they reach p.": (
            lambda x, p: _shares(x * (x >= p * x.amax(-1, keepdim=True)))
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
        "what stays is divided by p; its sum may be more than p, so divide by the sum.": (lambda x, p: _kept(x, p) / p),
        "the sum runs up from the least likely token; start with the likeliest.": (_from_the_least),
        "the sum runs in the order of the ids; sort first, the likeliest in front.": (
            lambda x, p: _shares(x * (x.cumsum(-1) - x < p))
        ),
    },
    signs={
        "this is a mask of which tokens stay; their probabilities are wanted.": is_a_mask,
        "a removed token became -inf; that is for scores, and a probability becomes 0.": (
            lambda result, want: as_array(result) is not None and (as_array(result) == -math.inf).any()
        ),
    },
)

EXERCISE = Exercise(
    target="An example: probabilities [0.2, 0.5, 0.3] and p = 0.6 give [0, 0.625, 0.375].",
    probe=InTurn(_COMPARED, _require_smallest),
    meaning="where the model is sure, few tokens stay, and where it doubts, many: the set fits itself to the moment.",
    hints=(
        "Sort each row from the likeliest token down, and let `cumsum` add the probabilities up.",
        "A token stays if the tokens before it, without itself, have not reached p. The first one always stays.",
        "`scatter` along the last dimension puts what stays back at the sorted ids; then divide each row by its sum.",
    ),
)
