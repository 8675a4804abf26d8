"""Exercise 3.4: the widest model. answer(budget, vocab_size, n_ctx, n_layer, n_head) -> n_embd, an int."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_03.ex_3_2 import parts
from utils.check.terms import Terms
from utils.counting import gpt_params


def _cases():
    return [
        (460, 10, 4, 1, 2),
        (7_008, 20, 6, 2, 4),  # exactly the count of width 16
        (7_007, 20, 6, 2, 4),
        (24_000, 100, 64, 3, 6),
        (9_900, 12, 5, 1, 5),
        (60_000, 300, 90, 2, 1),
        (70_000_000, 10, 4, 1, 400),
    ]


def _widest(budget, V, n, L, H, count=gpt_params):
    d = H
    while count(V, n, d + H, L) <= budget:
        d += H
    return d


def _any_width(budget, V, n, L, H):
    return _widest(budget, V, n, L, 1)


def _by_ones(budget, V, n, L, H):
    """From n_head on in steps of 1, as long as a whole step would fit."""
    return max(H, _any_width(budget, V, n, L, H) - H + 1)


def _root(budget, V, n, L, H):
    """The width, not a whole number, at which the count is the budget."""
    b = V + n + 13 * L + 2
    return (math.sqrt(b * b + 48 * L * budget) - b) / (24 * L)


def _doubled(budget, V, n, L, H):
    d = H
    while gpt_params(V, n, 2 * d, L) <= budget:
        d *= 2
    return d


def _counting(count):
    """The search with another count of (V, n, d, L)."""
    return lambda *case: _widest(*case, count=count)


def _leaving_out(*names):
    terms = Terms(lambda *sizes: {name: part for name, part in parts(*sizes).items() if name not in names})
    return _counting(terms.count)


def _stopping(limit):
    return lambda *case: min(_widest(*case), (limit - 1) // case[-1] * case[-1])


EXERCISE = Exercise(
    target="An example: a budget of 400 with V = 10, n = 4, one layer and 2 heads gives the width 4; 6 is too wide.",
    probe=Cases(
        _cases,
        right=_widest,
        mistakes={
            "the heads cannot share this width evenly: it must be a multiple of n_head.": (_any_width, _by_ones),
            "a model that has exactly the budget is allowed too: at most, not less than.": (
                lambda budget, *sizes: _widest(budget - 1, *sizes)
            ),
            "this is the first width that is too wide; the one before it is wanted.": (
                lambda *case: _widest(*case) + case[-1]
            ),
            "this is one step too narrow; the next multiple of n_head still fits.": (
                lambda *case: _widest(*case) - case[-1],
                lambda *case: max(_widest(*case) - case[-1], case[-1]),
            ),
            "the width is rounded up, or to the nearest multiple of n_head, and then it may cost more than the budget.": (
                lambda *case: math.ceil(_root(*case) / case[-1]) * case[-1],
                lambda *case: round(_root(*case) / case[-1]) * case[-1],
                lambda *case: -(-_any_width(*case) // case[-1]) * case[-1],
            ),
            "the width is rounded to a whole number; it is a multiple of n_head, at or below what the budget allows.": (
                lambda *case: math.ceil(_root(*case)),
                lambda *case: round(_root(*case)),
                lambda *case: _any_width(*case) + 1,
            ),
            "the width is a multiple of n_layer; it is the heads that share it.": (
                lambda budget, V, n, L, H: _widest(budget, V, n, L, L)
            ),
            "this is where the count meets the budget; the width is a multiple of n_head at or below it.": _root,
            "this is the number of its parameters; the width is wanted.": (
                lambda budget, V, n, L, H: gpt_params(V, n, _widest(budget, V, n, L, H), L)
            ),
            "this is what is left of the budget; the width is wanted.": (
                lambda budget, V, n, L, H: budget - gpt_params(V, n, _widest(budget, V, n, L, H), L)
            ),
            "this is the width of one head, or the number of steps; the whole width is wanted.": (
                lambda *case: _widest(*case) // case[-1]
            ),
            "this is the narrowest width that fits; go on while the budget allows it.": lambda *case: case[-1],
            "the width is doubled at each step, which skips most widths; add n_head at each.": _doubled,
            "the search ends at a width of its own; go on until the budget is reached, however wide that is.": tuple(
                map(_stopping, (1_000, 1_001, 1_024, 2_000, 2_001, 2_048))
            ),
            "only 12 L d² is counted; tables, biases and layer norms take from the budget too.": _counting(
                lambda V, n, d, L: 12 * L * d * d
            ),
            "the token table is counted twice; the model is tied.": _counting(
                lambda V, n, d, L: gpt_params(V, n, d, L, tied=False)
            ),
            "one block is counted; there are n_layer of them.": _counting(lambda V, n, d, L: gpt_params(V, n, d, 1)),
            "the tables are left out: they cost (V + n) d of the budget.": _leaving_out(
                "the token table", "the position table"
            ),
            "biases and layer norms are left out: 13 L d and 2 d numbers of the budget.": _leaving_out(
                "the blocks' biases", "the layer norms in the blocks", "the final layer norm"
            ),
            **{
                f"left out of the count: {name}; it takes from the budget too.": _leaving_out(name)
                for name in ("the token table", "the position table")
            },
        },
    ),
    meaning="the width is what a budget buys: depth and heads are chosen, and the square of the width pays.",
    hints=(
        "Try the multiples of n_head, from the smallest: n_head, 2 n_head, 3 n_head. Which is the last that fits?",
        "A loop does it: as long as the next width is within the budget, take it. Exercise 3.2 counts.",
        "Look at the end: return a width that fits, not the first that does not; equal to the budget still fits.",
    ),
)
