"""Exercise 4.4: top-k."""

import math

import torch

from utils.check.compare import as_array, same
from utils.check.engine import Exercise, Verdict, by_cases, judge


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _top_k_cases():
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


def _order(values, descending=True):
    return values.sort(descending=descending, stable=True).indices


def _mask(values, order):
    """True at the ids in `order`."""
    return torch.zeros_like(values, dtype=torch.bool).scatter(-1, order, True)


def _without(logits, mask, filling=-math.inf):
    return logits.masked_fill(~mask, filling)


def _keep_top_k(logits, k):
    return _without(logits, _mask(logits, _order(logits)[..., :k]))


def _at_least(logits, k, above=torch.ge):
    """By a threshold, the k-th highest score of each row."""
    threshold = logits.sort(descending=True).values[..., min(k, logits.shape[-1]) - 1, None]
    return _without(logits, above(logits, threshold))


def _limited(function):
    """The same function with an error for a k above V."""

    def limited(logits, k):
        if k > logits.shape[-1]:
            raise IndexError
        return function(logits, k)

    return limited


def _higher_ids(logits, k):
    return _keep_top_k(logits.flip(-1), k).flip(-1)


def _at(ids):
    """The scores at the ids that a way of sorting picks, however it treats equals."""
    return lambda logits, k: _without(logits, _mask(logits, ids(logits, min(k, logits.shape[-1]))))


_UNORDERED = (
    _at(lambda logits, k: logits.topk(k).indices),
    _at(lambda logits, k: logits.argsort(descending=True)[..., :k]),
    _at(lambda logits, k: logits.argsort()[..., logits.shape[-1] - k :]),
)


def _sorted(logits, k):
    values = logits.sort(descending=True).values
    return _without(values, torch.arange(values.shape[-1]) < k)


def _first_rows_ids(logits, k):
    rows = logits.reshape(-1, logits.shape[-1])
    return _without(logits, _mask(rows[0], _order(rows[0])[:k]).expand_as(logits))


def _one_threshold(logits, k):
    return _keep_top_k(logits.flatten(), k).view(logits.shape)


def _wrong_axis(logits, k):
    return _keep_top_k(logits.transpose(0, -1), k).transpose(0, -1)


def _removed(fits):
    """A sign: what stays is right, and what is removed has become something that fits."""

    def is_so(result, want):
        given, wanted = as_array(result), as_array(want)
        if given is None or given.shape != wanted.shape or given.dtype.kind == "b":
            return False
        stays = wanted > -math.inf
        return not stays.all() and same(given[stays], wanted[stays]) and bool(fits(given[~stays]).all())

    return is_so


def _stay(more):
    """A sign: how many scores stay, compared with how many should."""

    def is_so(result, want):
        given, wanted = as_array(result), as_array(want)
        return (
            given is not None
            and given.shape == wanted.shape
            and more((given > -math.inf).sum(), (wanted > -math.inf).sum())
        )

    return is_so


def is_a_mask(result, want):
    """A sign: the result holds truth values."""
    given = as_array(result)
    return given is not None and given.dtype.kind == "b"


TOP_K = Exercise(
    number="4.4",
    target="An example: scores [2, 1, 2, 2] and k = 2 give [2, -inf, 2, -inf].",
    probe=by_cases(
        _top_k_cases,
        right=_keep_top_k,
        mistakes=(
            (
                "where scores tie, more than k stay: a threshold cannot part equals; exactly k stay, the lower ids.",
                _at_least,
            ),
            (
                "where scores tie, more than k stay: a threshold cannot part equals; exactly k stay, the lower ids.",
                _limited(_at_least),
            ),
            ("the k-th highest score itself is removed; it is one of the k.", lambda x, k: _at_least(x, k, torch.gt)),
            (
                "the k-th highest score itself is removed; it is one of the k.",
                _limited(lambda x, k: _at_least(x, k, torch.gt)),
            ),
            ("a k larger than the vocabulary stops it; then all scores stay.", _limited(_keep_top_k)),
            ("among equal scores the higher ids stay; the lower ones are wanted.", _higher_ids),
            *(
                (
                    "of equal scores not always the lower ids stay: `topk` makes no promise for equals, and a sort "
                    "keeps their order only with `stable=True`.",
                    way(unordered),
                )
                for unordered in _UNORDERED
                for way in (lambda function: function, _limited)
            ),
            (
                "the k lowest scores stay; the highest are wanted.",
                lambda x, k: _without(x, _mask(x, _order(x, descending=False)[..., :k])),
            ),
            (
                "the k highest scores are removed; they are those that stay.",
                lambda x, k: _without(x, ~_mask(x, _order(x)[..., :k])),
            ),
            ("k scores are removed; k scores stay.", lambda x, k: _keep_top_k(x, max(x.shape[-1] - k, 0))),
            ("one score too many stays.", lambda x, k: _keep_top_k(x, k + 1)),
            ("the scores stand in sorted order; each must stay in the place of its token.", _sorted),
            (
                "these are the k highest scores alone; all V places stay, and the others become -inf.",
                lambda x, k: x.sort(descending=True).values[..., :k],
            ),
            (
                "these are the ids of the k highest scores; the scores are wanted, in all V places.",
                lambda x, k: _order(x)[..., :k],
            ),
            ("the first row decides for all rows; each keeps its own k.", _first_rows_ids),
            ("k scores stay in the whole batch; each row keeps its own k.", _one_threshold),
            ("the k highest are sought along the first axis; tokens lie along the last.", _wrong_axis),
            (
                "a softmax follows; the scores that stay are wanted as they are.",
                lambda x, k: _keep_top_k(x, k).softmax(-1),
            ),
            (
                "these are probabilities, cut; cut the scores, and the softmax comes later.",
                lambda x, k: _keep_top_k(x.softmax(-1), k),
            ),
            (
                "these are log-probabilities, cut; cut the scores as they are.",
                lambda x, k: _keep_top_k(x.log_softmax(-1), k),
            ),
            (
                "the order is read backwards, compared with k or by `gather`: it says which token stands at each "
                "sorted place, and not which place a token has.",
                lambda x, k: _without(x, _order(x) < k),
            ),
            (
                "the ids are those of the unsorted scores, and the scores stand in sorted order.",
                lambda x, k: _without(x.sort(descending=True).values, _mask(x, _order(x)[..., :k])),
            ),
            (
                "the first k ids stay, whatever their scores are.",
                lambda x, k: _without(x, torch.arange(x.shape[-1]) < k),
            ),
            ("nothing is removed.", lambda x, k: x),
        ),
        signs=(
            ("this is a mask of which scores stay; the scores themselves are wanted.", is_a_mask),
            (
                "what is removed became 0, and a score of 0 still has a probability; only -inf has none.",
                _removed(lambda x: x == 0),
            ),
            (
                "what is removed became a low number, and every number has a probability left; -inf has none.",
                _removed(lambda x: (x < -50) & (x > -math.inf)),
            ),
            ("what is removed became +inf; its sign is minus.", _removed(lambda x: x == math.inf)),
            ("more than k scores stay.", _stay(lambda given, wanted: given > wanted)),
            ("fewer than k scores stay.", _stay(lambda given, wanted: given < wanted)),
        ),
    ),
    meaning="a score of -inf becomes a probability of exactly 0, so what is cut is never drawn.",
    hints=(
        "Sort each row from the highest score down. The first k of the sorted ids are the ones that stay.",
        "`sort(descending=True, stable=True)` gives the ids too, equals in order; a slice up to k allows any k.",
        "Start from a row of -inf, and `scatter` puts the kept scores back at their ids along the last axis.",
    ),
)


def ex_4_4(answer) -> Verdict:
    """Exercise 4.4: top-k. answer(logits (..., V), k) -> (..., V): all but the k highest are -inf."""
    return judge(TOP_K, answer)
