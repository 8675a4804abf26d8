"""Exercise 6.1: append. answer(store (B, H, n, d_head), length, new (B, H, T, d_head)) -> tokens held now."""

import functools

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _numbers(*shape, start):
    """Different whole numbers, as floats, in the given shape."""
    return torch.arange(start, start + torch.Size(shape).numel()).float().view(shape)


def _cases():
    small = torch.tensor([5.0, 6.0, 0.0, 0.0]).view(1, 1, 4, 1)
    wide = _numbers(2, 3, 6, 2, start=1)  # full of an earlier prompt's numbers
    return [
        (small, 2, torch.tensor([[[[7.0]]]])),
        (small, 1, torch.tensor([[[[7.0], [8.0]]]])),
        (small, 0, torch.tensor([[[[7.0], [8.0], [9.0]]]])),
        (_numbers(3, 1, 4, 1, start=1), 2, -_numbers(3, 1, 1, 1, start=1)),
        (_numbers(1, 3, 4, 1, start=1), 2, -_numbers(1, 3, 1, 1, start=1)),
        (wide, 2, -_numbers(2, 3, 1, 2, start=1)),
        (wide, 1, -_numbers(2, 3, 3, 2, start=1)),
        (wide, 2, -_numbers(2, 3, 4, 2, start=1)),
    ]


def _with_store(answer):
    """The answer as a function of its own store: (store, length, new) -> (what it returns, the store afterwards)."""

    @functools.wraps(answer)
    def appended(store, length, new):
        own = store.clone()
        return answer(own, length, new), own

    return appended


def _append(store, length, new):
    end = length + new.shape[2]
    store[:, :, length:end] = new
    return end


def _writing(start):
    """The right number, and the new tokens written from another one on."""

    def answer(store, length, new):
        first = start(store, length, new)
        store[:, :, first : first + new.shape[2]] = new
        return length + new.shape[2]

    return answer


def _returning(number):
    """The right store, and another result."""

    def answer(store, length, new):
        _append(store, length, new)
        return number(store, length, new)

    return answer


def _counting(dim):
    """The end is counted along another dimension, in the store and in the number."""

    def answer(store, length, new):
        store[:, :, length : length + new.shape[dim]] = new
        return length + new.shape[dim]

    return answer


def _one_token(store, length, new):
    store[:, :, length] = new
    return length + 1


def _along(dim):
    def answer(store, length, new):
        store[(slice(None),) * dim + (slice(length, length + new.shape[2]),)] = new
        return length + new.shape[2]

    return answer


def _filling(change):
    """The right number, and the room of the new tokens changed in another way."""

    def answer(store, length, new):
        change(store[:, :, length : length + new.shape[2]], new)
        return length + new.shape[2]

    return answer


def _to_the_end(store, length, new):
    store[:, :, length:] = new
    return length + new.shape[2]


def _rolling(store, length, new):
    store.copy_(torch.cat([store[:, :, new.shape[2] :], new], 2))
    return length + new.shape[2]


_MISTAKES = {
    "the new tokens are written over those held; the first free one of the store is `length`.": (
        _writing(lambda store, length, new: 0),
        _writing(lambda store, length, new: max(length - 1, 0)),
    ),
    "the new tokens are written at the end of the room; the first free one of the store is `length`.": _writing(
        lambda store, length, new: store.shape[2] - new.shape[2]
    ),
    "one stays empty before the new tokens; counted from 0, the first free one is `length`.": _writing(
        lambda store, length, new: length + 1
    ),
    "the store is as it was: `cat` makes another tensor. Write into a slice of the store.": (
        lambda store, length, new: torch.cat([store[:, :, :length], new], 2)
    ),
    "the number is right and the store is as it was: write into a slice of it.": (
        lambda store, length, new: length + new.shape[2]
    ),
    "this is how many tokens were held before; the new ones count too.": _returning(lambda store, length, new: length),
    "this is how many tokens are new; those held before count too.": _returning(
        lambda store, length, new: new.shape[2]
    ),
    "one token is counted, and `new` may hold several.": _returning(lambda store, length, new: length + 1),
    "this is how many tokens there is room for, and not how many are held.": _returning(lambda s, n, new: s.shape[2]),
    "these are the tokens; how many are held now is wanted, since the store itself is changed in place.": (
        _returning(lambda store, length, new: store),
        _returning(lambda store, length, new: store[:, :, : length + new.shape[2]]),
        _returning(lambda store, length, new: (store, length + new.shape[2])),
    ),
    "another dimension is counted; tokens lie along the third of the four.": (
        *(_returning(lambda s, n, new, dim=dim: n + new.shape[dim]) for dim in (0, 1, 3)),
        *map(_counting, (0, 1, 3)),
        _returning(lambda store, length, new: length + new.numel()),
    ),
    "the slice runs along another dimension; tokens lie along the third of the four.": (
        _along(0),
        _along(1),
        _along(3),
    ),
    "the slice has no end, so it is as long as the room left; it is as long as `new`.": _to_the_end,
    "this is the room of one token, and `new` may hold several: `store[:, :, a:b]` is that of several.": _one_token,
    "only the first new token is written; there may be several.": _filling(
        lambda room, new: room[:, :, 0].copy_(new[:, :, 0])
    ),
    "every new one holds the last new token; each token has its own.": _filling(
        lambda room, new: room.copy_(new[:, :, -1:].expand_as(new))
    ),
    "the new numbers are added to what stands there; write them instead of it.": _filling(torch.Tensor.add_),
    "the tokens held are moved to make room at the end; the store is filled from the left.": _rolling,
}


_IN_STORE = Cases(
    _cases,
    right=_with_store(_append),
    mistakes={
        diagnosis: tuple(map(_with_store, made if isinstance(made, tuple) else (made,)))
        for diagnosis, made in _MISTAKES.items()
    },
    results=("the number of tokens held now", "the store"),
)


class _Probe:
    """The cases, for an answer that changes its store in place."""

    def __call__(self, answer):
        _IN_STORE(_with_store(answer))

    def agrees(self, answer):
        return _IN_STORE.agrees(_with_store(answer))

    def rows(self):
        return ((diagnosis, mistake.__wrapped__) for diagnosis, mistake in _IN_STORE.rows())


EXERCISE = Exercise(
    target="An example: a store with room for 4 tokens of one number each holds 5, 6 (length = 2). "
    "Appending 7 makes it 5, 6, 7, 0, and the result is 3.",
    probe=_Probe(),
    meaning="room is taken once and filled from the left, so a step writes only what is new.",
    hints=(
        "The tokens 0 to length - 1 are there. Where does the first new one go, and where does the last one end?",
        "Tokens lie along the third dimension of both tensors: `new.shape[2]` of them are new.",
        "Assigning to a slice, `store[:, :, a:b] = ...`, writes into the store itself. Return how many it holds now.",
    ),
)
