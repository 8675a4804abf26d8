"""Exercise 6.5: find the bug. answer() -> {"A": name, "B": name, "C": name}."""

from collections.abc import Mapping

from utils.check.calling import Unclear, Wrong, call
from utils.check.compare import a_kind, brief
from utils.check.engine import Exercise

NAMES = ("stale cache", "wrong position", "mask with one query")
FAULTS = {"A": "mask with one query", "B": "stale cache", "C": "wrong position"}
_LOOK_AT = {
    "A": "its first new token is right and the next ones are not; what differs between the first step and the second?",
    "B": "its first row is right and the second is not; what does the cache hold when a row begins?",
    "C": "write down what `plain_step` is given in the second step: which row of `wpe` does the new token get?",
}


def _probe(function):
    answer = call(function)
    if answer is None:
        raise Unclear("your function returns None; is there a return in it?")
    if not isinstance(answer, Mapping) or set(answer) != set(FAULTS):
        given = brief(answer) if isinstance(answer, Mapping) else a_kind(answer)
        raise Wrong(f'a dict with the three keys "A", "B", "C", in capitals, is wanted, and yours is {given}.')
    for loop, name in answer.items():
        if not isinstance(name, str) or name not in NAMES:
            names = ", ".join(map(repr, NAMES))
            raise Wrong(f"loop {loop}: {brief(name)} is none of the three names {names}.")
    if len(set(answer.values())) < len(answer):
        raise Wrong("each of the three names belongs to one loop, and yours names one twice.")
    for loop, name in FAULTS.items():
        if answer[loop] != name:
            raise Wrong(f"loop {loop} has another fault than {str(answer[loop])!r}: {_LOOK_AT[loop]}")


EXERCISE = Exercise(
    target=f"The result is a dict: for each of the loops A, B, C one of {', '.join(map(repr, NAMES))}.",
    probe=_probe,
    meaning="none of these faults raises an error, and the text still reads well at times; only the same tokens "
    "with and without a cache show that a cache is right.",
    hints=(
        "Lay the three loops side by side: each differs from the two others in one line.",
        "Run each loop on two rows, and compare with `generate` at temperature 0, token by token.",
        "Three things change from step to step: what the cache holds, where the new token stands, what it may see.",
    ),
)
