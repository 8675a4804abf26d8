"""Exercise 8.3: the price. answer(n_params, n_tokens, flops_per_second, price_per_hour) -> a float."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_08.ex_8_2 import SIX
from utils.check.terms import Terms


def _price(N, D, speed, per_hour):
    return 6 * N * D / speed / 3600 * per_hour


EXERCISE = Exercise(
    target="An example: 1,000 parameters, 7,200 tokens, 12,000 FLOP/s and a price of 5 an hour give 5.",
    probe=Cases(
        lambda: [(3_600, 10, 6, 2), (1e6, 1e6, 1e12, 0.2), (1.558e9, 10e9, 150e12, 2.0), (174.6e9, 300e9, 28e12, 1.5)],
        right=_price,
        mistakes={SIX: tuple(lambda *case, k=k: _price(*case) * k / 6 for k in (2, 3, 4))},
        terms=Terms(
            lambda N, D, speed, per_hour: {
                "the 6 operations for each parameter and token": 6,
                "the parameters": N,
                "the tokens": D,
                "the speed": 1 / speed,
                "the seconds of an hour": 1 / 3600,
                "the price of an hour": per_hour,
            },
            combine=lambda terms: math.prod(terms.values()),
        ),
    ),
    meaning="a price rests on the work, a sustained speed and a rent; stated without the three, it is a guess.",
    hints=(
        "As in exercise 8.2: work first, then time. This time hours are wanted.",
        "Work divided by speed is seconds, and an hour has 3,600 of them.",
        "Each hour costs the same. With more GPUs it is done sooner and costs the same, so their number is not asked.",
    ),
)
