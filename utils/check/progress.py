"""Which exercises are passed: kept for this kernel, and in my_work/.progress.json for a student at work."""

import json
import os
from contextlib import suppress
from pathlib import Path

from utils.files import replace_file

MY_WORK = Path(__file__).resolve().parents[2] / "my_work"
FILE = ".progress.json"

_checked: dict[str, tuple] = {}  # this kernel's checks: number -> the functions that passed, () if they did not


def record(number, answers):
    """Remember a check's result, the answers that passed or (); a pass is also written down in my_work/."""
    _checked[number] = answers
    if answers and _writes_here():
        _write()


def answers(number) -> tuple:
    """The functions with which an exercise is passed in this kernel, by its latest verdict; () if it is not."""
    return _checked.get(number, ())


def checked_lessons() -> list[str]:
    """Lessons of the exercises checked in this kernel, as "01", in order."""
    return sorted({number.split(".")[0].zfill(2) for number in _checked})


def passed() -> set[str]:
    """Numbers of the exercises passed in this kernel or, in my_work/, at any time before.

    An exercise checked in this kernel counts by its latest verdict.
    """
    return {number for number in passed_before() | set(_checked) if _checked.get(number, True)}


def passed_before() -> set[str]:
    """What my_work/.progress.json says; a broken file is set aside and counts as empty."""
    kept = _read() if _writes_here() else None
    return {number for number in kept["passed"] if isinstance(number, str)} if kept else set()


def _writes_here():
    # pytest tells its children that it runs: notebooks under test leave no trace
    with suppress(OSError):  # the folder of this kernel may be gone
        return Path.cwd().samefile(MY_WORK) and "PYTEST_VERSION" not in os.environ  # which may be a link
    return False


def _read() -> dict | None:
    """All that the file holds, a list "passed" in it; None if it cannot be read now, and so must not be replaced."""
    path = Path.cwd() / FILE
    try:
        kept = {"passed": []} | json.loads(path.read_text(encoding="utf-8-sig"))  # an editor may have put a BOM
        if isinstance(kept["passed"], list):
            return kept
    except FileNotFoundError:
        return {"passed": []}
    except OSError:
        return None
    except (ValueError, TypeError, RecursionError):
        pass
    with suppress(OSError):
        os.replace(path, path.with_suffix(".broken.json"))
    return {"passed": []}


def _write():
    """Add this kernel's passes, all of them: another kernel may have written between our last read and write."""
    kept = _read()
    if kept is None:
        return
    numbers = {number for number in kept["passed"] if isinstance(number, str)}
    kept["passed"] = sorted(numbers | {number for number, passed in _checked.items() if passed})
    path = (Path.cwd() / FILE).resolve()  # were it a link, a file in its place would hide what it leads to
    with suppress(OSError):  # a read-only or full disk must not spoil a right answer
        replace_file(path, json.dumps(kept, indent=1))
