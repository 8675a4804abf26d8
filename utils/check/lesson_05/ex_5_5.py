"""Exercise 5.5: find the bug. answer() -> {"A": name, "B": name, "C": name, "D": name}."""

from utils.check.calling import Unclear, Wrong, call
from utils.check.compare import brief
from utils.check.engine import Exercise

NAMES = {"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}
LOOK_AT = {
    "A": "write down, for a row of five tokens, which token is compared with the scores of the first position.",
    "B": "print a parameter's gradient after the first and after the second step, on the same batch.",
    "C": "look at what becomes of a target of -100, and which token has the id that it becomes.",
    "D": "its loss falls to nearly 0 at once; what does the model have to know for that?",
}
KNOWN = "'double shift', 'no shift', 'no zero_grad', 'loss on padding'"  # in an order that tells nothing


def _probe(function):
    answer = call(function)
    if answer is None:
        raise Unclear("your function returns None; is there a return in it?")
    if not isinstance(answer, dict) or set(answer) != set(NAMES):
        raise Wrong(f'a dict with the four keys "A", "B", "C", "D" is wanted, and yours is {brief(answer)}.')
    for loop, name in answer.items():
        if name not in NAMES.values():
            raise Wrong(f"loop {loop}: {brief(name)} is none of the four names {KNOWN}.")
    for loop, name in NAMES.items():
        if answer[loop] != name:
            raise Wrong(f"loop {loop} has another fault than {answer[loop]!r}: {LOOK_AT[loop]}")


EXERCISE = Exercise(
    target=f"The result is a dict: for each of the loops A to D one of {KNOWN}.",
    probe=_probe,
    meaning="each of these faults lets the program run, and with AdamW the loss falls; only reading the code finds it.",
    hints=(
        "Compare each loop with the five parts of a step, line by line. Exactly one line differs.",
        "Two of the loops compare scores with the wrong token, one counts what should not count, one never forgets.",
    ),
)
