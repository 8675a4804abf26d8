"""Exercise 8.4: the best size. answer(flops, tokens_per_param=20) -> (parameters, tokens)."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _best(flops, ratio=20):
    N = math.sqrt(flops / (6 * ratio))
    return N, ratio * N


def _of_size(*sizes):
    """Mistakes in the size N of (C, r), each with the tokens from the ratio and from what the budget leaves."""
    return tuple(
        lambda C, r=20, size=size, tokens=tokens: (size(C, r), tokens(C, size(C, r), r))
        for size in sizes
        for tokens in (lambda C, N, r: r * N, lambda C, N, r: C / (6 * N))
    )


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
                lambda C, r: math.sqrt(C / 6) / r,
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
