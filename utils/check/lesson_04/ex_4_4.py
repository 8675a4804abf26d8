"""Exercise 4.4: top-k. answer(logits (..., V), k) -> (..., V): all but the k highest are -inf."""

import math

import torch

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _cases():
    return [
        (torch.tensor([1.0, 3.0]), 1),
        (torch.tensor([1.0, 3.0, 2.0, -1.0]), 2),
        (torch.tensor([2.0, 1.0, 2.0, 2.0]), 2),
        (torch.tensor([1.0, 3.0]), 2),
        (torch.tensor([[5.0, 4.0, 1.0, 2.0], [-5.0, -4.0, -1.0, -2.0]]), 2),
        (torch.randn(2, 3, 6, generator=_generator(1)), 4),
        (torch.randint(5, (2, 50), generator=_generator(2)).float(), 20),
        (torch.tensor([-math.inf, 0.0, -math.inf]), 2),
        (torch.tensor([1.0, 3.0]), 5),
    ]


def _order(values):
    return values.sort(descending=True, stable=True).indices


def _only(logits, ids):
    """The scores at some ids of each row, -inf at all others."""
    stays = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, True)
    return logits.masked_fill(~stays, -math.inf)


def _keep_top_k(logits, k):
    return _only(logits, _order(logits)[..., :k])


def _threshold(logits, k, above=torch.ge):
    """By the k-th highest score of each row."""
    lowest = logits.sort(descending=True).values[..., min(k, logits.shape[-1]) - 1, None]
    return logits.masked_fill(~above(logits, lowest), -math.inf)


def _above(logits, k):
    return _threshold(logits, k, torch.gt)


def _limited(function):
    """The same function with an error for a k above V."""

    def limited(logits, k):
        if k > logits.shape[-1]:
            raise IndexError
        return function(logits, k)

    return limited


def _unordered(pick):
    """The scores at the ids that a way of sorting picks, however it treats equals; and the same with a limit to k."""

    def keep(logits, k):
        return _only(logits, pick(logits, min(k, logits.shape[-1])))

    return keep, _limited(keep)


def _sorted(logits, k):
    values = logits.sort(descending=True).values
    return values.masked_fill(torch.arange(values.shape[-1]) >= k, -math.inf)


def _removed(fits):
    """A sign: what stays is right, and what is removed has become something that fits."""

    def is_so(result, want):
        given, wanted = as_array(result), as_array(want)
        if given is None or given.shape != wanted.shape or given.dtype.kind == "b":
            return False
        stays = wanted > -math.inf
        return not stays.all() and same(given[stays], wanted[stays]) and bool(fits(given[~stays]).all())

    return is_so


def is_a_mask(result, want):
    """A sign: the result holds truth values."""
    given = as_array(result)
    return given is not None and given.dtype.kind == "b"


EXERCISE = Exercise(
    target="An example: scores [2, 1, 2, 2] and k = 2 give [2, -inf, 2, -inf].",
    probe=Cases(
        _cases,
        right=_keep_top_k,
        mistakes={
            "where scores tie, more than k stay: a threshold cannot part equals; exactly k stay, the lower ids.": (
                _threshold,
                _limited(_threshold),
            ),
            "the k-th highest score itself is removed; it is one of the k.": (_above, _limited(_above)),
            "a k larger than the vocabulary stops it; then all scores stay.": _limited(_keep_top_k),
            "among equal scores the higher ids stay; the lower ones are wanted.": (
                lambda x, k: _keep_top_k(x.flip(-1), k).flip(-1)
            ),
            "of equal scores not always the lower ids stay: `topk` makes no promise for equals, and a sort "
            "keeps their order only with `stable=True`.": (
                *_unordered(lambda x, k: x.topk(k).indices),
                *_unordered(lambda x, k: x.argsort(descending=True)[..., :k]),
                *_unordered(lambda x, k: x.argsort()[..., x.shape[-1] - k :]),
            ),
            "the scores stand in sorted order; each must stay at the id of its token.": _sorted,
            "these are the k highest scores alone; all V stay, and the others become -inf.": (
                lambda x, k: x.sort(descending=True).values[..., :k]
            ),
            "k scores stay in the whole batch; each row keeps its own k.": (
                lambda x, k: _keep_top_k(x.flatten(), k).view(x.shape)
            ),
            "these are probabilities, or their logarithms; cut the scores as they are, the softmax comes later.": (
                lambda x, k: _keep_top_k(x, k).softmax(-1),
                lambda x, k: _keep_top_k(x.softmax(-1), k),
                lambda x, k: _keep_top_k(x.log_softmax(-1), k),
            ),
            "the order is read backwards, compared with k or by `gather`: it says which token stands at each "
            "sorted rank, and not which rank a token has.": lambda x, k: x.masked_fill(_order(x) >= k, -math.inf),
        },
        signs={
            "this is a mask of which scores stay; the scores themselves are wanted.": is_a_mask,
            "what is removed became 0, and a score of 0 still has a probability; only -inf has none.": (
                _removed(lambda x: x == 0)
            ),
            "what is removed became a low number, and every number has a probability left; -inf has none.": (
                _removed(lambda x: (x < -50) & (x > -math.inf))
            ),
        },
    ),
    meaning="a score of -inf becomes a probability of exactly 0, so what is cut is never drawn.",
    hints=(
        "Sort each row from the highest score down. The first k of the sorted ids are the ones that stay.",
        "`sort(descending=True, stable=True)` gives the ids too, equals in order; a slice up to k allows any k.",
        "Start from a row of -inf, and `scatter` puts the kept scores back at their ids along the last dimension.",
    ),
)
