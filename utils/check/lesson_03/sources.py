"""Exercise 3.6: which convention a model card used."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.counting import GPT2_FAMILY, conventions
from utils.model import GPTConfig

COURSE_MODEL = GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)


def _card_cases():
    small, largest = GPT2_FAMILY["GPT-2 small"], GPT2_FAMILY["GPT-2 XL"]
    of_the_course = (114_944, 113_000, 128_000, 107_000, 118_900, 100_000, 98_000, 1_000_000)
    return [
        *((stated, COURSE_MODEL) for stated in of_the_course),
        (124_440_000, small),
        (163_000_000, small),
        (123_700_000.0, small),
        (117_000_000, small),
        (1_500_000_000, largest),
    ]


def _far(stated, count):
    return abs(stated - count)


def _named(stated, cfg, key=_far, within=lambda stated, count: _far(stated, count) <= 0.01 * count, pick=min):
    """The name whose count is `pick`ed by `key`, if the count is within the bounds."""
    counts = conventions(cfg)
    name = pick(counts, key=lambda name: key(stated, counts[name]))
    return name if within(stated, counts[name]) else None


def _the_first(stated, cfg, turn=list):
    counts = conventions(cfg)
    close = (name for name in turn(counts) if _far(stated, counts[name]) <= 0.01 * counts[name])
    return next(close, None)


def _always(stated, count):
    return True


def _of_the_name(function):
    """`function` of a right answer's name and of all names' counts; None where None is right."""

    def made(stated, cfg):
        name = _named(stated, cfg)
        return None if name is None else function(name, conventions(cfg))

    return made


CONVENTION = Exercise(
    number="3.6",
    target="An example: for the course model 128000 gives 'entries of state_dict', and 150000 gives None.",
    probe=by_cases(
        _card_cases,
        right=_named,
        mistakes=(
            (
                "your function returns None each time; is there a return in it?",
                lambda stated, cfg: None,
            ),
            (
                "this is the first name each time; compare the stated number with every count.",
                lambda stated, cfg: "all unique parameters",
            ),
            (
                "a name comes even if no count is near: more than 1 % away, the result is None.",
                lambda stated, cfg: _named(stated, cfg, within=_always),
            ),
            *(
                (
                    "only an exact number gets its name; stated numbers are rounded, so allow 1 % of the number.",
                    lambda stated, cfg, bound=bound: _named(stated, cfg, within=lambda a, b: _far(a, b) <= bound),
                )
                for bound in (0, 0.01, 1)
            ),
            *(
                (
                    "a fixed distance is allowed; 1 % of a large model is more than 1 % of a small one.",
                    lambda stated, cfg, bound=bound: _named(stated, cfg, within=lambda a, b: _far(a, b) <= bound),
                )
                for bound in (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
            ),
            *(
                (
                    f"{share} % is allowed, and 1 % is 0.01 of the number.",
                    lambda stated, cfg, share=share: _named(
                        stated, cfg, within=lambda a, b: _far(a, b) <= share / 100 * b
                    ),
                )
                for share in (2, 5, 10)
            ),
            (
                "0.1 % is allowed, and 1 % is 0.01 of the number.",
                lambda stated, cfg: _named(stated, cfg, within=lambda a, b: _far(a, b) <= 0.001 * b),
            ),
            (
                "the two results are swapped: a near count has its name, and a far one None.",
                lambda stated, cfg: _named(stated, cfg, within=lambda a, b: _far(a, b) > 0.01 * b),
            ),
            (
                "0.01 % is allowed; 1 % is 0.01 of the number, with nothing more to divide.",
                lambda stated, cfg: _named(stated, cfg, within=lambda a, b: _far(a, b) <= 0.0001 * b),
            ),
            (
                "this is the first count within 1 %; another one is nearer.",
                _the_first,
            ),
            (
                "this is the last count within 1 %; another one is nearer.",
                lambda stated, cfg: _the_first(stated, cfg, turn=reversed),
            ),
            (
                "the distance has a sign, so the largest count always wins; it must not matter which side it is on.",
                lambda stated, cfg: _named(stated, cfg, key=lambda a, b: a - b),
            ),
            (
                "the distance has a sign, so the largest count always wins; it must not matter which side it is on.",
                lambda stated, cfg: _named(stated, cfg, key=lambda a, b: a - b, within=lambda a, b: a - b <= 0.01 * b),
            ),
            (
                "the distance has a sign, so the smallest count always wins; it must not matter which side it is on.",
                lambda stated, cfg: _named(stated, cfg, key=lambda a, b: b - a),
            ),
            (
                "the distance has a sign, so the smallest count always wins; it must not matter which side it is on.",
                lambda stated, cfg: _named(stated, cfg, key=lambda a, b: b - a, within=lambda a, b: b - a <= 0.01 * b),
            ),
            (
                "the 1 % holds for one side only: a stated number may be too large or too small.",
                lambda stated, cfg: _named(stated, cfg, within=lambda a, b: a - b <= 0.01 * b),
            ),
            (
                "the 1 % holds for one side only: a stated number may be too large or too small.",
                lambda stated, cfg: _named(stated, cfg, within=lambda a, b: b - a <= 0.01 * b),
            ),
            (
                "this is the count that is farthest away; the nearest is wanted.",
                lambda stated, cfg: _named(stated, cfg, pick=max, within=_always),
            ),
            (
                "this is the nearest count; its name is wanted.",
                _of_the_name(lambda name, counts: counts[name]),
            ),
            (
                "this is the nearest count, even if it is more than 1 % away; its name, or None, is wanted.",
                lambda stated, cfg: conventions(cfg)[_named(stated, cfg, within=_always)],
            ),
            (
                "this is the number of the name in the list; the name itself is wanted.",
                _of_the_name(lambda name, counts: list(counts).index(name)),
            ),
            (
                "the name and its count come together; the name alone is wanted.",
                _of_the_name(lambda name, counts: (name, counts[name])),
            ),
        ),
        signs=(
            (
                "this is the word None, in quotes; Python's own None stands without them.",
                lambda result, want: isinstance(result, str) and str(result) == "None",
            ),
        ),
    ),
    meaning="two sources that disagree have often counted the same model, each in its own way.",
    hints=(
        "`conventions(cfg)` is a dict from names to counts. Go through it with `.items()`.",
        "How far is each count from the stated number? A distance has no sign, so take `abs`.",
        "`min` with a `key` finds the nearest name. Then ask once whether its distance is within 1 % of the number.",
    ),
)


def ex_3_6(answer) -> Verdict:
    """Exercise 3.6: the convention of a stated count. answer(stated, cfg) -> a key of conventions(cfg), or None."""
    return judge(CONVENTION, answer)
