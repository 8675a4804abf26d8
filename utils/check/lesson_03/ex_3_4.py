"""Exercise 3.4: the widest model. answer(budget, vocab_size, n_ctx, n_layer, n_head) -> n_embd, an int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.counting import gpt_params


def _cases():
    exactly = gpt_params(20, 6, 16, 2)
    sizes = (100, 64, 3, 6), (12, 5, 1, 5), (300, 90, 2, 1), (10, 4, 1, 400)
    random = [(b, *s) for b, s in zip((24_000, 9_900, 60_000, 70_000_000), sizes, strict=True)]
    return [(460, 10, 4, 1, 2), (exactly, 20, 6, 2, 4), (exactly - 1, 20, 6, 2, 4), *random]


def _widest(budget, V, n, L, H, wider=lambda d, H: d + H):
    d = H
    while gpt_params(V, n, wider(d, H), L) <= budget:
        d = wider(d, H)
    return d


_MISTAKES = {
    "the heads cannot share this width evenly: it must be a multiple of n_head.": (lambda *a: _widest(*a[:-1], 1)),
    "the first width that is too wide is taken; take the one before it.": (lambda *a: _widest(*a) + a[-1]),
    "the width doubles, and leaps over most multiples of n_head.": lambda *a: _widest(*a, wider=lambda d, H: 2 * d),
    "this is the count; return the width that it belongs to.": lambda b, *a: gpt_params(*a[:2], _widest(b, *a), a[2]),
    "the search ends at a width of its own; go on until the budget is reached.": tuple(
        lambda *a, end=end: min(_widest(*a), end // a[-1] * a[-1]) for end in (999, 1_024, 2_000)
    ),
}

EXERCISE = Exercise(
    target="An example: a budget of 400 with V = 10, n = 4, one layer and 2 heads gives the width 4; 6 is too wide.",
    probe=Cases(_cases, right=_widest, mistakes=_MISTAKES),
    meaning="the width is what a budget buys: depth and heads are chosen, and the square of the width pays.",
    hints=(
        "Try the multiples of n_head, from the smallest: n_head, 2 n_head, 3 n_head. Which is the last that fits?",
        "A loop does it: as long as the next width is within the budget, take it. Exercise 3.2 counts.",
        "Look at the end: return a width that fits, not the first that does not; equal to the budget still fits.",
    ),
)
