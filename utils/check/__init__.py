"""The exercise checks: `check.ex_1_2(answer)`, `check.hint("1.2")`, `check.summary()`.

A verdict begins with "passed", "not yet" or "not attempted". Nothing here raises into a notebook. One file is one
exercise, `lesson_01/ex_1_2.py`: it is found here, and stands in no list.
"""

import importlib
from pathlib import Path

from utils.check import progress
from utils.check.engine import Exercise, Verdict, judge
from utils.check.lesson_02.assembly import your_gpt
from utils.check.messages import Message


def _find() -> dict[str, Exercise]:
    """Each exercise by its number, in order; `ex_N_M` becomes a name of this module."""
    files = Path(__file__).parent.glob("lesson_*/ex_*_*.py")
    places = {tuple(map(int, file.stem.split("_")[1:])): file for file in files}
    found = {}
    for place, file in sorted(places.items()):
        number = ".".join(map(str, place))
        module = importlib.import_module(f"{__name__}.{file.parent.name}.{file.stem}")
        found[number] = module.EXERCISE
        globals()[file.stem] = _check(number, module)
    return found


def _check(number, module):
    def ex(*answers) -> Verdict:
        return judge(number, module.EXERCISE, *answers)

    ex.__name__ = ex.__qualname__ = module.__name__.rpartition(".")[2]
    ex.__doc__ = module.__doc__
    return ex


EXERCISES = _find()
__all__ = [*(name for name in globals() if name.startswith("ex_")), "hint", "summary", "your_gpt"]
_given: dict[str, int] = {}  # hints given so far


def hint(number: str = "") -> Message:
    """One more hint for exercise `number`, such as "1.2", each time; after the last one, the last again."""
    number = str(number)
    exercise = EXERCISES.get(number)
    if exercise is None:
        missing = f"There is no exercise {number}" if number else 'Say which exercise, such as "1.2"'
        return Message(f"{missing}; the exercises are {', '.join(EXERCISES)}.")
    _given[number] = min(_given.get(number, 0) + 1, len(exercise.hints))
    count, last = _given[number], len(exercise.hints)
    return Message(f"Hint {count} of {last} for exercise {number}: {exercise.hints[count - 1]}")


def summary(lesson: str | None = None) -> Message:
    """Which exercises of a lesson ("01") are passed; without an argument, of each lesson checked in this kernel."""
    lessons = [str(lesson).zfill(2)] if lesson is not None else progress.checked_lessons()
    if not lessons:
        return Message("No exercise has been checked in this notebook yet; run an exercise's cell first.")
    return Message("\n".join(_summary_of(number) for number in lessons))


def _summary_of(lesson):
    numbers = [number for number in EXERCISES if number.split(".")[0].zfill(2) == lesson]
    if not numbers:
        return f"There is no lesson {lesson} with exercises."
    still_open = [number for number in numbers if number not in progress.passed()]
    rest = f" Still open: {', '.join(still_open)}." if still_open else " All done."
    return f"Lesson {lesson}: {len(numbers) - len(still_open)} of {len(numbers)} exercises passed.{rest}"
