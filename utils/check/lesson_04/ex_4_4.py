"""Exercise 4.4: top-k. answer(logits (..., V), k) -> (..., V): all but the k highest are -inf."""

import math

import torch

from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array, same
from utils.check.engine import Exercise


def _cases():
    generator = torch.Generator().manual_seed(1)
    return [
        (torch.tensor([1.0, 3.0]), 1),
        (torch.tensor([1.0, 3.0, 2.0, -1.0]), 2),
        (torch.tensor([2.0, 1.0, 2.0, 2.0]), 2),
        (torch.tensor([1.0, 3.0]), 2),
        (torch.tensor([0.5, 1.0, 1.000001, 1.0]), 1),
        (torch.tensor([1.0, 1.0, 0.9999999]), 2),
        (torch.tensor([[5.0, 4.0, 1.0, 2.0], [-5.0, -4.0, -1.0, -2.0]]), 2),
        (torch.tensor([[1.0, 3.0, 2.0]]), 3),
        (torch.randn(2, 3, 6, generator=generator), 4),
        (torch.randint(5, (2, 50), generator=generator).float(), 20),
        (torch.tensor([-math.inf, 0.0, -math.inf]), 2),
    ]


def _order(values):
    return values.sort(descending=True, stable=True).indices


def _keep_top_k(logits, k, order=_order):
    """The scores at the first k ids that order(logits) gives for each row, -inf at all others."""
    stays = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order(logits)[..., :k], True)
    return logits.masked_fill(~stays, -math.inf)


def _by(order):
    return lambda logits, k: _keep_top_k(logits, k, order)


def is_a_mask(result, want):
    """A sign: the result holds truth values."""
    given = as_array(result)
    return given is not None and given.dtype.kind == "b"


def _is_filled(result, want):
    """A sign: what stays is right, and what is removed has become a number."""
    given, want = as_array(result), as_array(want)
    stays = want > -math.inf
    if given is None or given.shape != want.shape or is_a_mask(result, want) or stays.all():
        return False
    removed = given[~stays]
    return same(given[stays], want[stays]) and bool(((removed == 0) | (removed < -50) & (removed > -math.inf)).all())


_SIGNS = {
    "this is a mask of which scores stay; the scores themselves are wanted.": is_a_mask,
    "what is removed became a number, and even 0 or a low one has a probability; only -inf has none.": _is_filled,
}
_MISTAKES = {
    "where scores tie, more than k stay: a threshold cannot part equals; the lower ids stay.": (
        lambda x, k: x.masked_fill(x < x.sort(descending=True).values[..., k - 1, None], -math.inf)
    ),
    "among equal scores the higher ids stay; take the lower.": lambda x, k: _keep_top_k(x.flip(-1), k).flip(-1),
    "of equal scores not always the lower ids stay: `topk` makes no promise for equals, and a sort "
    "keeps their order only with `stable=True`.": (
        lambda x, k: _keep_top_k(x, k, lambda x: x.topk(k).indices),
        _by(lambda x: x.argsort(descending=True)),
        _by(lambda x: x.argsort().flip(-1)),
    ),
    "these are the k highest scores alone; all V stay, the others as -inf.": lambda x, k: x.sort().values.flip(-1)[
        ..., :k
    ],
    "k scores stay in the whole batch; each row keeps its own.": (
        lambda x, k: _keep_top_k(x.flatten(), k).view(x.shape),
        lambda x, k: x.masked_fill(x < x.flatten().sort().values[-min(k, x.numel())], -math.inf),
    ),
    "the order is read backwards, compared with k or by `gather`: it says which token stands at each "
    "sorted rank, and not which rank a token has.": lambda x, k: x.masked_fill(_order(x) >= k, -math.inf),
}

EXERCISE = Exercise(
    target="An example: scores [2, 1, 2, 2] and k = 2 give [2, -inf, 2, -inf].",
    probe=InTurn(
        Cases(_cases, right=_keep_top_k, mistakes=_MISTAKES, signs=_SIGNS),
        Cases(lambda: [(torch.tensor([1.0, 3.0]), k) for k in (5, 2)], right=_keep_top_k),
    ),
    meaning="a score of -inf becomes a probability of exactly 0, so what is cut is never drawn.",
    hints=(
        "Sort each row from the highest score down. The first k of the sorted ids are the ones that stay.",
        "`sort(descending=True, stable=True)` gives the ids too, equals in order; a slice up to k allows any k.",
        "Start from a row of -inf, and `scatter` puts the kept scores back at their ids along the last dimension.",
    ),
)
