"""Exercise 5.5: find the bug. answer() -> {"A": name, "B": name, "C": name, "D": name}."""

from collections.abc import Mapping

from utils.check.calling import Unclear, Wrong, call
from utils.check.compare import a_kind, brief
from utils.check.engine import Exercise


def given(function, keys):
    """The dict that a function of no input gives, with each of keys and no other; Wrong if it gives something else."""
    answer = call(function)
    if answer is None:
        raise Unclear("your function returns None; is there a return in it?")
    if not isinstance(answer, Mapping) or set(answer) != set(keys):
        yours = brief(answer) if isinstance(answer, Mapping) else a_kind(answer)
        raise Wrong(f"a dict with the keys {', '.join(map(repr, keys))}, in capitals, is wanted, and yours is {yours}.")
    return answer


def naming(faults, look_at, names):
    """A probe for {loop: name of its fault}. look_at: {loop: where to look}. names: to choose from, as text."""

    def probe(function):
        answer = given(function, faults)
        for loop, name in answer.items():
            if not isinstance(name, str) or name not in faults.values():
                raise Wrong(f"loop {loop}: {brief(name)} is none of the names {names}.")
        for loop, name in faults.items():
            if answer[loop] != name:
                raise Wrong(f"loop {loop} has another fault than {str(answer[loop])!r}: {look_at[loop]}")

    return probe


_FAULTS = {"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}
_LOOK_AT = {
    "A": "write down, for a row of five tokens, which token is compared with the scores of the first position.",
    "B": "print a parameter's gradient after the first and after the second step, on the same batch.",
    "C": "look at what becomes of a target of -100, and which token has the id that it becomes.",
    "D": "its loss falls to nearly 0 at once; what does the model have to know for that?",
}
_NAMES = "'double shift', 'no shift', 'no zero_grad', 'loss on padding'"  # in an order that tells nothing

EXERCISE = Exercise(
    target=f"The result is a dict: for each of the loops A to D one of {_NAMES}.",
    probe=naming(_FAULTS, _LOOK_AT, _NAMES),
    meaning="each of these faults lets the program run, and with AdamW the loss falls; only reading the code finds it.",
    hints=(
        "Compare each loop with the five parts of a step, line by line. Exactly one line differs.",
        "Two of the loops compare scores with the wrong token, one counts what should not count, one never forgets.",
    ),
)
