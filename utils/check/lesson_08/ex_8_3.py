"""Exercise 8.3: the price. answer(n_params, n_tokens, flops_per_second, price_per_hour) -> a float."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_08.ex_8_2 import rule, speeds
from utils.check.terms import Terms


def _cases():
    return [
        (3_600, 10, 6, 2),
        (1e6, 1e6, 1e12, 0.2),
        (1e9, 2e9, 1e14, 1.5),
        (1.558e9, 10e9, 150e12, 2.0),
        (1.558e9, 100e9, 150e12, 0.5),
        (174.6e9, 300e9, 28e12, 1.50),
    ]


def _price(N, D, speed, per_hour, operations=6):
    return operations * N * D / speed / 3600 * per_hour


EXERCISE = Exercise(
    target="An example: 1,000 parameters, 7,200 tokens, 12,000 FLOP/s and a price of 5 an hour give 5.",
    probe=Cases(
        _cases,
        right=_price,
        mistakes={
            **rule(_price),
            **speeds(_price),
            "every second, minute or day is paid with the price of an hour; an hour has 3,600 seconds.": tuple(
                lambda *case, times=times: _price(*case) * times for times in (3600, 60, 1 / 24)
            ),
            "it is divided by the price; more hours cost more, and so does a more expensive hour.": (
                lambda *case: _price(*case) / case[-1] ** 2
            ),
            "these are the seconds, or the days; hours have a price.": (
                lambda *case: _price(*case) / case[-1] * 3600,
                lambda *case: _price(*case) / case[-1] / 24,
            ),
            "the quotient is upside down: work divided by speed is time.": (
                lambda *case: 1 / _price(*case),
                lambda N, D, speed, per_hour: speed / (6 * N * D) / 3600 * per_hour,
            ),
            "the tokens are taken for 20 for each parameter; their number is given.": (
                lambda N, D, *case: _price(N, 20 * N, *case)
            ),
            "the price, or the hours, are rounded; leave the fraction.": (
                lambda *case: _price(*case) // 1,
                lambda *case: round(_price(*case)),
                lambda *case: math.ceil(_price(*case)),
                lambda *case: _price(*case) / case[-1] // 1 * case[-1],
                lambda *case: round(_price(*case) / case[-1]) * case[-1],
                lambda *case: math.ceil(_price(*case) / case[-1]) * case[-1],
            ),
        },
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
