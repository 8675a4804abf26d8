"""Exercise 8.2: days. answer(n_params, n_tokens, flops_per_second, n_gpus=1) -> days, a float."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

DAY = 24 * 60 * 60  # seconds


def _cases():
    large = (1e9, 2e9, 1e14, 3), (124e6, 10e9, 150e12), (174.6e9, 300e9, 28e12, 1_000)
    return [(86_400, 10, 6), (86_400, 10, 6, 4), *large]


def _days(N, D, speed, gpus=1, operations=6):
    return operations * N * D / speed / gpus / DAY


def rule(result) -> dict:
    """Diagnosis -> mistake for what stands in place of the rule's 6, of a function with a setting `operations`."""
    return {
        text: lambda *case, k=k: result(*case, operations=k)
        for k, text in (
            (2, "2 N for each token is the forward pass alone; the backward pass costs twice as much again."),
            (4, "4 N for each token is the backward pass alone; the forward pass comes first."),
            (3, "3 N for each token counts multiplications alone; each comes with an addition."),
        )
    }


def speeds(result) -> dict:
    """Diagnosis -> mistakes with the unit of the speed, the third input of a function."""

    def scaled(by):
        return lambda N, D, speed, *rest: result(N, D, speed * by, *rest)

    return {
        "the speed is taken for a number of GFLOP/s, TFLOP/s or PFLOP/s, and so multiplied; it comes in FLOP/s.": tuple(
            map(scaled, (1e9, 1e12, 1e15))
        ),
        "the speed is divided, to GFLOP/s, TFLOP/s or PFLOP/s; the work is in FLOPs, so leave it in FLOP/s.": tuple(
            map(scaled, (1e-9, 1e-12, 1e-15))
        ),
    }


EXERCISE = Exercise(
    target="An example: 1,000 parameters, 172,800 tokens and 12,000 FLOP/s give 1 day; 2 such GPUs half of it.",
    probe=Cases(
        _cases,
        right=_days,
        mistakes={
            **rule(_days),
            **speeds(_days),
            "it is divided by other seconds; a day has 24 times 60 times 60 seconds.": (
                lambda *case: _days(*case) * 24,
                lambda *case: _days(*case) * 24 * 60,
                lambda *case: _days(*case) * 60,
                lambda *case: _days(*case) * 24 / 60,
            ),
            "`/ 24 * 60 * 60` divides by the first number and then multiplies: put what divides in brackets.": (
                lambda *case: _days(*case) * DAY / 24 * 60 * 60,
                lambda *case: _days(*case) * DAY / 60 * 60 * 24,
            ),
            "the tokens are taken for 20 for each parameter; their number is given.": (
                lambda N, D, *case: _days(N, 20 * N, *case)
            ),
            "`n_gpus` is an input too, which may be left out: it has 1 as its default.": (
                lambda N, D, speed: _days(N, D, speed),
                lambda N, D, speed, gpus: _days(N, D, speed, gpus),
            ),
            "the quotient is upside down: work divided by speed is time.": (
                lambda *case: 1 / (_days(*case) * DAY) / DAY,
                lambda *case: 1 / _days(*case),
            ),
            "the days are rounded; leave the fraction, 0.4 days are not none.": (
                lambda *case: _days(*case) // 1,
                lambda *case: round(_days(*case)),
                lambda *case: math.ceil(_days(*case)),
            ),
        },
        terms=Terms(
            lambda N, D, speed, gpus=1: {
                "the 6 operations for each parameter and token": 6,
                "the parameters": N,
                "the tokens": D,
                "the speed": 1 / speed,
                "`n_gpus`, as several share the work": 1 / gpus,
                "the seconds of a day": 1 / DAY,
            },
            combine=lambda terms: math.prod(terms.values()),
        ),
    ),
    meaning="the work is fixed by model and tokens; what a budget of GPUs decides is how long one waits.",
    hints=(
        "First the work, from the rule for training; then the time in seconds; then the time in days.",
        "Several GPUs together do `n_gpus` times as much in a second as one.",
        "Work divided by speed is seconds. How many seconds has a day?",
    ),
)
