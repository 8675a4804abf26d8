"""Exercise 7.2: the MLP's width. answer(GPT-2's config.json as a dict) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.pretrained import KNOWN_CONFIGS


def _cases():
    small = {"n_embd": 3}, {"n_embd": 3, "n_inner": None}, {"n_embd": 2, "n_inner": 9, "n_layer": 3}
    whole = KNOWN_CONFIGS["GPT-2 small"]
    return [(config,) for config in (*small, {"n_embd": 5, "n_inner": 7}, whole, whole | {"n_inner": None})]


def _mlp_width(config, factor=4):
    given = config.get("n_inner")
    return factor * config["n_embd"] if given is None else given


EXERCISE = Exercise(
    target='An example: `{"n_embd": 2, "n_inner": None}` gives 8, and `{"n_embd": 2, "n_inner": 5}` gives 5.',
    probe=Cases(
        _cases,
        right=_mlp_width,
        mistakes={
            "`x is not None or y` gives True, and not x.": lambda c: c.get("n_inner") is not None or 4 * c["n_embd"]
        },
    ),
    meaning="null is a value that says *the usual*, and a reader has to know what is usual.",
    hints=(
        "There are three kinds of file: with a number, with null, and without the key.",
        "`config.get(key)` gives None for the last two of them.",
        "Compare with `is None`. Otherwise the number that is given is the result.",
    ),
)
