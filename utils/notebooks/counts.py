"""Counts that texts state in words, found in the project and written anew: lessons, exercises, questions, minutes.

The README's table says how long each lesson takes; everything else is counted.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from utils.environment import ROOT

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
N = rf"\b(?P<n>[0-9]+|{'|'.join(WORDS)})"
ROW = re.compile(r"^\| \[?([0-9]{2}) .*\| ([0-9]+) \|$", re.MULTILINE)


def lessons(root: Path = ROOT) -> list[str]:
    """The lessons' numbers, such as "03"."""
    return sorted(path.name.split("_")[0] for path in (root / "solutions").glob("[0-9]*_*.ipynb"))


def exercises(lesson: str, root: Path = ROOT) -> int:
    """How many exercises a lesson has, by the headings of its solution; 0 without one."""
    paths = (root / "solutions").glob(f"{lesson}_*.ipynb")
    cells = (cell for path in paths for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return sum(len(re.findall(r"^### Exercise [0-9]+\.[0-9]+\b", text, re.MULTILINE)) for text in texts)


def quiz_of(lesson: str, root: Path = ROOT) -> list:
    """The questions of a lesson's quiz; none if it has no quiz yet, or one that cannot be read, which a rule tells."""
    path = root / "utils" / "data" / "quizzes" / f"{lesson}.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def minutes(root: Path = ROOT) -> dict[str, int]:
    """How long each lesson takes, as the README's table plans it."""
    path = root / "README.md"
    return {lesson: int(time) for lesson, time in ROW.findall(path.read_text("utf-8") if path.exists() else "")}


def planned(plan: str, text: str) -> int:
    """The minutes of a plan's table in a text, such as that of "One lecture"."""
    table = text.partition(f"**{plan}")[2].partition("\n**")[0]
    return sum(map(int, re.findall(r"^\| ([0-9]+) \|", table, re.MULTILINE)))


def refresh(text: str, lesson: str | None, root: Path = ROOT) -> str:
    """Return a text with its counts put right: of a lesson's markdown cell, or of a document (`lesson` None).

    Up to twelve they are words, beyond it digits; minutes are always digits. What has no such phrase stays.
    """
    phrases = _of_course(text, root) if lesson is None else _of_lesson(lesson, root)
    for phrase, count in phrases:
        put = partial(_replaced, count=count)
        text = re.sub(phrase, put, text, flags=re.IGNORECASE | re.MULTILINE) if count else text
    times = minutes(root)
    return ROW.sub(lambda row: re.sub(r"[0-9]+ \|$", f"{times.get(row[1], row[2])} |", row[0]), text)


def _of_lesson(lesson: str, root: Path) -> Iterator[tuple[str, int]]:
    """Yield (phrase, count) for what a lesson says of itself."""
    if lesson in minutes(root):
        yield rf"(?P<before>\babout ){N}(?= minutes(?!, and ))", minutes(root)[lesson]
    yield rf"(?P<before>\babout [0-9]+ minutes[^.\n]*? ){N}(?P<noun> exercises?)", exercises(lesson, root)
    yield rf"(?P<before>^){N}(?P<noun> questions?)(?=\. Pick)", len(quiz_of(lesson, root))


def _of_course(text: str, root: Path) -> Iterator[tuple[str, int]]:
    """Yield (phrase, count) for what a document says of the course; a plan has the sum of its table."""
    found = lessons(root)
    yield rf"(?P<before>){N}(?P<noun> lessons?)(?=, \w+ hours?, )", len(found)
    yield rf"(?P<before> lessons?, ){N}(?P<noun> hours?)(?=, )", round(sum(minutes(root).values()) / 60)
    yield rf"(?P<before> hours?, ){N}(?P<noun> exercises?)", sum(exercises(lesson, root) for lesson in found)
    yield rf"(?P<before> lesson a week, ){N}(?P<noun> weeks?)", len(found)
    for plan in re.findall(r"\*\*(One \w+), ", text):
        time = planned(plan, text)
        yield rf"(?P<before>\*\*{plan}, ){N}(?= minutes)", time
        yield rf"(?P<before>\*\*{plan}, ){N}(?P<noun> hours?)", math.ceil(time / 60)


def _replaced(found: re.Match, count: int) -> str:
    """The count as it should stand there: word or digits, capital or not, the noun in its number."""
    noun = found.groupdict().get("noun")
    if noun is None:
        return f"{found['before']}{count}"
    word = WORDS[count] if count < len(WORDS) else str(count)
    word = word.capitalize() if found["n"][0].isupper() else word
    return f"{found['before']}{word}{noun.rstrip('s')}{'' if count == 1 else 's'}"
