"""Exercise 8.4: the best size. answer(flops, tokens_per_param=20) -> (parameters, tokens)."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _best(flops, ratio=20):
    N = math.sqrt(flops / (6 * ratio))
    return N, ratio * N


EXERCISE = Exercise(
    target="An example: 750 FLOPs at 5 tokens per parameter give (5, 25): 6 times 5 times 25 is 750.",
    probe=Cases(
        lambda: [(480, 5), (12_000,), (600, 1), (192, 0.5), (1_000, 7), (5.76e23,), (3.14e23, 1.7)],
        right=_best,
        results=("the parameters", "the tokens"),
    ),
    meaning="size and tokens both grow with the root of the budget: 100 times the work buys 10 times of each.",
    hints=(
        "There are two equations: the rule for the work of training, and D as a multiple of N.",
        "Put the second into the first. Then N is the only unknown, and it appears squared.",
        "When N is known, D follows from it. Check it: the rule has to give the budget back.",
    ),
)
