"""Exercise 8.4: the size and the tokens that use a budget of work best."""

import math

from utils.check.engine import Exercise, Verdict, by_cases, judge


def _budget_cases():
    return [(480, 5), (12_000,), (600, 1), (192, 0.5), (5.76e23,), (3.14e23, 1.7)]


def _best(flops, ratio=20, operations=6):
    N = math.sqrt(flops / (operations * ratio))
    return N, ratio * N


def _with(tokens, size=lambda flops, r: _best(flops, r)[0]):
    """A function with another size N, and tokens D made of budget, size and ratio."""

    def made(flops, ratio=20):
        N = size(flops, ratio)
        return N, tokens(flops, N, ratio)

    return made


def _as_stated(flops, N, ratio):
    return ratio * N


def _what_is_left(flops, N, ratio):
    return flops / (6 * N)


def _of_size(size, text):
    """One mistake in the size, with the tokens from the ratio and from what the budget leaves."""
    return tuple((text, _with(tokens, size)) for tokens in (_as_stated, _what_is_left))


_SIZE_MISTAKES = (
    *_of_size(lambda C, r: math.sqrt(C / r), "the 6 is missing: training costs 6 for each parameter and token."),
    *_of_size(
        lambda C, r: math.sqrt(C / (2 * r)), "2 N D is the forward pass alone; training costs three times as much."
    ),
    *_of_size(
        lambda C, r: math.sqrt(C / (4 * r)), "4 N D is the backward pass alone; training costs half as much again."
    ),
    *_of_size(
        lambda C, r: math.sqrt(C / (8 * r)), "8 N D counts a second forward pass; the rule of training is 6 N D."
    ),
    *_of_size(lambda C, r: math.sqrt(C / r) / 6, "the 6 is outside the root; it goes under it."),
    *_of_size(
        lambda C, r: C / (6 * (r + 1)), "the budget is shared out as if N and D were added; in the rule they multiply."
    ),
    *_of_size(lambda C, r: math.sqrt(6 * r * C), "6 and r multiply the budget; they divide it."),
    *_of_size(lambda C, r: (C / (6 * r)) ** 2, "the quotient is squared; N times N is the quotient, so take its root."),
    *_of_size(
        lambda C, r: C / (6 * r),
        "the root is missing: with D put in, the budget holds N times N.",
    ),
    *_of_size(
        lambda C, r: C / math.sqrt(6 * r),
        "the root is taken of 6 r alone: `**` binds more strongly than `/`, so put the whole quotient in brackets.",
    ),
    *_of_size(
        lambda C, r: math.sqrt(C) / (6 * r),
        "the root is taken of the budget alone; what divides it goes under the root too.",
    ),
    *_of_size(
        lambda C, r: math.sqrt(C / 6),
        "the size is that for one token per parameter: `tokens_per_param` divides the budget as well.",
    ),
    *_of_size(
        lambda C, r: math.sqrt(C / 6) / r,
        "`tokens_per_param` is outside the root; it goes under it.",
    ),
    (
        "`C / 6 * r` multiplies by r: put what divides in brackets.",
        _with(_as_stated, lambda C, r: math.sqrt(C / 6 * r)),
    ),
    (
        "the size is that for 20 tokens per parameter, whatever `tokens_per_param` says.",
        _with(_as_stated, lambda C, r: math.sqrt(C / 120)),
    ),
    *_of_size(
        lambda C, r: (C / (6 * r)) ** (1 / 3), "this is a cube root; N stands in the budget twice, not three times."
    ),
)

_TOKEN_MISTAKES = (
    (
        "`tokens_per_param` is not used: this is for 20 tokens per parameter, whatever it says.",
        lambda C, r=20: _best(C),
    ),
    (
        "the size is right, and there are 20 tokens for each parameter, whatever `tokens_per_param` says.",
        _with(lambda C, N, r: 20 * N),
    ),
    ("as many tokens as parameters: each parameter wants `tokens_per_param` of them.", _with(lambda C, N, r: N)),
    (
        "the size is right; the tokens are divided by the ratio, which says how many each parameter wants.",
        _with(lambda C, N, r: N / r),
    ),
    ("the size is right; the tokens are C / N, and the 6 is missing.", _with(lambda C, N, r: C / N)),
    (
        "the size is right; these tokens would do for the forward pass alone, with 2 N D.",
        _with(lambda C, N, r: C / (2 * N)),
    ),
    (
        "the size is right; the ratio is added to it, and it multiplies it.",
        _with(lambda C, N, r: N + r),
    ),
    (
        "this is in billions; plain numbers are wanted.",
        lambda C, r=20: tuple(part / 1e9 for part in _best(C, r)),
    ),
    (
        "the size is right; the tokens are N times D, and D alone is wanted.",
        _with(lambda C, N, r: r * N * N),
    ),
    ("the default of `tokens_per_param` is 1 here; it is 20.", lambda C, r=1: _best(C, r)),
    ("the size comes with the ratio; the tokens are wanted in its place.", _with(lambda C, N, r: r)),
    ("the size comes with the budget; the tokens are wanted in its place.", _with(lambda C, N, r: C)),
    (
        "the two are swapped: the size comes first, then the tokens, `tokens_per_param` of them for each parameter.",
        lambda C, r=20: _best(C, r)[::-1],
    ),
    ("this is the size alone; the tokens are wanted too: `return N, D`.", lambda C, r=20: _best(C, r)[0]),
    ("these are the tokens alone; the size is wanted too: `return N, D`.", lambda C, r=20: _best(C, r)[1]),
    (
        "your function has no `tokens_per_param`; it is called with one input and with two.",
        lambda C: _best(C),
    ),
    ("`tokens_per_param` may be left out: give it 20 as its default.", lambda C, r: _best(C, r)),
)

BEST = Exercise(
    number="8.4",
    target="An example: 750 FLOPs at 5 tokens per parameter give (5, 25): 6 times 5 times 25 is 750.",
    probe=by_cases(_budget_cases, right=_best, mistakes=_TOKEN_MISTAKES + _SIZE_MISTAKES),
    meaning="size and tokens both grow with the root of the budget: 100 times the work buys 10 times of each.",
    hints=(
        "There are two equations: the rule for the work of training, and D as a multiple of N.",
        "Put the second into the first. Then N is the only unknown, and it appears squared.",
        "When N is known, D follows from it. Check it: the rule has to give the budget back.",
    ),
)


def ex_8_4(answer) -> Verdict:
    """Exercise 8.4: the best size. answer(flops, tokens_per_param=20) -> (parameters, tokens)."""
    return judge(BEST, answer)
