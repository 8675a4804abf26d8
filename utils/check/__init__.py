"""The exercise checks: `check.ex_1_2(answer)`, `check.hint("1.2")`, `check.summary()`.

A verdict begins with "passed", "not yet" or "not attempted". Nothing here raises into a notebook.
"""

from utils.check import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    progress,
)
from utils.check.lesson_00 import ex_0_1
from utils.check.lesson_01 import ex_1_1, ex_1_2, ex_1_3, ex_1_4, ex_1_5, ex_1_6
from utils.check.lesson_02 import ex_2_1, ex_2_2, ex_2_3, ex_2_4, ex_2_5, ex_2_6, your_gpt
from utils.check.lesson_03 import ex_3_1, ex_3_2, ex_3_3, ex_3_4, ex_3_5, ex_3_6
from utils.check.lesson_04 import ex_4_1, ex_4_2, ex_4_3, ex_4_4, ex_4_5, ex_4_6
from utils.check.lesson_05 import ex_5_1, ex_5_2, ex_5_3, ex_5_4, ex_5_5
from utils.check.lesson_06 import ex_6_1, ex_6_2, ex_6_3, ex_6_4, ex_6_5
from utils.check.lesson_07 import ex_7_1, ex_7_2, ex_7_3, ex_7_4, ex_7_5
from utils.check.lesson_08 import ex_8_1, ex_8_2, ex_8_3, ex_8_4
from utils.check.messages import Message

__all__ = [
    "ex_0_1",
    "ex_1_1",
    "ex_1_2",
    "ex_1_3",
    "ex_1_4",
    "ex_1_5",
    "ex_1_6",
    "ex_2_1",
    "ex_2_2",
    "ex_2_3",
    "ex_2_4",
    "ex_2_5",
    "ex_2_6",
    "ex_3_1",
    "ex_3_2",
    "ex_3_3",
    "ex_3_4",
    "ex_3_5",
    "ex_3_6",
    "ex_4_1",
    "ex_4_2",
    "ex_4_3",
    "ex_4_4",
    "ex_4_5",
    "ex_4_6",
    "ex_5_1",
    "ex_5_2",
    "ex_5_3",
    "ex_5_4",
    "ex_5_5",
    "ex_6_1",
    "ex_6_2",
    "ex_6_3",
    "ex_6_4",
    "ex_6_5",
    "ex_7_1",
    "ex_7_2",
    "ex_7_3",
    "ex_7_4",
    "ex_7_5",
    "ex_8_1",
    "ex_8_2",
    "ex_8_3",
    "ex_8_4",
    "hint",
    "summary",
    "your_gpt",
]

LESSONS = (lesson_00, lesson_01, lesson_02, lesson_03, lesson_04, lesson_05, lesson_06, lesson_07, lesson_08)
EXERCISES = {exercise.number: exercise for lesson in LESSONS for exercise in lesson.EXERCISES}
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
