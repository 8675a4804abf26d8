"""Exercise 6.1: append. answer(store (B, H, n, d_head), length, new (B, H, T, d_head)) -> tokens held now."""

import torch

from utils.check.cases import Cases
from utils.check.compare import same
from utils.check.engine import Exercise


def _numbers(*shape):
    """Different whole numbers from 1, as floats, in the given shape."""
    return torch.arange(1, 1 + torch.Size(shape).numel()).float().view(shape)


def _cases():
    small = torch.tensor([5.0, 6.0, 0.0, 0.0]).view(1, 1, 4, 1)
    wide = _numbers(2, 3, 6, 2)  # full of an earlier prompt's numbers
    return [
        (small, 2, torch.tensor([[[[7.0]]]])),
        (small, 0, torch.tensor([[[[7.0], [8.0], [9.0]]]])),
        (_numbers(3, 1, 4, 1), 2, -_numbers(3, 1, 1, 1)),
        (_numbers(1, 3, 4, 1), 2, -_numbers(1, 3, 1, 1)),
        (wide, 2, -_numbers(2, 3, 1, 2)),
        (wide, 1, -_numbers(2, 3, 3, 2)),
        (wide, 2, -_numbers(2, 3, 4, 2)),
    ]


def _with_store(answer):
    """The answer as a function of its own store: (store, length, new) -> (what it returns, the store afterwards)."""

    def appended(store, length, new):
        own = store.clone()
        return answer(own, length, new), own

    return appended


def _append(store, length, new, held=lambda s, n, new: n + new.shape[2]):
    store[:, :, length : length + new.shape[2]] = new
    return held(store, length, new)


EXERCISE = Exercise(
    target="An example: a store with room for 4 tokens of one number each holds 5, 6 (length = 2). "
    "Appending 7 makes it 5, 6, 7, 0, and the result is 3.",
    probe=Cases(
        _cases,
        right=_append,
        view=_with_store,
        results=("the number of tokens held now", "the store"),
        signs={
            "the store is not right: the new tokens stand from `length` on, all of them, and the rest is as it was.": (
                lambda result, want: same(result[0], want[0]) and not same(result[1], want[1])
            )
        },
        mistakes={
            "the number is right and the store is as it was: write into a slice of it; `cat` makes another tensor.": (
                lambda s, n, new: n + new.shape[2]
            ),
            "the store is right and the number is not: those held before count, and each of the new ones.": tuple(
                lambda *case, held=held: _append(*case, held)
                for held in (lambda s, n, new: n + 1, lambda s, n, new: s.shape[2], lambda s, n, new: n + len(new))
            ),
        },
    ),
    meaning="room is taken once and filled from the left, so a step writes only what is new.",
    hints=(
        "The tokens 0 to length - 1 are there. Where does the first new one go, and where does the last one end?",
        "Tokens lie along the third dimension of both tensors: `new.shape[2]` of them are new.",
        "Assigning to a slice, `store[:, :, a:b] = ...`, writes into the store itself. Return how many it holds now.",
    ),
)
