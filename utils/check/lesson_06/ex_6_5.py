"""Exercise 6.5: find the bug. answer() -> {"A": name, "B": name, "C": name}."""

from utils.check.engine import Exercise
from utils.check.lesson_05.ex_5_5 import naming

FAULTS = {"A": "mask with one query", "B": "stale cache", "C": "wrong position"}
_LOOK_AT = {
    "A": "its first new token is right and the next ones are not; what differs between the first step and the second?",
    "B": "its first row is right and the second is not; what does the cache hold when a row begins?",
    "C": "write down what `plain_step` is given in the second step: which row of `wpe` does the new token get?",
}
_NAMES = "'stale cache', 'wrong position', 'mask with one query'"  # in an order that tells nothing

EXERCISE = Exercise(
    target=f"The result is a dict: for each of the loops A, B, C one of {_NAMES}.",
    probe=naming(FAULTS, _LOOK_AT, _NAMES),
    meaning="none of these faults raises an error, and the text still reads well at times; only the same tokens "
    "with and without a cache show that a cache is right.",
    hints=(
        "Lay the three loops side by side: each differs from the two others in one line.",
        "Run each loop on two rows, and compare with `generate` at temperature 0, token by token.",
        "Three things change from step to step: what the cache holds, where the new token stands, what it may see.",
    ),
)
