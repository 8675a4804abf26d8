"""Exercises 6.2 and 6.4: the positions of new tokens, and the bytes of a cache."""

import torch

from utils.check.compare import as_array, same
from utils.check.engine import Exercise, Verdict, by_cases, judge


def _position_cases():
    return [(3, 1), (0, 4), (5, 3), (2, 2), (31, 1), (7, 12)]


def _positions(length, n_new):
    return torch.arange(length, length + n_new)


def _are_floats(result, want):
    given = as_array(result)
    return given is not None and given.dtype.kind == "f" and same(given, want)


POSITIONS = Exercise(
    number="6.2",
    target="An example: with 5 tokens in the cache, the next 3 stand at the positions [5, 6, 7].",
    probe=by_cases(
        _position_cases,
        right=_positions,
        signs=(
            (
                "the positions are right, but as floats; they pick rows of a table, so they are whole numbers.",
                _are_floats,
            ),
        ),
        mistakes=(
            (
                "the positions start at 0; the tokens in the cache come first.",
                lambda length, n_new: torch.arange(n_new),
            ),
            (
                "they start one too high: positions count from 0, so the cache holds 0 to length - 1.",
                lambda length, n_new: _positions(length + 1, n_new),
            ),
            (
                "they start one too low, at the last token that the cache holds.",
                lambda length, n_new: _positions(length - 1, n_new),
            ),
            (
                "this is only the first position, as one number; each new token has one, in a tensor of n_new.",
                lambda length, n_new: length,
            ),
            (
                "this is only the first position; each new token has one.",
                lambda length, n_new: torch.tensor([length]),
            ),
            *(
                (
                    "this is one number above the first position: with `length` tokens in the cache the places 0 to "
                    "length - 1 are taken. And each new token has a position.",
                    answer,
                )
                for answer in (lambda length, n_new: length + 1, lambda length, n_new: [length + 1])
            ),
            *(
                (
                    "this is the last position of the cache, which is taken; and each new token has one.",
                    answer,
                )
                for answer in (lambda length, n_new: length - 1, lambda length, n_new: [length - 1])
            ),
            *(
                (
                    "this is how many tokens there are in the end; a position is wanted for each new one.",
                    answer,
                )
                for answer in (lambda length, n_new: length + n_new, lambda length, n_new: [length + n_new])
            ),
            (
                "this is the last position alone; each new token has one.",
                lambda length, n_new: [length + n_new - 1],
            ),
            (
                "all new tokens get the same position, and it is one too high.",
                lambda length, n_new: torch.full((n_new,), length + 1),
            ),
            (
                "the positions start at 1, without the tokens in the cache, which come first.",
                lambda length, n_new: torch.arange(1, n_new + 1),
            ),
            ("every position is 0; each token has its own.", lambda length, n_new: torch.zeros(n_new)),
            (
                "the two numbers are swapped: `length` tokens are there, and `n_new` come.",
                lambda length, n_new: _positions(n_new, length),
            ),
            (
                "there is an axis too many: the shape is (n_new,).",
                lambda length, n_new: _positions(length, n_new)[:, None],
            ),
            ("all new tokens get the same position.", lambda length, n_new: torch.full((n_new,), length)),
            ("these are the positions of the tokens in the cache.", lambda length, n_new: torch.arange(length)),
            (
                "these are all positions; only those of the new tokens are wanted.",
                lambda length, n_new: torch.arange(length + n_new),
            ),
            (
                "the end is taken for a number of tokens: `arange` stops before its second argument.",
                lambda length, n_new: torch.arange(length, n_new),
            ),
            (
                "there is one position too many: `arange` stops before its second argument.",
                lambda length, n_new: _positions(length, n_new + 1),
            ),
            (
                "the last position is missing: `arange` stops before its second argument.",
                lambda length, n_new: _positions(length, n_new - 1),
            ),
            (
                "there is an axis too many: one row of positions serves every sequence, in the shape (n_new,).",
                lambda length, n_new: _positions(length, n_new)[None],
            ),
            (
                "they run backwards: the first new token comes first.",
                lambda length, n_new: _positions(length, n_new).flip(0),
            ),
        ),
    ),
    meaning="a token's position is how many tokens came before it, whether they are read again or kept in a cache.",
    hints=(
        "The tokens in the cache have the positions 0, 1, 2 and so on. Which is the next free number?",
        "There are n_new positions, one after another.",
        "`torch.arange(a, b)` counts from a up to b, and b itself is left out.",
    ),
)


def _byte_cases():
    return [
        (2, 64, 32, 1, 4),
        (3, 5, 7, 2, 4),
        (12, 768, 1024, 1, 4),
        (96, 12_288, 1, 1, 2),
        (2, 10, 3, 5, 2),
    ]


def _cache_bytes(n_layer, n_embd, n_tokens, batch_size, bytes_per_number):
    return 2 * n_layer * n_embd * n_tokens * batch_size * bytes_per_number


BYTES = Exercise(
    number="6.4",
    target="An example: 2 layers of width 64, 32 tokens, a batch of 1 and 4 bytes a number give 32768 bytes.",
    probe=by_cases(
        _byte_cases,
        right=_cache_bytes,
        mistakes=(
            (
                "this is half of it: keys and values are kept, both.",
                lambda L, d, n, B, b: L * d * n * B * b,
            ),
            (
                "this is half as much again: queries are not kept, only keys and values.",
                lambda L, d, n, B, b: 3 * L * d * n * B * b,
            ),
            (
                "this is the cache of one layer; each layer keeps its own.",
                lambda L, d, n, B, b: 2 * d * n * B * b,
            ),
            (
                "this is the cache of one sequence; each sequence of the batch has its own.",
                lambda L, d, n, B, b: 2 * L * d * n * b,
            ),
            (
                "these are the bytes of one token; every token kept has its own.",
                lambda L, d, n, B, b: 2 * L * d * B * b,
            ),
            (
                "this is how many numbers are kept, and each takes several bytes.",
                lambda L, d, n, B, b: 2 * L * d * n * B,
            ),
            (
                "the width is missing: a key is a vector of `n_embd` numbers.",
                lambda L, d, n, B, b: 2 * L * n * B * b,
            ),
            (
                "these are bits: bytes_per_number counts bytes already.",
                lambda L, d, n, B, b: 8 * _cache_bytes(L, d, n, B, b),
            ),
            (
                "the width is squared, as in a weight matrix; a key is one vector of `n_embd` numbers.",
                lambda L, d, n, B, b: d * _cache_bytes(L, d, n, B, b),
            ),
            (
                "the number of tokens is squared, as in the attention weights; those are not kept.",
                lambda L, d, n, B, b: n * _cache_bytes(L, d, n, B, b),
            ),
            (
                "4 bytes are taken for every number; bytes_per_number says how many.",
                lambda L, d, n, B, b: _cache_bytes(L, d, n, B, 4),
            ),
            *(
                (
                    f"these are {unit}; bytes are wanted.",
                    lambda L, d, n, B, b, size=size: _cache_bytes(L, d, n, B, b) / size,
                )
                for unit, size in (
                    ("kilobytes", 1000),
                    ("kibibytes", 1024),
                    ("megabytes", 1e6),
                    ("mebibytes", 2**20),
                    ("gigabytes", 1e9),
                    ("gibibytes", 2**30),
                )
            ),
            (
                "this is twice the cache: a key and a value are kept for each token and layer, two vectors in all.",
                lambda *sizes: 2 * _cache_bytes(*sizes),
            ),
            (
                "2 bytes are taken for every number; bytes_per_number says how many.",
                lambda L, d, n, B, b: _cache_bytes(L, d, n, B, 2),
            ),
            (
                "it is divided by bytes_per_number; each number takes so many bytes, so multiply.",
                lambda L, d, n, B, b: 2 * L * d * n * B / b,
            ),
            (
                "these are the weights of the blocks; a cache holds keys and values, of the width d each.",
                lambda L, d, n, B, b: 12 * L * d * d * b,
            ),
            (
                "these are half the bytes of one sequence: values are kept as well, for each sequence.",
                lambda L, d, n, B, b: L * d * n * b,
            ),
            (
                "this is how many numbers the keys hold; values are kept as well, and each number takes some bytes.",
                lambda L, d, n, B, b: L * d * n * B,
            ),
            (
                "these are the attention weights, a square of tokens; they are not kept, keys and values are.",
                lambda L, d, n, B, b: 2 * L * n * n * B * b,
            ),
            ("the sizes are added; they multiply.", lambda L, d, n, B, b: L + d + n + B + b),
            ("the sizes are added; they multiply.", lambda L, d, n, B, b: 2 * (L + d + n + B + b)),
        ),
    ),
    meaning="the cache grows with every token of every sequence, so in long contexts it outgrows the weights.",
    hints=(
        "How many numbers does one layer keep for one token? It keeps two vectors of the width.",
        "Every layer does so, for every token of every sequence.",
        "That counts numbers. Each of them takes some bytes.",
    ),
)


def ex_6_2(answer) -> Verdict:
    """Exercise 6.2: positions. answer(length, n_new) -> (n_new,), whole numbers."""
    return judge(POSITIONS, answer)


def ex_6_4(answer) -> Verdict:
    """Exercise 6.4: bytes. answer(n_layer, n_embd, n_tokens, batch_size, bytes_per_number) -> int."""
    return judge(BYTES, answer)
