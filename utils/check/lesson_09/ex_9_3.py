"""Exercise 9.3: distance only. answer(q (d_head,), k (d_head,), distance, theta) -> the score, a number."""

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    small = [(torch.tensor(q), torch.tensor([0.0, 1.0]), m, 100.0) for q, m in (([2.0, 1.0], 0), ([2.0, 0.0], 1))]
    places = (4, 2, 100.0), (4, 3, 10_000.0), (6, 0, 50.0), (6, 7, 10.0), (16, 40, 100_000.0)
    return [*small, *((normal(d, seed=d), normal(d, seed=d) + 1, *rest) for d, *rest in places)]


def _speeds(d_head, theta):
    return theta ** (-2 * torch.arange(d_head // 2) / d_head)


def _pairs(x):
    return torch.complex(*x.chunk(2))


def _neighbours(x):
    return torch.complex(x[::2], x[1::2])


def _score(q, k, distance, theta, speeds=_speeds, pairs=_pairs):
    turn = torch.polar(torch.ones(len(q) // 2), distance * speeds(len(q), theta))
    return (pairs(q) * turn * pairs(k).conj()).real.sum()


def _with(**changes):
    return lambda *case: _score(*case, **changes)


def _power(exponent):
    """The score with speeds of theta ** exponent(numbers of the pairs, d_head)."""
    return _with(speeds=lambda d, theta: theta ** exponent(torch.arange(d // 2), d))


def _at(distance):
    return lambda q, k, given, theta: _score(q, k, distance(given), theta)


_MISTAKES = {
    "the turn goes the wrong way: the query stands after the key, so it is turned further. Turning the key by the "
    "distance instead puts the key after the query.": _at(lambda m: -m),
    "the distance counts twice; turn only one of the two by it, or one by half and the other back by half.": (
        *(_at(lambda m: 2 * m), _at(lambda m: -2 * m)),
    ),
    "the exponent has no minus: pair 0 turns fastest, and each further pair turns slower.": _power(
        lambda i, d: 2 * i / d
    ),
    "the exponent is half of what it should be: -2 i / d_head, so that it ends near -1.": _power(lambda i, d: -i / d),
    "the exponent is twice what it should be: i counts pairs, and `arange(0, d_head, 2)` holds 2 i already.": (
        _power(lambda i, d: -4 * i / d)
    ),
    "neighbours are turned together; as in 9.2, number i goes with number i + d_head / 2.": _with(pairs=_neighbours),
    "only the cosines count here; a query and a key at right angles meet through the sine.": (
        lambda q, k, m, theta: ((q * k).view(2, -1).sum(0) * (m * _speeds(len(q), theta)).cos()).sum()
    ),
    "every pair turns at one speed; pair i turns by theta ** (-2 i / d_head) a position.": (
        *(_power(lambda i, d: 0 * i), _with(speeds=lambda d, theta: torch.full((d // 2,), theta))),
    ),
    "the exponent belongs to theta alone, with `**`; the distance multiplies what comes of it.": (
        _with(speeds=lambda d, theta: theta * (-2 * torch.arange(d // 2) / d)),
        _with(speeds=lambda d, theta: 1 / (theta * 2 * torch.arange(d // 2) / d)),
        lambda q, k, m, theta: _score(q, k, 1, theta**m),
    ),
}

EXERCISE = Exercise(
    target="An example: q = [1, 0], k = [0, 1], distance 1 and any theta give sin(1) = 0.8415.",
    probe=Cases(_cases, right=_score, mistakes=_MISTAKES),
    meaning="no position is known here, and none is needed: of two positions, a score sees only the distance.",
    hints=(
        "Choose any two positions that are `distance` apart; the simplest key stands at position 0.",
        "The angles of a position are its number times the speeds, one for each of the d_head / 2 pairs.",
        "Turn the query by the angles of `distance` with `rotate(x, cos, sin)`, and leave the key as it is.",
    ),
)
