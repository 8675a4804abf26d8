"""Exercise 8.4: the best size. answer(flops, tokens_per_param=20) -> (parameters, tokens)."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _best(flops, ratio=20):
    N = math.sqrt(flops / (6 * ratio))
    return N, ratio * N


def _of_size(*sizes):
    """Mistakes in the size N of (C, r), each with the tokens from the ratio and from what the budget leaves."""

    def made(size, tokens):
        return lambda flops, ratio=20: (size(flops, ratio), tokens(flops, size(flops, ratio), ratio))

    both = (lambda C, N, r: r * N, lambda C, N, r: C / (6 * N))
    return tuple(made(size, tokens) for size in sizes for tokens in both)


def _tokens(*rules):
    """Mistakes in the tokens alone, made of (C, N, r)."""

    def made(tokens):
        return lambda flops, ratio=20: (_best(flops, ratio)[0], tokens(flops, _best(flops, ratio)[0], ratio))

    return tuple(map(made, rules))


EXERCISE = Exercise(
    target="An example: 750 FLOPs at 5 tokens per parameter give (5, 25): 6 times 5 times 25 is 750.",
    probe=Cases(
        lambda: [(480, 5), (12_000,), (600, 1), (192, 0.5), (5.76e23,), (3.14e23, 1.7)],
        right=_best,
        mistakes={
            "the root is missing: with D put in, the budget holds N times N.": _of_size(lambda C, r: C / (6 * r)),
            "the root is taken of a part alone: `**` binds more strongly than `/`, so put the whole quotient in "
            "brackets.": _of_size(
                lambda C, r: C / math.sqrt(6 * r),
                lambda C, r: math.sqrt(C) / (6 * r),
                lambda C, r: math.sqrt(C / r) / 6,
                lambda C, r: math.sqrt(C / 6) / r,
            ),
            "the 6 is missing: training costs 6 for each parameter and token.": _of_size(lambda C, r: math.sqrt(C / r)),
            "2 N D, or 4 N D, is a part of the work, forward or backward alone; training costs 6 N D.": _of_size(
                lambda C, r: math.sqrt(C / (2 * r)), lambda C, r: math.sqrt(C / (4 * r))
            ),
            "the budget is shared out as if N and D were added; in the rule they multiply.": _of_size(
                lambda C, r: C / (6 * (r + 1))
            ),
            "the size is that for one token per parameter: `tokens_per_param` divides the budget as well.": _of_size(
                lambda C, r: math.sqrt(C / 6)
            ),
            "`C / 6 * r` multiplies by r: put what divides in brackets.": _of_size(lambda C, r: math.sqrt(C / 6 * r))[
                :1
            ],
            "`tokens_per_param` is not used: this is for 20 tokens per parameter, whatever it says.": (
                lambda C, r=20: _best(C)
            ),
            "the size, or the tokens, are those for 20 tokens per parameter, whatever `tokens_per_param` says.": (
                *_of_size(lambda C, r: math.sqrt(C / 120))[:1],
                *_tokens(lambda C, N, r: 20 * N),
            ),
            "`tokens_per_param` is an input too, which may be left out: it has 20 as its default.": (
                lambda C: _best(C),
                lambda C, r: _best(C, r),
            ),
            "the size is right; each parameter wants `tokens_per_param` tokens, so multiply.": _tokens(
                lambda C, N, r: N, lambda C, N, r: N / r, lambda C, N, r: N + r, lambda C, N, r: r
            ),
            "the size is right; what it leaves of the budget for tokens is C / (6 N).": _tokens(
                lambda C, N, r: C / N, lambda C, N, r: C / (2 * N), lambda C, N, r: r * N * N, lambda C, N, r: C
            ),
            "the two are swapped: the size comes first, then the tokens.": (lambda C, r=20: _best(C, r)[::-1]),
            "this is one of the two; size and tokens are wanted: `return N, D`.": (
                lambda C, r=20: _best(C, r)[0],
                lambda C, r=20: _best(C, r)[1],
            ),
        },
        results=("the parameters", "the tokens"),
    ),
    meaning="size and tokens both grow with the root of the budget: 100 times the work buys 10 times of each.",
    hints=(
        "There are two equations: the rule for the work of training, and D as a multiple of N.",
        "Put the second into the first. Then N is the only unknown, and it appears squared.",
        "When N is known, D follows from it. Check it: the rule has to give the budget back.",
    ),
)
