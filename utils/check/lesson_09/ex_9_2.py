"""Exercise 9.2: rotation. answer(x (..., T, d_head), angles (T, d_head / 2)) -> (..., T, d_head)."""

import math

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    small = torch.tensor([[1.0, 2, 3, 4], [1, 2, 3, 4]]), torch.tensor([[0.0, 0], [math.pi / 2, 0]])
    shapes = (3, 2), (3, 6), (2, 2, 4), (4, 4), (2, 3, 5, 4), (1, 3, 1, 8)
    return [small, *((normal(*s, seed=1), 3 * normal(s[-2], s[-1] // 2, seed=2)) for s in shapes)]


def _turned(a, b, angles):
    cos, sin = angles.cos(), angles.sin()
    return a * cos - b * sin, b * cos + a * sin


def _rotated(x, angles, turned=_turned):
    return torch.cat(turned(*x.chunk(2, -1), angles), -1)


def _by(turned):
    return lambda x, angles: _rotated(x, angles, turned)


def _with(angles):
    """The rotation by other angles, made of the right ones."""
    return lambda x, given: _rotated(x, angles(given))


def _woven(a, b):
    return torch.stack([a, b], -1).flatten(-2)


def _neighbours(x, angles):
    return _turned(x[..., ::2], x[..., 1::2], angles)


def _one_after_the_other(a, b, angles):
    a = a * angles.cos() - b * angles.sin()
    return a, b * angles.cos() + a * angles.sin()


def _each_twice(x, angles):
    """Halves, with the angles as neighbouring pairs would need them."""
    cos, sin = (part.repeat_interleave(2, -1) for part in (angles.cos(), angles.sin()))
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


_MISTAKES = {
    "neighbours are turned together, numbers 2 i and 2 i + 1; here number i goes with number i + d_head / 2.": (
        *(lambda x, angles: _woven(*_neighbours(x, angles)), lambda x, angles: torch.cat(_neighbours(x, angles), -1)),
        *(_each_twice, lambda x, angles: _woven(*_neighbours(x, -angles))),
    ),
    "the pairs are turned well, and put back in another order: all first numbers, then all second ones.": (
        *(lambda x, angles: _woven(*_turned(*x.chunk(2, -1), angles)), _by(lambda *case: _turned(*case)[::-1])),
    ),
    "sine and cosine are swapped; an angle of 0 has to leave a pair as it is.": (
        *(_with(lambda angles: math.pi / 2 - angles), _with(lambda angles: angles - math.pi / 2)),
    ),
    "cosine and sine are swapped in one half; with an angle of 0 every number has to stay.": (
        _by(lambda a, b, angles: (_turned(a, b, angles)[0], b * angles.sin() + a * angles.cos())),
        _by(lambda a, b, angles: (a * angles.sin() - b * angles.cos(), _turned(a, b, angles)[1])),
    ),
    "one half is left as it was; both numbers of a pair change.": (
        _by(lambda a, b, angles: (_turned(a, b, angles)[0], b)),
        _by(lambda a, b, angles: (a, _turned(a, b, angles)[1])),
    ),
    "the second half is made of the first as it is after the turn; both are made of the old pair.": (
        _by(_one_after_the_other)
    ),
    "a pair gets longer or shorter here, and a turn keeps its length: one of the two sines has a minus.": (
        _by(lambda a, b, angles: (a * angles.cos() - b * angles.sin(), b * angles.cos() - a * angles.sin())),
        _by(lambda a, b, angles: (a * angles.cos() + b * angles.sin(), b * angles.cos() + a * angles.sin())),
    ),
    "each number is multiplied alone; a turn mixes the two of a pair.": (
        _by(lambda a, b, angles: (a * angles.cos(), b * angles.cos())),
        _by(lambda a, b, angles: (a * angles.cos(), b * angles.sin())),
    ),
}

EXERCISE = Exercise(
    target="An example: x = [[1, 2, 3, 4]] and angles [[π / 2, 0]] give [[-3, 2, 1, 4]].",
    probe=Cases(_cases, right=_rotated, mistakes=_MISTAKES),
    meaning="a turn changes no length, so a position says where a vector points and nothing about how much there is.",
    hints=(
        "Cut x into its first and its second half: number i of each is one pair, with one angle for each token.",
        "Turning (a, b) by an angle gives two numbers, each a sum of a and b, one times the cosine, one the sine.",
        "Make both new halves of the old ones, then join them along the last dimension. Test with an angle of 0.",
    ),
)
