"""Exercise 8.2: days. answer(n_params, n_tokens, flops_per_second, n_gpus=1) -> days, a float."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

DAY = 24 * 60 * 60  # seconds


def _days(N, D, speed, gpus=1, operations=6):
    return operations * N * D / speed / gpus / DAY


def work_and_speed(result) -> dict:
    """Diagnosis -> mistakes in the rule's 6, the tokens, the unit of speed, for result(N, D, speed, …, operations)."""
    return {
        "training costs 6 N for each token: 2 N forward, 4 N backward, each multiplication with an addition.": tuple(
            lambda *case, k=k: result(*case, operations=k) for k in (2, 3, 4)
        ),
        "the speed is multiplied or divided by 1e9, 1e12 or 1e15; work and speed are in FLOPs, so leave it.": tuple(
            lambda N, D, speed, *case, by=by: result(N, D, speed * by, *case)
            for by in (1e9, 1e12, 1e15, 1e-9, 1e-12, 1e-15)
        ),
    }


EXERCISE = Exercise(
    target="An example: 1,000 parameters, 172,800 tokens and 12,000 FLOP/s give 1 day; 2 such GPUs half of it.",
    probe=Cases(
        lambda: [(86_400, 10, 6), (86_400, 10, 6, 4), (1e9, 2e9, 1e14, 3), (174.6e9, 300e9, 28e12, 1_000)],
        right=_days,
        mistakes=work_and_speed(_days),
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
