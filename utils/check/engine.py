"""How a check reaches its verdict: an exercise's probe judges the student's function, and what it cannot explain is
looked for in the source."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from utils.check import progress
from utils.check.calling import Unclear, Wrong, reason
from utils.check.compare import a_kind
from utils.check.isolation import isolated
from utils.check.messages import Message, boxed
from utils.check.repair.search import hint_at_change
from utils.check.slips import slip
from utils.check.source import is_stub, names_used, note

PASSED, NOT_YET, NOT_ATTEMPTED = "passed", "not yet", "not attempted"
COLOURS = {PASSED: "#009E73", NOT_YET: "#D55E00", NOT_ATTEMPTED: "#0072B2"}


@dataclass(frozen=True)
class Exercise:
    """What a check knows. Its number is in the name of its file, its signature in the file's docstring.

    target: an example of input and output, shown before an attempt. probe: raises Wrong for wrong answers. meaning:
    one sentence for right ones. hints: weakest first. parts: the functions' names, where it asks for several.
    without: names that the text forbids to use.
    """

    target: str
    probe: Callable
    meaning: str
    hints: tuple[str, ...]
    parts: tuple[str, ...] = ("answer",)
    without: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict(Message):
    """A check's result: status "passed", "not yet" or "not attempted", and a text that begins with it."""

    status: str

    def _repr_html_(self):
        return boxed(self.text, COLOURS[self.status])


def judge(number: str, exercise: Exercise, *answers) -> Verdict:
    """The verdict on a student's function, or on several, one for each of the exercise's parts.

    Never raises, and leaves seeds, modes and settings as they were.
    """
    verdict = verdict_of(_judged, exercise, answers)
    progress.record(number, answers if verdict.status == PASSED else ())
    return verdict


def verdict_of(judgement, *args) -> Verdict:
    """The verdict that judgement(*args) -> (status, text) comes to, whatever it raises."""
    try:
        status, text = judgement(*args)
    except Wrong as diagnosis:
        status, text = NOT_YET, str(diagnosis)
    except KeyboardInterrupt:
        status, text = NOT_YET, "it was interrupted before your function returned; does a loop never end?"
    except BaseException as fault:  # even an exit() in a student's __repr__ must not end the kernel
        status, text = NOT_YET, f"the check itself failed ({reason(fault)}); this is a fault of the course, not yours."
    return Verdict(f"{status}: {text}", status)


def _judged(exercise, answers):
    names = [f"`{part}`" for part in exercise.parts] if len(exercise.parts) > 1 else ["your answer"]
    answers = (*answers, *[None] * (len(names) - len(answers)))
    if len(answers) > len(names):
        raise Wrong(f"the check was given {len(answers)} answers, and it takes {len(names)}.")
    empty = [answer is None or answer is Ellipsis or is_stub(answer) for answer in answers]
    missing = list(itertools.compress(names, empty))
    if missing:
        text = f"write {' and '.join(missing)}, then run this cell again."
        if any(answer is None for answer in answers):
            text = f"the check was given None; write {missing[0]}, and give the check its name without brackets."
        return NOT_ATTEMPTED, f"{text}\n{exercise.target}"
    for answer in answers:
        if not callable(answer):
            how = "give it the function itself, its name without brackets."
            raise Wrong(f"the check was given {a_kind(answer)}; {how}")
    try:
        with isolated():
            exercise.probe(*answers)
        _require_without(exercise, answers)
    except Unclear as unclear:
        look = slip(answers, unclear.seen)
        if not look:
            with isolated():
                look = hint_at_change(exercise.probe, answers, 0.2 if unclear.is_told else 1.0)
        told = "" if "the notebook's" in unclear.seen else note(*answers)
        raise Wrong(f"{unclear.seen}{look}{unclear.example}{told}") from None
    except Wrong as diagnosis:
        raise Wrong(f"{diagnosis}{note(*answers)}") from None
    return PASSED, exercise.meaning


def _require_without(exercise, answers):
    """Wrong if a right answer uses what its text forbids."""
    used = [name for name in exercise.without for answer in answers if name in names_used(answer)]
    if used:
        raise Wrong(f"the result is right, and it comes from `{used[0]}`; the exercise asks for it without.")
