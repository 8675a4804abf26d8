"""Exercises 8.2 and 8.3: how long a training takes, and what it costs."""

import math

from utils.check.engine import Exercise, Verdict, by_cases, judge

DAY = 24 * 60 * 60  # seconds


def _day_cases():
    return [
        (86_400, 10, 6),
        (86_400, 10, 6, 4),
        (1e9, 2e9, 1e14, 3),
        (124e6, 10e9, 150e12),
        (174.6e9, 300e9, 28e12, 1_000),
    ]


def _days(N, D, speed, gpus=1, operations=6):
    return operations * N * D / speed / gpus / DAY


def _without_gpus(N, D, speed):
    return _days(N, D, speed)


def _without_default(N, D, speed, gpus):
    return _days(N, D, speed, gpus)


_FACTORS = (  # what the rule has in place of 6
    ("2 N for each token is the forward pass alone; the backward pass costs twice as much again.", 2),
    ("4 N for each token is the backward pass alone; the forward pass comes first.", 4),
    ("one operation is counted for each parameter and token; training takes several.", 1),
    ("3 N for each token counts multiplications alone; each comes with an addition.", 3),
)


def _of_speeds(result):
    """The mistakes with the unit of the speed, the third input of `result`."""
    for unit, size in (("GFLOP/s", "1e9"), ("TFLOP/s", "1e12"), ("PFLOP/s", "1e15")):
        by = float(size)
        yield (
            f"the speed is taken for {unit}, and so multiplied by {size}; it comes in FLOP/s.",
            lambda N, D, speed, *rest, by=by: result(N, D, speed * by, *rest),
        )
        yield (
            f"the speed is divided by {size}, to {unit}; the work is in FLOPs, so leave it in FLOP/s.",
            lambda N, D, speed, *rest, by=by: result(N, D, speed / by, *rest),
        )


DAYS = Exercise(
    number="8.2",
    target="An example: 1,000 parameters, 172,800 tokens and 12,000 FLOP/s give 1 day; 2 such GPUs half of it.",
    probe=by_cases(
        _day_cases,
        right=_days,
        mistakes=(
            *((text, lambda *case, k=k: _days(*case, operations=k)) for text, k in _FACTORS),
            *_of_speeds(_days),
            (
                "`/ 24 * 60 * 60` divides by 24 and then multiplies: put what divides in brackets.",
                lambda *case: _days(*case) * DAY / 24 * 60 * 60,
            ),
            (
                "`/ 60 * 60 * 24` divides by 60 and then multiplies: put what divides in brackets.",
                lambda *case: _days(*case) * DAY * 24,
            ),
            ("the hours are multiplied by 24; to come from hours to days, divide.", lambda *case: _days(*case) * 24**2),
            ("this is in months; days are wanted.", lambda *case: _days(*case) / 30),
            (
                "the tokens are taken for 20 for each parameter; their number is given.",
                lambda N, D, *case: _days(N, 20 * N, *case),
            ),
            (
                "8 N for each token counts a second forward pass; the rule has 6.",
                lambda *case: _days(*case, operations=8),
            ),
            *(
                (f"this is in {unit}; days are wanted.", lambda *case, size=size: _days(*case) * size)
                for unit, size in (("seconds", DAY), ("minutes", 24 * 60), ("hours", 24), ("years", 1 / 365))
            ),
            ("this is in weeks; days are wanted.", lambda *case: _days(*case) / 7),
            ("it is divided by minutes: a day has 60 times as many seconds.", lambda *case: _days(*case) * 60),
            ("the hours are divided by 12; a day has twice as many.", lambda *case: _days(*case) * 2),
            (
                "the GPUs make it longer: it is multiplied by their number.",
                lambda N, D, speed, gpus=1: _days(N, D, speed) * gpus,
            ),
            ("`n_gpus` is not used; several GPUs share the work.", lambda N, D, speed, gpus=1: _days(N, D, speed)),
            ("your function has no `n_gpus`; it is called with three inputs and with four.", _without_gpus),
            ("`n_gpus` may be left out: give it 1 as its default.", _without_default),
            ("it is divided by the number of GPUs twice.", lambda N, D, speed, gpus=1: _days(N, D, speed, gpus**2)),
            (
                "it is multiplied by the speed; a faster GPU takes less time.",
                lambda N, D, speed, gpus=1: 6 * N * D * speed / gpus / DAY,
            ),
            (
                "these are the FLOPs; divide by how many are done in a second.",
                lambda N, D, speed, gpus=1: 6 * N * D,
            ),
            (
                "the speed is not used; it says how many FLOPs are done in a second.",
                lambda N, D, speed, gpus=1: 6 * N * D / gpus / DAY,
            ),
            (
                "it is multiplied by the seconds of a day; to come from seconds to days, divide.",
                lambda *case: _days(*case) * DAY * DAY,
            ),
            (
                "the quotient is upside down: work divided by speed is time.",
                lambda *case: 1 / (_days(*case) * DAY) / DAY,
            ),
            ("the quotient is upside down: work divided by speed is time.", lambda *case: 1 / _days(*case)),
            (
                "parameters and tokens are added; each token passes each parameter.",
                lambda N, *case: _days(N + case[0], 1, *case[1:]),
            ),
            ("the tokens are not used; each costs 6 N.", lambda N, D, *case: _days(N, 1, *case)),
            ("the parameters are not used; each token costs 6 N.", lambda N, D, *case: _days(1, D, *case)),
            ("the days are rounded down; leave the fraction, 0.4 days are not none.", lambda *case: _days(*case) // 1),
            ("the days are rounded; leave the fraction.", lambda *case: round(_days(*case))),
            ("the days are rounded up; leave the fraction.", lambda *case: math.ceil(_days(*case))),
        ),
    ),
    meaning="the work is fixed by model and tokens; what a budget of GPUs decides is how long one waits.",
    hints=(
        "First the work, from the rule for training; then the time in seconds; then the time in days.",
        "Several GPUs together do `n_gpus` times as much in a second as one.",
        "Work divided by speed is seconds. How many seconds has a day?",
    ),
)


def _price_cases():
    return [
        (3_600, 10, 6, 2),
        (1e9, 2e9, 1e14, 1.5),
        (1.558e9, 10e9, 150e12, 2.0),
        (1.558e9, 100e9, 150e12, 0.5),
        (174.6e9, 300e9, 28e12, 1.50),
    ]


def _price(N, D, speed, per_hour, operations=6):
    return operations * N * D / speed / 3600 * per_hour


PRICE = Exercise(
    number="8.3",
    target="An example: 1,000 parameters, 7,200 tokens, 12,000 FLOP/s and a price of 5 an hour give 5.",
    probe=by_cases(
        _price_cases,
        right=_price,
        mistakes=(
            *((text, lambda *case, k=k: _price(*case, operations=k)) for text, k in _FACTORS),
            *_of_speeds(_price),
            (
                "the price is multiplied by 24; it is for an hour, and the work takes so many hours.",
                lambda *case: _price(*case) * 24,
            ),
            (
                "every FLOP is paid; divide by the speed, and by the seconds of an hour.",
                lambda N, D, s, p: 6 * N * D * p,
            ),
            ("the quotient is upside down: work divided by speed is time.", lambda *case: 1 / _price(*case)),
            (
                "the quotient is upside down: work divided by speed is time.",
                lambda N, D, speed, per_hour: speed / (6 * N * D) / 3600 * per_hour,
            ),
            (
                "parameters and tokens are added; each token passes each parameter.",
                lambda N, D, *case: _price(N + D, 1, *case),
            ),
            (
                "the tokens are taken for 20 for each parameter; their number is given.",
                lambda N, D, *case: _price(N, 20 * N, *case),
            ),
            ("the price is rounded up; leave its fraction.", lambda *case: math.ceil(_price(*case))),
            (
                "every second is paid with the price of an hour; an hour has 3,600 of them.",
                lambda *case: _price(*case) * 3600,
            ),
            ("every minute is paid with the price of an hour.", lambda *case: _price(*case) * 60),
            ("every day is paid with the price of an hour.", lambda *case: _price(*case) / 24),
            (
                "it is divided by the price; more hours cost more, and so does a more expensive hour.",
                lambda *case: _price(*case) / case[-1] ** 2,
            ),
            ("these are the hours; each has its price.", lambda *case: _price(*case) / case[-1]),
            ("these are the seconds; hours have a price.", lambda *case: _price(*case) / case[-1] * 3600),
            ("these are the days; hours have a price.", lambda *case: _price(*case) / case[-1] / 24),
            (
                "these are the FLOPs; how long do they take, and what does that cost?",
                lambda N, D, speed, per_hour: 6 * N * D,
            ),
            (
                "the speed is not used; it says how many FLOPs are done in a second.",
                lambda N, D, speed, per_hour: _price(N, D, 1, per_hour),
            ),
            (
                "it is multiplied by the speed; a faster GPU takes less time.",
                lambda N, D, speed, per_hour: _price(N, D, 1 / speed, per_hour),
            ),
            (
                "it is multiplied by the seconds of an hour; to come from seconds to hours, divide.",
                lambda *case: _price(*case) * 3600**2,
            ),
            ("the price and the hours are added; they multiply.", lambda *case: _price(*case) / case[-1] + case[-1]),
            ("this is in hundredths; the currency is that of the price.", lambda *case: _price(*case) * 100),
            ("this is in thousands; the currency is that of the price.", lambda *case: _price(*case) / 1e3),
            ("this is in millions; the currency is that of the price.", lambda *case: _price(*case) / 1e6),
            ("the tokens are not used; each costs 6 N.", lambda N, D, *case: _price(N, 1, *case)),
            ("the parameters are not used; each token costs 6 N.", lambda N, D, *case: _price(1, D, *case)),
            (
                "only whole hours are paid; leave the fraction of the last one.",
                lambda *case: _price(*case) / case[-1] // 1 * case[-1],
            ),
            (
                "the last hour is paid in full; leave its fraction.",
                lambda *case: math.ceil(_price(*case) / case[-1]) * case[-1],
            ),
            ("the price is rounded; leave its fraction.", lambda *case: round(_price(*case))),
            ("the price is rounded down; leave its fraction.", lambda *case: _price(*case) // 1),
        ),
    ),
    meaning="a price rests on the work, a sustained speed and a rent; stated without the three, it is a guess.",
    hints=(
        "As in exercise 8.2: work first, then time. This time hours are wanted.",
        "Work divided by speed is seconds, and an hour has 3,600 of them.",
        "Each hour costs the same. With more GPUs it is done sooner and costs the same, so their number is not asked.",
    ),
)


def ex_8_2(answer) -> Verdict:
    """Exercise 8.2: days. answer(n_params, n_tokens, flops_per_second, n_gpus=1) -> days, a float."""
    return judge(DAYS, answer)


def ex_8_3(answer) -> Verdict:
    """Exercise 8.3: the price. answer(n_params, n_tokens, flops_per_second, price_per_hour) -> a float."""
    return judge(PRICE, answer)
