"""Exercise 9.8: a block of Q4_1. answer(block, 20 bytes) -> its 32 numbers (32,)."""

import numpy as np
import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _cases():
    blocks = [(0.5, -2.0, [1, 2, *[3] * 14], [4, 5, *[6] * 14])]
    draw = np.random.default_rng(9)
    for scale, minimum in (0.0312, -0.2219), (0.0117, -0.0854), (0.2073, -1.43), (0.0251, 0.0178):
        blocks.append((scale, minimum, *draw.integers(0, 16, (2, 16))))
    return [(_packed(*block),) for block in blocks]


def _packed(scale, minimum, low, high):
    halves = np.array(low) + 16 * np.array(high)
    return np.array([scale, minimum], "<f2").tobytes() + halves.astype(np.uint8).tobytes()


def _quants(block, start=4):
    packed = np.frombuffer(block, np.uint8, 16, start)
    return np.concatenate([packed & 15, packed >> 4]).astype(np.float32)


def _head(block, kind="<f2"):
    return np.frombuffer(block, kind, 2).astype(np.float32)


def _as_bfloat16(block):
    return (np.frombuffer(block, "<u2", 2).astype("<u4") << 16).view("<f4")


def _read(block, quants=_quants, head=_head, number=lambda q, scale, minimum: scale * q + minimum):
    return number(quants(block), *head(block))


def _with(**changes):
    return lambda block: _read(block, **changes)


def _number(*ways):
    """The reader with another way from q, scale and minimum to a number, one function for each."""
    return tuple(_with(number=way) for way in ways)


_MISTAKES = {
    "all the low halves come first, numbers 0-15, then all the high ones; here they alternate, or are swapped.": (
        _with(quants=lambda block: np.roll(_quants(block), 16)),
        _with(quants=lambda block: _quants(block).reshape(2, 16).T.ravel()),
        _with(quants=lambda block: _quants(block).reshape(2, 16)[::-1].T.ravel()),
    ),
    "scale and minimum are swapped; the scale comes first.": _with(head=lambda block: _head(block)[::-1]),
    "scale and minimum are read from the wrong end; a file of llama.cpp stores the low byte first.": (
        _with(head=lambda block: _head(block, ">f2"))
    ),
    "scale and minimum are float16; they are read as something else.": (
        *(_with(head=_as_bfloat16), _with(head=lambda block: _head(block, "<i2"))),
        _with(head=lambda block: _head(block, "<f4")),
        *(_with(head=lambda block: _head(block, "<u2")), _with(head=lambda block: np.array([*block[:2]], "<f4"))),
    ),
    "the 4-bit numbers are taken for signed ones; they run from 0 to 15.": (
        _with(quants=lambda block: (_quants(block) + 8) % 16 - 8),
        _with(quants=lambda block: (q := _quants(block)) - 16 * (q > 7) * (np.arange(32) > 15)),
    ),
    "8 is taken from the 4-bit numbers, which is another format, Q4_0; here the minimum says where they start.": (
        *_number(lambda q, scale, _: scale * (q - 8), lambda q, scale, minimum: scale * (q - 8) + minimum),
        # as bytes they start again at 255
        *_number(lambda q, scale, _: scale * ((q - 8) % 256), lambda q, scale, m: scale * ((q - 8) % 256) + m),
    ),
    "the minimum is scaled as well; scale the 4-bit number alone, then add.": _number(
        *(lambda q, scale, minimum: scale * (q + minimum), lambda q, scale, minimum: scale * (q - minimum))
    ),
    "the result has the few digits of float16; make float32 of scale and minimum before you compute.": _number(
        lambda q, scale, minimum: np.float16(scale) * q.astype(np.float16) + np.float16(minimum)
    ),
    "a high half is too large by 16; shift it down, `byte >> 4`.": (
        _with(quants=lambda block: _quants(block) * np.repeat([1, 16], 16))
    ),
    "a whole byte is taken for one of its halves; cut off the other half, with `& 15`.": (
        _with(quants=lambda block: _quants(block) + np.repeat([16, 0], 16) * np.tile(_quants(block)[16:], 2))
    ),
}

EXERCISE = Exercise(
    target='An example: `bytes.fromhex("0028 00b4" + 16 * "2f")` has the scale 0.03125 and the minimum -0.25, and '
    "gives 16 times 0.21875, then 16 times -0.1875.",
    probe=Cases(_cases, right=lambda block: torch.from_numpy(_read(block)), mistakes=_MISTAKES),
    meaning="5 bits stand for each number in place of 32: a block is six times smaller, and each number a little off.",
    hints=(
        "Three parts: two bytes of scale, two of minimum, 16 bytes of 4-bit numbers. Slice them apart.",
        '`np.frombuffer(part, "<f2")` reads float16, and with `np.uint8` whole bytes.',
        "A byte's low half is what is left by `& 15`, its high half comes by `>> 4`. Join all low ones, then all high.",
    ),
)
