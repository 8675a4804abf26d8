"""How a check reaches its verdict: run the student's function safely, compare, name the probable cause.

An exercise states its cases, the right result of each, and the mistakes that people make; every mistake is a
function that makes it, so a wrong answer is recognised by giving the same wrong results.
"""

import ast
import copy
import inspect
import linecache
import random
import textwrap
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from utils.check import progress
from utils.check.compare import brief, differs, same
from utils.check.messages import Message, boxed

PASSED, NOT_YET, NOT_ATTEMPTED = "passed", "not yet", "not attempted"
COLOURS = {PASSED: "#009E73", NOT_YET: "#D55E00", NOT_ATTEMPTED: "#0072B2"}


class Wrong(Exception):
    """Raised inside a check: its message is the diagnosis that the student reads."""


@dataclass(frozen=True)
class Exercise:
    """What a check knows: number ("1.2"), target (an example of input and output, shown before an attempt),
    probe (raises Wrong for a wrong answer), meaning (one sentence for a right one), hints (weakest first)."""

    number: str
    target: str
    probe: Callable
    meaning: str
    hints: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Verdict(Message):
    """A check's result: status "passed", "not yet" or "not attempted", and a text that begins with it."""

    status: str

    def _repr_html_(self):
        return boxed(self.text, COLOURS[self.status])


def judge(exercise: Exercise, answer) -> Verdict:
    """The verdict on a student's function. Never raises, and leaves seeds, modes and settings as they were."""
    if answer is None or answer is Ellipsis or _is_stub(answer):
        return _verdict(exercise, NOT_ATTEMPTED, f"write your answer, then run this cell again.\n{exercise.target}")
    if not callable(answer):
        kind = type(answer).__name__
        text = f"the check was given a {kind}; give it the function itself, its name without brackets."
        return _verdict(exercise, NOT_YET, text)
    try:
        with _everything_restored():
            exercise.probe(answer)
    except Wrong as diagnosis:
        return _verdict(exercise, NOT_YET, str(diagnosis))
    except KeyboardInterrupt:
        return _verdict(exercise, NOT_YET, "it was interrupted before your function returned; does a loop never end?")
    except Exception as fault:
        text = f"the check itself failed ({type(fault).__name__}: {fault}); this is a fault of the course, not yours."
        return _verdict(exercise, NOT_YET, text)
    return _verdict(exercise, PASSED, exercise.meaning)


def _verdict(exercise, status, text):
    progress.record(exercise.number, status == PASSED)
    return Verdict(f"{status}: {text}", status)


def _is_stub(answer):
    """Whether a function's body is still empty: a docstring, `...`, `pass`, or `raise NotImplementedError`."""
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(answer))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return False
    return isinstance(function, ast.FunctionDef) and all(_says_nothing(line) for line in function.body)


def _says_nothing(statement):
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Raise) and "NotImplementedError" in ast.unparse(statement)
    )


@contextmanager
def _everything_restored():
    numpy_state, python_state, dtype = np.random.get_state(), random.getstate(), torch.get_default_dtype()
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            np.random.seed(0)
            random.seed(0)
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        torch.set_default_dtype(dtype)


def call(function, *args, in_place=False):
    """The student's function on copies of args, or with in_place on args themselves, which it is to change.

    Wrong if it raises, or if it changes what it was given without being asked to.
    """
    given = args if in_place else copy.deepcopy(args)
    try:
        result = function(*given)
    except (Exception, SystemExit) as error:
        raise Wrong(_raised(error, function, args)) from None
    changed = [number for number, pair in enumerate(zip(given, args, strict=True), 1) if not same(*pair)]
    if changed:
        raise Wrong(f"your function changes its argument {changed[0]} in place; work on a copy and return that.")
    return result


def _raised(error, function, args):
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_students(frame, function)]
    line = linecache.getline(frames[-1].filename, frames[-1].lineno).strip() if frames else ""
    where = f"\n  line    {line}" if line else ""
    reason = str(error).splitlines()[0] if str(error) else "without a message"
    return f"your function raised {type(error).__name__}: {reason}{where}\n  input   {_inputs(args)}"


def _is_students(frame, function):
    return frame.filename == getattr(getattr(function, "__code__", None), "co_filename", None)


def _inputs(args):
    return ", ".join(brief(value) for value in args)


def by_cases(cases, right, mistakes=(), signs=()):
    """A probe that compares a function with `right` on every case.

    cases: () -> list of argument tuples, the smallest first. right: the same function, done rightly.
    mistakes: (diagnosis, function that makes the mistake), the most particular first; one that raises matches an
    answer that raises. signs: (diagnosis, predicate of the result), asked first, for what equal numbers hide.
    """

    def probe(function):
        arguments = cases()
        results = [_outcome(call, function, *args) for args in arguments]
        wanted = [right(*copy.deepcopy(args)) for args in arguments]
        for args, result, want in zip(arguments, results, wanted, strict=True):
            diagnosis = next((text for text, is_so in signs if result is not None and is_so(result)), None)
            diagnosis = diagnosis or _difference(result, want)
            if diagnosis:
                diagnosis = _recognised(mistakes, arguments, results) or diagnosis
                raise Wrong(_with_example(diagnosis, args, result, want))

    return probe


def _outcome(function, *args):
    """What a function returns, or the error that it raises."""
    try:
        return function(*args)
    except Exception as error:
        return error


def _difference(result, want):
    return str(result) if isinstance(result, Exception) else differs(result, want)


def _recognised(mistakes, arguments, results):
    """The diagnosis of the first mistake that has the student's outcome in every case."""
    for diagnosis, mistake in mistakes:
        made = [_outcome(mistake, *copy.deepcopy(args)) for args in arguments]
        if all(map(_same_outcome, made, results)) and not all(isinstance(outcome, Exception) for outcome in made):
            return diagnosis
    return None


def _same_outcome(a, b):
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    return same(a, b)


def _with_example(diagnosis, args, result, want):
    if isinstance(result, Wrong) and diagnosis == str(result):
        return diagnosis  # it names its input itself
    yours = f"raised: {result}".splitlines()[0] if isinstance(result, Exception) else brief(result)
    return f"{diagnosis}\n  input   {_inputs(args)}\n  yours   {yours}\n  wanted  {brief(want)}"
