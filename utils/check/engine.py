"""How a check reaches its verdict: run the student's function safely, compare, name the probable cause.

An exercise states its cases, the right result of each, and the mistakes that people make; every mistake is a
function that makes it, so a wrong answer is recognised by giving the same wrong results.
"""

import copy
import inspect
import linecache
import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from utils.check import progress
from utils.check.compare import a_kind, brief, differs, same
from utils.check.isolation import isolated
from utils.check.messages import Message, boxed
from utils.check.source import is_stub, note

PASSED, NOT_YET, NOT_ATTEMPTED = "passed", "not yet", "not attempted"
COLOURS = {PASSED: "#009E73", NOT_YET: "#D55E00", NOT_ATTEMPTED: "#0072B2"}
# the course, Python and its packages; every other line is the student's, in this cell or in another
FOLDERS = Path(__file__).parents[1], Path(os.__file__).parent, Path(torch.__file__).parents[1]
NOT_THE_STUDENTS = tuple(os.path.realpath(folder) + os.sep for folder in FOLDERS)


class Wrong(Exception):
    """Raised inside a check: its message is the diagnosis that the student reads."""


@dataclass(frozen=True)
class Exercise:
    """What a check knows: number ("1.2"), target (an example of input and output, shown before an attempt),
    probe (raises Wrong for wrong answers), meaning (one sentence for right ones), hints (weakest first), and
    parts (the functions' names, where the exercise asks for several)."""

    number: str
    target: str
    probe: Callable
    meaning: str
    hints: tuple[str, ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict(Message):
    """A check's result: status "passed", "not yet" or "not attempted", and a text that begins with it."""

    status: str

    def _repr_html_(self):
        return boxed(self.text, COLOURS[self.status])


def judge(exercise: Exercise, *answers) -> Verdict:
    """The verdict on a student's function, or on several, one for each of the exercise's parts.

    Never raises, and leaves seeds, modes and settings as they were.
    """
    verdict = verdict_of(_judged, exercise, answers)
    progress.record(exercise.number, answers if verdict.status == PASSED else ())
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
        status, text = NOT_YET, f"the check itself failed ({_reason(fault)}); this is a fault of the course, not yours."
    return Verdict(f"{status}: {text}", status)


def _judged(exercise, answers):
    names = [f"`{part}`" for part in exercise.parts] or ["your answer"]
    missing = [name for name, answer in zip(names, answers, strict=True) if _is_missing(answer)]
    if missing:
        text = f"write {' and '.join(missing)}, then run this cell again."
        if any(answer is None for answer in answers):
            text = f"the check was given None; write {missing[0]}, and give the check its name without brackets."
        return NOT_ATTEMPTED, f"{text}\n{exercise.target}"
    for answer in answers:
        if not callable(answer):
            raise Wrong(
                f"the check was given {a_kind(answer)}; give it the function itself, its name without brackets."
            )
    try:
        with isolated():
            exercise.probe(*answers)
    except Wrong as diagnosis:
        raise Wrong(f"{diagnosis}{note(*answers)}") from None
    return PASSED, exercise.meaning


def _is_missing(answer):
    return answer is None or answer is Ellipsis or is_stub(answer)


def call(function, *args, in_place=False):
    """The student's function on copies of args, or with in_place on args themselves, which it is to change.

    Wrong if it raises, if it changes what it was given without being asked to, or if it has yet to run.
    """
    given = args if in_place else copy.deepcopy(args)
    try:
        result = function(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # exit() too
        raise Wrong(_raised(error, args)) from None
    if inspect.iscoroutine(result):
        result.close()  # or Python warns that it was never awaited
        raise Wrong("your function is an `async def`, so calling it does not run it; write a plain `def`.")
    if inspect.isgenerator(result):
        raise Wrong("your function gives a generator, which has not run yet; return the results themselves.")
    changed = [number for number, pair in enumerate(zip(given, args, strict=True), 1) if not same(*pair)]
    if changed:
        place = f"its argument {changed[0]} in place"
        raise Wrong(f"your function changes {place}, as `x += …` does and `x = x + …` does not; leave it as it was.")
    return result


def _raised(error, args):
    line = _students_line(error)
    where = f"\n  line    {line}" if line else ""
    return f"your function raised {_reason(error)}{where}\n  input   {_inputs(args)}"


def _reason(error):
    """An error's type and the start of its message, the same each time."""
    try:
        said = re.sub(r" at 0x[0-9a-fA-F]+", "", str(error).strip().splitlines()[0])
    except Exception:  # it says nothing, or its own __str__ fails
        said = "without a message"
    return f"{type(error).__name__}: {said if len(said) <= 160 else said[:160] + ' ...'}"


def _students_line(error):
    """The last line of the student's own code on the way to an error, "" if there is none."""
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not os.path.realpath(file).startswith(NOT_THE_STUDENTS):
            line = linecache.getline(file, number).strip() or line
    return line


def _inputs(args):
    return ", ".join(brief(value) for value in args)


def by_cases(cases, right, mistakes=(), signs=()):
    """A probe that compares a function with `right` on every case.

    cases: () -> list of argument tuples, the smallest first. right: the same function, done correctly.
    mistakes: (diagnosis, function that makes the mistake), the most particular first; one that raises matches an
    answer that raises. signs: (diagnosis, predicate of result and wanted result), for what no such function shows.
    """

    def probe(function):
        arguments = cases()
        results = [_outcome(call, function, *args) for args in arguments]
        wanted = [right(*copy.deepcopy(args)) for args in arguments]
        for args, result, want in zip(arguments, results, wanted, strict=True):
            diagnosis = _sign(signs, result, want) or _difference(result, want)
            if diagnosis:
                diagnosis = _recognised(mistakes, arguments, results) or _constant(results) or diagnosis
                raise Wrong(_with_example(diagnosis, args, result, want))

    return probe


def _outcome(function, *args):
    """What a function returns, or the error that it raises."""
    try:
        return function(*args)
    except Exception as error:
        return error


def _sign(signs, result, want):
    if isinstance(result, Exception):
        return None
    return next((text for text, is_so in signs if is_so(result, want)), None)


def _difference(result, want):
    return str(result) if isinstance(result, Exception) else differs(result, want)


def _recognised(mistakes, arguments, results):
    """The diagnosis of the first mistake that has the student's outcome in every case."""
    for diagnosis, mistake in mistakes:
        made = [_outcome(mistake, *copy.deepcopy(args)) for args in arguments]
        if all(map(_same_outcome, made, results)) and not all(isinstance(outcome, Exception) for outcome in made):
            return diagnosis
    return None


def _constant(results):
    """The diagnosis of one and the same number, or numbers, in every case."""
    first = results[0]
    is_number = first is not None and not isinstance(first, str) and differs(first, first) is None
    if not is_number or not all(_same_outcome(first, result) for result in results):
        return None
    return "your function gives the same result in every case; does it use what it is given?"


def _same_outcome(a, b):
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    return same(a, b)


def _with_example(diagnosis, args, result, want):
    if isinstance(result, Wrong) and diagnosis == str(result):
        return diagnosis  # it names its input itself
    yours, wanted = brief(result), brief(want)
    if isinstance(result, Exception):
        yours = str(result).splitlines()[0].removeprefix("your function ")
    elif yours == wanted:  # they differ further behind
        yours, wanted = brief(result, 8), brief(want, 8)
    return f"{diagnosis}\n  input   {_inputs(args)}\n  yours   {yours}\n  wanted  {wanted}"
