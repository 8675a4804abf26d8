"""Exercise 4.5: top-p."""

import math

import torch

from utils.check.compare import as_array
from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.check.lesson_04.top_k import is_a_mask


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _top_p_cases():
    return [
        (torch.tensor([0.5, 0.3, 0.2]), 0.6),
        (torch.tensor([0.5, 0.3, 0.2]), 0.4),
        (torch.tensor([0.2, 0.5, 0.3]), 0.6),
        (torch.tensor([0.2, 0.5, 0.3]), 1.0),
        (torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 0.65),
        (torch.tensor([0.04, 0.9, 0.06]), 0.001),
        (torch.tensor([0.25, 0.5, 0.25]), 0.5),
        (torch.tensor([0.6, 0.0, 0.4, 0.0]), 0.7),
        ((2 * torch.randn(2, 3, 8, generator=_generator(3))).softmax(-1), 0.8),
    ]


def _needed(probs, p):
    """In sorted order, the tokens before which p is not yet reached -> (bool, order)."""
    ranked, order = probs.sort(descending=True, stable=True)
    return ranked.cumsum(-1) - ranked < p, order


def _placed(needed, order):
    return torch.zeros_like(needed).scatter(-1, order, needed)


def _divided(kept):
    return kept / kept.sum(-1, keepdim=True)


def _shares(probs, mask):
    return _divided(probs * mask)


def _keep_top_p(probs, p):
    return _shares(probs, _placed(*_needed(probs, p)))


def _without_the_last(probs, p, below=torch.le, first=False):
    """The tokens whose own sum does not pass p; with `first` the likeliest anyway."""
    ranked, order = probs.sort(descending=True, stable=True)
    needed = below(ranked.cumsum(-1), torch.tensor(p))
    needed[..., 0] |= first
    return _shares(probs, _placed(needed, order))


def _one_more(probs, p):
    needed, order = _needed(probs, p)
    return _shares(probs, _placed(torch.arange(probs.shape[-1]) <= needed.sum(-1, keepdim=True), order))


def _softmaxed(probs, p):
    return probs.masked_fill(~_placed(*_needed(probs, p)), -math.inf).softmax(-1)


def _in_sorted_order(probs, p):
    return _shares(probs.sort(descending=True).values, _needed(probs, p)[0])


def _sorted(probs, p):
    """What stays, in sorted order, and the order."""
    needed, order = _needed(probs, p)
    return probs.sort(descending=True, stable=True).values * needed, order


def _values_back_to_front(probs, p):
    kept, order = _sorted(probs, p)
    return _divided(kept.gather(-1, order))


def _scattered_unsorted(probs, p):
    needed, order = _needed(probs, p)
    return _divided(torch.zeros_like(probs).scatter(-1, order, probs * needed))


def _mask_on_sorted(probs, p):
    return _shares(probs.sort(descending=True).values, _placed(*_needed(probs, p)))


def _reached_and_on(probs, p):
    ranked, order = probs.sort(descending=True, stable=True)
    return _shares(probs, _placed(ranked.cumsum(-1) - ranked <= p, order))


def _summed_from_row_to_row(axis):
    """The sum of the sorted probabilities along another axis, or through the whole batch."""

    def keep(probs, p):
        ranked, order = probs.sort(descending=True, stable=True)
        total = ranked.flatten().cumsum(0).view(ranked.shape) if axis is None else ranked.cumsum(axis)
        return _shares(probs, _placed(total - ranked < p, order))

    return keep


def _first_rows_set(probs, p):
    first = probs.reshape(-1, probs.shape[-1])[0]
    return _shares(probs, _placed(*_needed(first, p)))


def _least_likely(probs, p):
    ranked, order = probs.sort(stable=True)
    return _shares(probs, _placed(ranked.cumsum(-1) - ranked < p, order))


def _back_to_front(probs, p):
    needed, order = _needed(probs, p)
    return _shares(probs, needed.gather(-1, order))


def _wrong_axis_p(probs, p):
    return _keep_top_p(probs.transpose(0, -1), p).transpose(0, -1)


_CROSSING = "the token with which the sum reaches p is missing; with it the set first reaches p, so it stays."

TOP_P = Exercise(
    number="4.5",
    target="An example: probabilities [0.2, 0.5, 0.3] and p = 0.6 give [0, 0.625, 0.375].",
    probe=by_cases(
        _top_p_cases,
        right=_keep_top_p,
        mistakes=(
            *(
                (
                    f"{_CROSSING} Where it is the only one, nothing is left.",
                    lambda x, p, b=b: _without_the_last(x, p, b),
                )
                for b in (torch.le, torch.lt)
            ),
            *((_CROSSING, lambda x, p, b=b: _without_the_last(x, p, b, first=True)) for b in (torch.le, torch.lt)),
            ("one token too many stays: stop at the one with which the sum reaches p.", _one_more),
            ("what stays does not sum to 1; divide it by its sum.", lambda x, p: x * _placed(*_needed(x, p))),
            ("a softmax of probabilities flattens them; divide what stays by its sum.", _softmaxed),
            (
                "each token with a probability of at least p stays; the rule adds probabilities up until they reach p.",
                lambda x, p: _shares(x, x >= p),
            ),
            (
                "p is compared with single probabilities; the rule adds them up until they reach p.",
                lambda x, p: _shares(x, x >= 1 - p),
            ),
            (
                "p is taken as a share of the highest probability; the rule adds probabilities up until they reach p.",
                lambda x, p: _shares(x, x >= p * x.amax(-1, keepdim=True)),
            ),
            ("the probabilities stand in sorted order; each must go back to the place of its token.", _in_sorted_order),
            (
                "the mask stands in sorted order and the probabilities do not; bring it back to the tokens' places.",
                lambda x, p: _shares(x, _needed(x, p)[0]),
            ),
            (
                "the mask is brought back the wrong way: the order says which token stands at each sorted place.",
                _back_to_front,
            ),
            (
                "the sorted probabilities are brought back the wrong way, as `gather` or the inverse order do: the "
                "order says to which token each sorted place belongs.",
                _values_back_to_front,
            ),
            (
                "what goes to the sorted ids stands in the order of the ids; there the sorted probabilities belong.",
                _scattered_unsorted,
            ),
            (
                "the mask stands in the tokens' places, and the probabilities are still in sorted order.",
                _mask_on_sorted,
            ),
            (
                "a token stays where those before it have just reached p; then p is reached, and the token goes.",
                _reached_and_on,
            ),
            *(
                (
                    "the sum runs on from row to row; each row has a sum of its own, along the last axis.",
                    _summed_from_row_to_row(axis),
                )
                for axis in (None, 0)
            ),
            (
                "all rows together sum to 1; each row is divided by its own sum.",
                lambda x, p: x * _placed(*_needed(x, p)) / (x * _placed(*_needed(x, p))).sum(),
            ),
            (
                "what stays is divided by p; its sum may be more than p, so divide by the sum.",
                lambda x, p: x * _placed(*_needed(x, p)) / p,
            ),
            (
                "only the likeliest token stays; p asks for as many as are needed to reach it.",
                lambda x, p: _shares(x, _placed(torch.arange(x.shape[-1]).expand_as(x) < 1, _needed(x, p)[1])),
            ),
            ("the first row decides for all rows; each has a set of its own.", _first_rows_set),
            ("the sum runs up from the least likely token; start with the likeliest.", _least_likely),
            (
                "the sum runs in the order of the ids; sort first, the likeliest in front.",
                lambda x, p: _shares(x, x.cumsum(-1) - x < p),
            ),
            ("the tail is kept until it reaches 1 - p; the set must reach p.", lambda x, p: _keep_top_p(x, 1 - p)),
            ("the sum runs along the first axis; tokens lie along the last.", _wrong_axis_p),
            ("nothing is removed.", lambda x, p: x),
        ),
        signs=(
            ("this is a mask of which tokens stay; their probabilities are wanted.", is_a_mask),
            (
                "a removed token became -inf; that is for scores, and a probability becomes 0.",
                lambda result, want: as_array(result) is not None and (as_array(result) == -math.inf).any(),
            ),
        ),
    ),
    meaning="where the model is sure, few tokens stay, and where it doubts, many: the set fits itself to the place.",
    hints=(
        "Sort each row from the likeliest token down, and let `cumsum` add the probabilities up.",
        "A token stays if the tokens before it, without itself, have not reached p. The first one always stays.",
        "`scatter` along the last axis puts what stays back at the sorted ids; then divide each row by its sum.",
    ),
)


def ex_4_5(answer) -> Verdict:
    """Exercise 4.5: top-p. answer(probs (..., V), p) -> (..., V): the smallest likeliest set that reaches p."""
    return judge(TOP_P, answer)
