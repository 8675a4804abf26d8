"""Exercises 3.4 and 3.5: the widest model that a budget allows, and the bytes that its training takes."""

import math

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.counting import gpt_params


def _budget_cases():
    return [
        (460, 10, 4, 1, 2),
        (114_944, 200, 32, 2, 4),  # the course model itself
        (114_943, 200, 32, 2, 4),
        (300_000, 1_000, 64, 3, 6),
        (2_500, 20, 6, 2, 4),
        (9_900, 12, 5, 1, 5),
        (60_000, 300, 90, 2, 1),
    ]


def _widest(budget, V, n, L, H, count=gpt_params):
    d = H
    while count(V, n, d + H, L) <= budget:
        d += H
    return d


def _any_width(budget, V, n, L, H):
    return _widest(budget, V, n, L, 1)


def _root(budget, V, n, L, H):
    """The width, not a whole number, at which the count is the budget."""
    b = V + n + 13 * L + 2
    return (math.sqrt(b * b + 48 * L * budget) - b) / (24 * L)


def _doubled(budget, V, n, L, H):
    d = H
    while gpt_params(V, n, 2 * d, L) <= budget:
        d *= 2
    return d


WIDEST = Exercise(
    number="3.4",
    target="An example: a budget of 400 with V = 10, n = 4, one layer and 2 heads gives the width 4; 6 is too wide.",
    probe=by_cases(
        _budget_cases,
        right=_widest,
        mistakes=(
            (
                "the heads cannot share this width evenly: it must be a multiple of n_head.",
                _any_width,
            ),
            (
                "a model that has exactly the budget is allowed too: at most, not less than.",
                lambda budget, *sizes: _widest(budget - 1, *sizes),
            ),
            (
                "this is the first width that is too wide; the one before it is wanted.",
                lambda *case: _widest(*case) + case[-1],
            ),
            (
                "this is one step too narrow; the next multiple of n_head still fits.",
                lambda *case: _widest(*case) - case[-1],
            ),
            (
                "the width is rounded up to a multiple of n_head, and then it may cost more than the budget.",
                lambda *case: math.ceil(_root(*case) / case[-1]) * case[-1],
            ),
            (
                "the width is rounded up to a multiple of n_head, and then it may cost more than the budget.",
                lambda *case: -(-_any_width(*case) // case[-1]) * case[-1],
            ),
            (
                "the width is rounded to the nearest multiple of n_head; where that is above, it costs too much.",
                lambda *case: round(_root(*case) / case[-1]) * case[-1],
            ),
            (
                "this is one too many: the first whole width above the budget, and no multiple of n_head.",
                lambda *case: _any_width(*case) + 1,
            ),
            (
                "the width is rounded up to a whole number, beyond the budget; it is a multiple of n_head below it.",
                lambda *case: math.ceil(_root(*case)),
            ),
            (
                "the width is rounded to the nearest whole number; it is a multiple of n_head within the budget.",
                lambda *case: round(_root(*case)),
            ),
            (
                "the width is a multiple of n_layer; it is the heads that share it.",
                lambda budget, V, n, L, H: _widest(budget, V, n, L, L),
            ),
            (
                "this is the number of its parameters; the width is wanted.",
                lambda budget, V, n, L, H: gpt_params(V, n, _widest(budget, V, n, L, H), L),
            ),
            (
                "the tables are left out: they cost (V + n) d of the budget.",
                lambda *case: _widest(*case, count=lambda V, n, d, L: gpt_params(V, n, d, L) - (V + n) * d),
            ),
            (
                "only 12 L d² is counted; tables, biases and layer norms take from the budget too.",
                lambda *case: _widest(*case, count=lambda V, n, d, L: 12 * L * d * d),
            ),
            *(
                (
                    f"the {table} table is left out; it takes from the budget too.",
                    lambda *case, rows=rows: _widest(
                        *case, count=lambda V, n, d, L: gpt_params(V, n, d, L) - rows(V, n) * d
                    ),
                )
                for table, rows in (("position", lambda V, n: n), ("token", lambda V, n: V))
            ),
            (
                "biases and layer norms are left out: 13 L d and 2 d numbers of the budget.",
                lambda *case: _widest(*case, count=lambda V, n, d, L: 12 * L * d * d + (V + n) * d),
            ),
            (
                "the token table is counted twice; the model is tied.",
                lambda *case: _widest(*case, count=lambda V, n, d, L: gpt_params(V, n, d, L, tied=False)),
            ),
            (
                "one block is counted; there are n_layer of them.",
                lambda *case: _widest(*case, count=lambda V, n, d, L: gpt_params(V, n, d, 1)),
            ),
            (
                "this is the narrowest width that fits; go on while the budget allows it.",
                lambda budget, V, n, L, H: H,
            ),
            (
                "the width is doubled at each step, which skips most widths; add n_head at each.",
                _doubled,
            ),
            (
                "this is what is left of the budget; the width is wanted.",
                lambda budget, V, n, L, H: budget - gpt_params(V, n, _widest(budget, V, n, L, H), L),
            ),
            (
                "this is the width of one head, or the number of steps; the whole width is wanted.",
                lambda *case: _widest(*case) // case[-1],
            ),
            (
                "this is where the count meets the budget; the width is a multiple of n_head at or below it.",
                _root,
            ),
        ),
    ),
    meaning="the width is what a budget buys: depth and heads are chosen, and the square of the width pays.",
    hints=(
        "Try the multiples of n_head, from the smallest: n_head, 2 n_head, 3 n_head. Which is the last that fits?",
        "A loop does it: as long as the next width is within the budget, take it. Exercise 3.2 counts.",
        "Look at the end: return a width that fits, not the first that does not; equal to the budget still fits.",
    ),
)


def _byte_cases():
    return [(10, 2), (10, 4), (114_944, 4), (124_439_808, 2)]


def _bytes(n, w):
    return n * (2 * w + 8)


BYTES = Exercise(
    number="3.5",
    target="An example: 3 parameters of 4 bytes take 48 bytes while they are trained.",
    probe=by_cases(
        _byte_cases,
        right=_bytes,
        mistakes=(
            (
                "these are the weights alone; there are gradients and two moments beside them.",
                lambda n, w: n * w,
            ),
            (
                "weights and gradients take weight_bytes each, and only one of the two is counted.",
                lambda n, w: n * (w + 8),
            ),
            (
                "AdamW keeps two moments for each parameter, and one is counted.",
                lambda n, w: n * (2 * w + 4),
            ),
            (
                "weights and gradients are there; AdamW's two moments are missing.",
                lambda n, w: n * 2 * w,
            ),
            (
                "the moments are counted in weight_bytes; they stay at 4 bytes each, whatever the weights have.",
                lambda n, w: n * 4 * w,
            ),
            (
                "weights and gradients are counted in 4 bytes; they have weight_bytes each.",
                lambda n, w: n * 16,
            ),
            (
                "the gradients are counted in 4 bytes; they have weight_bytes, as the weights.",
                lambda n, w: n * (w + 12),
            ),
            (
                "a further copy of the weights in 4 bytes is counted; mixed precision keeps one, plain AdamW does not.",
                lambda n, w: n * (2 * w + 12),
            ),
            (
                "three numbers of weight_bytes are counted: a gradient and two moments belong to each weight, and the "
                "moments have 4 bytes.",
                lambda n, w: 3 * n * w,
            ),
            (
                "the moments are counted with 8 bytes each; a float32 has 4.",
                lambda n, w: n * (2 * w + 16),
            ),
            *(
                (
                    "`n_params` multiplies one part alone: put the bytes of one parameter in brackets.",
                    mistake,
                )
                for mistake in (lambda n, w: 2 * n * w + 8, lambda n, w: 2 * w + 8 * n)
            ),
            (
                "these are the moments alone; weights and gradients come with them.",
                lambda n, w: n * 8,
            ),
            (
                "one moment is counted, and only one of weights and gradients.",
                lambda n, w: n * (w + 4),
            ),
            *(
                (f"this is in {unit}; bytes are wanted.", lambda n, w, size=size: _bytes(n, w) / size)
                for unit, size in (
                    ("thousands of bytes", 1e3),
                    ("MB", 1e6),
                    ("GB", 1e9),
                    ("units of 1,024 bytes", 2**10),
                    ("units of 1,048,576 bytes", 2**20),
                    ("units of 1,073,741,824 bytes", 2**30),
                )
            ),
            (
                "these are bits, 8 to a byte.",
                lambda n, w: 8 * _bytes(n, w),
            ),
            (
                "these are the bytes of one parameter; there are `n_params` of them.",
                lambda n, w: 2 * w + 8,
            ),
        ),
    ),
    meaning="training takes four times the room of float32 weights, before a single activation is stored.",
    hints=(
        "Four numbers belong to each parameter while it is trained: itself, its gradient, and two moments.",
        "Two of the four have weight_bytes; the moments have 4 bytes, also beside weights in 2.",
        "Add the bytes of one parameter, then multiply by their number.",
    ),
)


def ex_3_4(answer) -> Verdict:
    """Exercise 3.4: the widest model. answer(budget, vocab_size, n_ctx, n_layer, n_head) -> n_embd, an int."""
    return judge(WIDEST, answer)


def ex_3_5(answer) -> Verdict:
    """Exercise 3.5: bytes while training with AdamW. answer(n_params, weight_bytes) -> int."""
    return judge(BYTES, answer)
