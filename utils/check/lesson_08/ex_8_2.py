"""Exercise 8.2: days. answer(n_params, n_tokens, flops_per_second, n_gpus=1) -> days, a float."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

DAY = 24 * 60 * 60  # seconds


def _days(N, D, speed, gpus=1):
    return 6 * N * D / speed / gpus / DAY


SIX = "training costs 6 N for each token: 2 N forward, 4 N backward, each multiplication with an addition."


EXERCISE = Exercise(
    target="An example: 1,000 parameters, 172,800 tokens and 12,000 FLOP/s give 1 day; 2 such GPUs half of it.",
    probe=Cases(
        lambda: [
            (86_400, 10, 6),
            (86_400, 10, 6, 4),
            (1e6, 7e6, 1e8),
            (86_400, 30, 6, 3),
            (1e9, 2e9, 1e14, 3),
            (174.6e9, 300e9, 28e12, 1_000),
        ],
        right=_days,
        mistakes={SIX: tuple(lambda *case, k=k: _days(*case) * k / 6 for k in (2, 3, 4))},
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
