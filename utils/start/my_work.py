"""Give the student each lesson in my_work/, and never touch a file that is there: standard library only."""

import hashlib
import itertools
import json
import os
from pathlib import Path

from utils.files import new_file, remove_unfinished, replace_file

RECORD = ".editions.json"


def copy_lessons(lessons: Path, my_work: Path) -> list[str]:
    """Copy the lessons that `my_work` lacks, and put new editions beside the student's files.

    Returns the lines to print. May be killed at any point: the next call finishes what this one began.
    """
    my_work.mkdir(exist_ok=True)
    remove_unfinished(my_work)
    record, lines = read_record(my_work)
    copied = 0
    for lesson in sorted(lessons.glob("*.ipynb")):
        given = record.setdefault(lesson.name, [])
        edition = edition_of(lesson)
        target = my_work / lesson.name
        if not os.path.lexists(target):
            # recorded first: a missing file is copied again anyhow, an edited one must be known
            note(my_work, record, given, edition)
            copied += new_file(target, lesson.read_bytes())
        elif edition not in given:
            if edition not in map(edition_of, [target, *new_editions(target)]):
                name = place_beside(lesson.read_bytes(), target)
                lines.append(f"{lesson.name} has changed: the new edition is my_work/{name}, yours is as it was.")
            note(my_work, record, given, edition)
    if copied:
        lines.insert(0, f"{copied} lesson{'s' * (copied > 1)} copied to my_work/")
    return lines


def edition_of(notebook: Path) -> str | None:
    """A hash of the cells' types and sources, whatever their outputs; None for what is no notebook."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        content = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def new_editions(target: Path) -> list[Path]:
    """The files that stand beside a lesson as its new editions."""
    return [path for path in target.parent.iterdir() if path.name.startswith(f"{target.stem} (new edition")]


def beside(target: Path, label: str):
    """Yield the names to try for a file beside `target`: "x (label).y", "x (label 2).y", …"""
    for number in itertools.count(1):
        count = f" {number}" if number > 1 else ""
        yield target.with_name(f"{target.stem} ({label}{count}){target.suffix}")


def place_beside(data: bytes, target: Path) -> str:
    """Write a new edition under the next free name; return that name."""
    return next(path.name for path in beside(target, "new edition") if new_file(path, data))


def read_record(my_work: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the editions given so far, by lesson, and a line to print if that record had to be set aside."""
    path = my_work / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if all(isinstance(given, list) for given in record.values()):
            return record, []
    except FileNotFoundError:
        return {}, []
    except (ValueError, AttributeError):
        pass
    kept = next(name for name in beside(path, "unreadable") if not os.path.lexists(name))
    path.rename(kept)
    return {}, [f"The record my_work/{RECORD} could not be read: it is kept as {kept.name}."]


def note(my_work: Path, record: dict[str, list[str]], given: list[str], edition: str | None) -> None:
    """Add an edition to those given, on the disk as well, at once."""
    if edition not in given:
        given.append(edition)
        replace_file((my_work / RECORD).resolve(), json.dumps(record, indent=1))
