"""Exercise 7.2: the MLP's width. answer(GPT-2's config.json as a dict) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.pretrained import KNOWN_CONFIGS


def _cases():
    return [
        ({"n_embd": 3},),
        ({"n_embd": 3, "n_inner": None},),
        ({"n_embd": 3, "n_inner": 10},),
        ({"n_embd": 2, "n_inner": 9, "n_layer": 3},),
        ({"n_embd": 5, "n_inner": 7},),
        (KNOWN_CONFIGS["GPT-2 small"],),
        (KNOWN_CONFIGS["GPT-2 small"] | {"n_inner": None},),
    ]


def _mlp_width(config, factor=4):
    given = config.get("n_inner")
    return factor * config["n_embd"] if given is None else given


EXERCISE = Exercise(
    target='An example: `{"n_embd": 2, "n_inner": None}` gives 8, and `{"n_embd": 2, "n_inner": 5}` gives 5.',
    probe=Cases(
        _cases,
        right=_mlp_width,
        mistakes={
            "`n_inner` is missing from this file, and that means the same as null; `config.get` asks for a key that "
            "may not be there.": lambda c: c["n_inner"] or _mlp_width(c),
            "null comes through: `get` takes its second argument for a missing key, not for one that is None.": (
                lambda c: c.get("n_inner", 4 * c["n_embd"])
            ),
            "`n_inner` is returned as it stands, and there it says nothing; then the width follows from `n_embd`.": (
                lambda c: c.get("n_inner"),
                lambda c: c["n_inner"],
            ),
            "`n_inner` is given here and does not count; where a file gives it, that number holds.": (
                lambda c: 4 * c["n_embd"]
            ),
            "the usual width is three times `n_embd` here; that is for queries, keys and values.": (
                lambda c: _mlp_width(c, 3)
            ),
            "without `n_inner` the MLP is as wide as the stream here; it is wider.": (lambda c: _mlp_width(c, 1)),
            "`n_inner` is multiplied as well; it is the width already.": (
                lambda c: 4 * (c.get("n_inner") or c["n_embd"]),
                lambda c: (c.get("n_inner") or 4) * c["n_embd"],
                lambda c: 4 * c.get("n_inner", c["n_embd"]),
            ),
            "null, or a missing key, becomes 0; it stands for the usual width.": (lambda c: c.get("n_inner") or 0),
            "these are the parameters of the MLP; its width is wanted.": (
                lambda c: 2 * c["n_embd"] * _mlp_width(c),
                lambda c: 2 * c["n_embd"] * _mlp_width(c) + _mlp_width(c) + c["n_embd"],
            ),
            "a given `n_inner` holds, be it larger or smaller than the usual width.": (
                lambda c: max(c.get("n_inner") or 0, 4 * c["n_embd"]),
                lambda c: min(_mlp_width(c), 4 * c["n_embd"]),
            ),
        },
    ),
    meaning="null is a value that says *the usual*, and a reader has to know what is usual.",
    hints=(
        "There are three kinds of file: with a number, with null, and without the key.",
        "`config.get(key)` gives None for the last two of them.",
        "Compare with `is None`. Otherwise the number that is given is the result.",
    ),
)
