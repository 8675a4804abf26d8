"""Exercise 6.1: append to a cache."""

import torch

from utils.check.compare import same
from utils.check.engine import Exercise, Verdict, by_cases, judge


def _numbers(*shape, start):
    """Different whole numbers, as floats, in the given shape."""
    return torch.arange(start, start + torch.Size(shape).numel()).float().view(shape)


def _append_cases():
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

    def appended(store, length, new):
        own = store.clone()
        return answer(own, length, new), own

    return appended


def _append(store, length, new):
    end = length + new.shape[2]
    store[:, :, length:end] = new
    return end


def _writing(start=lambda store, length, new: length):
    """The right number, and the new tokens written from another place on."""

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


def _along(axis):
    def answer(store, length, new):
        place = [slice(None)] * 4
        place[axis] = slice(length, length + new.shape[2])
        store[tuple(place)] = new
        return length + new.shape[2]

    return answer


def _joined(store, length, new):
    return torch.cat([store[:, :, :length], new], 2)


def _first_row_only(store, length, new):
    return _append(store[:1], length, new[:1])


def _first_token_only(store, length, new):
    store[:, :, length] = new[:, :, 0]
    return length + 1


def _filling(change):
    """The right number, and the places of the new tokens changed in another way."""

    def answer(store, length, new):
        change(store[:, :, length : length + new.shape[2]], new)
        return length + new.shape[2]

    return answer


def _clearing(store, length, new):
    store[:, :, length:] = 0
    return _append(store, length, new)


def _rolling(store, length, new):
    store.copy_(store.roll(-new.shape[2], 2))
    store[:, :, -new.shape[2] :] = new
    return length + new.shape[2]


def _to_the_end(store, length, new):
    store[:, :, length:] = new
    return length + new.shape[2]


_append_by_cases = by_cases(
    _append_cases,
    right=_with_store(_append),
    signs=(
        (
            "your function returns None; the number of tokens held now is wanted.",
            lambda result, want: result[0] is None,
        ),
        (
            "the store is right, and the number of tokens held now is not.",
            lambda result, want: same(result[1], want[1]) and not same(result[0], want[0]),
        ),
        (
            "the number is right, and the store is not.",
            lambda result, want: same(result[0], want[0]) and not same(result[1], want[1]),
        ),
    ),
    mistakes=tuple(
        (diagnosis, _with_store(mistake))
        for diagnosis, mistake in (
            (
                "the new tokens are written from place 0 on, over those held; the first free place is `length`.",
                _writing(lambda store, length, new: 0),
            ),
            (
                "the new tokens are written at the end of the room; the first free place is `length`.",
                _writing(lambda store, length, new: store.shape[2] - new.shape[2]),
            ),
            (
                "the last token held is written over; places count from 0, so the first free one is `length`.",
                _writing(lambda store, length, new: max(length - 1, 0)),
            ),
            (
                "one place stays empty before the new tokens; places count from 0, so the first free one is `length`.",
                _writing(lambda store, length, new: length + 1),
            ),
            ("this is how many tokens were held before; the new ones count too.", _returning(lambda s, n, new: n)),
            (
                "this is how many tokens are new; those held before count too.",
                _returning(lambda s, n, new: new.shape[2]),
            ),
            ("one token is counted, and `new` may hold several.", _returning(lambda s, n, new: n + 1)),
            (
                "this is how many tokens there is room for, and not how many are held.",
                _returning(lambda s, n, new: s.shape[2]),
            ),
            ("the batch is counted; tokens lie along the third axis.", _returning(lambda s, n, new: n + new.shape[0])),
            ("this is the whole store; the number of tokens held now is wanted.", _returning(lambda s, n, new: s)),
            (
                "these are the tokens held now; their number is wanted.",
                _returning(lambda s, n, new: s[:, :, : n + new.shape[2]]),
            ),
            (
                "the store is as it was: `cat` makes another tensor. Write into a slice of the store.",
                _joined,
            ),
            (
                "the number is right and the store is as it was: write into a slice of it.",
                lambda store, length, new: length + new.shape[2],
            ),
            ("the store is as it was, and the number too.", lambda store, length, new: length),
            ("the slice runs along the batch; tokens lie along the third axis.", _along(0)),
            ("the slice runs along the heads; tokens lie along the third axis.", _along(1)),
            ("the slice runs along the width of a head; tokens lie along the third axis.", _along(3)),
            ("only the first row of the batch is written.", _first_row_only),
            ("only the first new token is written; there may be several.", _first_token_only),
            ("the new numbers are added to what stands there; write them in its place.", _filling(torch.Tensor.add_)),
            (
                "only the first head is written; each head has keys of its own.",
                _filling(lambda places, new: places[:, 0].copy_(new[:, 0])),
            ),
            (
                "the new tokens stand in the reverse order.",
                _filling(lambda places, new: places.copy_(new.flip(2))),
            ),
            (
                "every new place holds the last new token; each token has its own.",
                _filling(lambda places, new: places.copy_(new[:, :, -1:].expand_as(new))),
            ),
            (
                "the last new token is not written: a slice stops before its end.",
                _filling(lambda places, new: places[:, :, :-1].copy_(new[:, :, :-1])),
            ),
            ("the free room behind is cleared as well; write what is new, and nothing more.", _clearing),
            ("the tokens held are moved to make room at the end; the store is filled from the left.", _rolling),
            (
                "this is the place of the last token; the number of tokens is one more.",
                _returning(lambda s, n, new: n + new.shape[2] - 1),
            ),
            (
                "this is one too many: the places end at the number less 1.",
                _returning(lambda s, n, new: n + new.shape[2] + 1),
            ),
            ("the heads are counted; tokens lie along the third axis.", _returning(lambda s, n, new: n + new.shape[1])),
            (
                "the width of a head is counted; tokens lie along the third axis.",
                _returning(lambda s, n, new: n + new.shape[3]),
            ),
            (
                "all numbers of `new` are counted; a token has many of them.",
                _returning(lambda s, n, new: n + new.numel()),
            ),
            (
                "the store and the number come together; it is changed in place, so the number alone is wanted.",
                _returning(lambda s, n, new: (s, n + new.shape[2])),
            ),
            ("the slice has no end, so it is as long as the room left; it is as long as `new`.", _to_the_end),
        )
    ),
)

APPEND = Exercise(
    number="6.1",
    target="An example: a store with room for 4 tokens of one number each holds 5, 6 (length = 2). "
    "Appending 7 makes it 5, 6, 7, 0, and the result is 3.",
    probe=lambda answer: _append_by_cases(_with_store(answer)),
    meaning="room is taken once and filled from the left, so a step writes only what is new.",
    hints=(
        "The places 0 to length - 1 are taken. Which are the first free one, and the one after the last new token?",
        "Tokens lie along the third axis of both tensors: `new.shape[2]` of them are new.",
        "Assigning to a slice, `store[:, :, a:b] = ...`, writes into the store itself. Return how many it holds now.",
    ),
)


def ex_6_1(answer) -> Verdict:
    """Exercise 6.1: append. answer(store (B, H, n, d_head), length, new (B, H, T, d_head)) -> tokens held now."""
    return judge(APPEND, answer)
