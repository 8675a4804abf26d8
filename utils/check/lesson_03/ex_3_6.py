"""Exercise 3.6: the convention of a stated count. answer(stated, cfg) -> a key of conventions(cfg), or None."""

from fractions import Fraction

from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.counting import GPT2_FAMILY, conventions
from utils.model import GPTConfig


def _cases():
    course = GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)
    of_the_course = 114_944, 113_000, 128_000, 107_000, 118_900, 100_000, 98_000, 1_000_000
    # 164.68 million: within 1 % of itself, and not of the count
    of_small = 124_440_000, 163_000_000, 164_680_000, 123_700_000.0, 117_000_000
    small, largest = ((stated, GPT2_FAMILY["GPT-2 small"]) for stated in of_small), GPT2_FAMILY["GPT-2 XL"]
    return [*((stated, course) for stated in of_the_course), *small, (1_500_000_000, largest)]


def _far(stated, count):
    return abs(stated - count)


def _named(stated, cfg, within=lambda stated, count: _far(stated, count) <= 0.01 * stated, key=_far):
    """The name whose count is the smallest by `key`, if the count is within the bounds."""
    counts = conventions(cfg)
    name = min(counts, key=lambda name: key(stated, counts[name]))
    return name if within(stated, counts[name]) else None


def _with(*within, **key):
    """The search with another bound or another distance."""
    return lambda stated, cfg: _named(stated, cfg, *within, **key)


def _within(*bounds):
    return tuple(_with(lambda a, b, bound=bound: _far(a, b) <= bound) for bound in bounds)


def _border():
    """Stated numbers exactly 1 % away, which 0.01 times them hits exactly too."""
    first, second = (GPTConfig(V, n, d, L, n_head=2) for V, n, d, L in ((199, 8, 64, 1), (196, 4, 16, 2)))
    return [(64_000, first), (12_800, second)]


def _either(function):
    """The function of a number or of the same as a Fraction, for which `count / stated - 1` does not round."""
    return lambda stated, cfg: function(stated, cfg) or function(Fraction(stated), cfg)


def _close(stated, cfg):
    return [name for name, count in conventions(cfg).items() if _far(stated, count) <= 0.01 * stated] or [None]


_MISTAKES = {
    "more than 1 % away from all counts the result is None, and not a name.": _with(lambda a, b: True),
    "this is 1 % of the count; the text says 1 % of the stated number.": _with(lambda a, b: _far(a, b) <= 0.01 * b),
    "only an exact number gets its name; stated numbers are rounded, so allow 1 % of them.": _within(0, 1),
    "a fixed distance is allowed; 1 % of a large model is more.": (
        *_within(1_000, 10_000, 100_000, 1_000_000),
        lambda s, cfg: next((n for n, c in conventions(cfg).items() if round(c / 1e6) == round(s / 1e6)), None),
    ),
    "this is a count within 1 %, the first or the last one; another one is nearer.": (
        lambda *case: _close(*case)[0],
        lambda *case: _close(*case)[-1],
    ),
    "a distance has no sign, so take `abs`: a count may be larger than the stated number, or smaller.": (
        *(_with(key=key) for key in (lambda a, b: a - b, lambda a, b: b - a)),
        *(_with(lambda a, b, sign=sign: sign * (a - b) <= 0.01 * a) for sign in (1, -1)),
    ),
    "this is the count; its name is wanted.": lambda s, cfg: (name := _named(s, cfg)) and conventions(cfg)[name],
}
_AT_BORDER = {"exactly 1 % away is not *more than 1 %*, so the name counts.": _with(lambda a, b: _far(a, b) < 0.01 * a)}

EXERCISE = Exercise(
    target="An example: for the course model 128000 gives 'entries of state_dict', and 150000 gives None.",
    probe=InTurn(
        Cases(
            _cases,
            right=_named,
            mistakes=_MISTAKES,
            signs={
                "this is the word None, in quotes; Python's own None stands without them.": (
                    lambda result, want: isinstance(result, str) and str(result) == "None"
                )
            },
        ),
        Cases(_border, right=_named, mistakes=_AT_BORDER, view=_either),
    ),
    meaning="two sources that disagree have often counted the same model, each in its own way.",
    hints=(
        "`conventions(cfg)` is a dict from names to counts. Go through it with `.items()`.",
        "How far is each count from the stated number? A distance has no sign, so take `abs`.",
        "`min` with a `key` finds the nearest name. Then ask once whether its distance is within 1 % of the number.",
    ),
)
