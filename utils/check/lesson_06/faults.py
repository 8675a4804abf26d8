"""Exercise 6.5: three cached loops (loops.py) with a fault each."""

from utils.check.engine import Exercise, Verdict, Wrong, call, judge

BUG_NAMES = ("stale cache", "wrong position", "mask with one query")
_RIGHT_BUGS = {"A": "mask with one query", "B": "stale cache", "C": "wrong position"}
_LOOK_AT = {
    "A": "its first new token is right and the next ones are not; what differs between the first step and the second?",
    "B": "its first row is right and the second is not; what does the cache hold when a row begins?",
    "C": "write down what `plain_step` is given in the second step: which row of `wpe` does the new token get?",
}


def _bugs_probe(function):
    answer = call(function)
    if not isinstance(answer, dict) or set(answer) != set(_RIGHT_BUGS):
        raise Wrong(f'a dict with the three keys "A", "B", "C" is wanted, and yours is {answer!r:.80}.')
    for loop, name in answer.items():
        if name not in BUG_NAMES:
            raise Wrong(f"loop {loop}: {name!r:.40} is none of the three names {', '.join(map(repr, BUG_NAMES))}.")
    if len(set(answer.values())) < len(answer):
        raise Wrong("each of the three names belongs to one loop, and yours names one twice.")
    for loop, name in _RIGHT_BUGS.items():
        if answer[loop] != name:
            raise Wrong(f"loop {loop} has another fault than {answer[loop]!r}: {_LOOK_AT[loop]}")


BUGS = Exercise(
    number="6.5",
    target=f"The result is a dict: for each of the loops A, B, C one of {', '.join(map(repr, BUG_NAMES))}.",
    probe=_bugs_probe,
    meaning="none of these faults raises an error, and the text still reads well at times; only the same tokens "
    "with and without a cache show that a cache is right.",
    hints=(
        "Lay the three loops side by side: each differs from the two others in one line.",
        "Run each loop on two rows, and compare with `generate` at temperature 0, token by token.",
        "Three things change from step to step: what the cache holds, where the new token stands, what it may see.",
    ),
)


def ex_6_5(answer) -> Verdict:
    """Exercise 6.5: find the bug. answer() -> {"A": name, "B": name, "C": name}."""
    return judge(BUGS, answer)
