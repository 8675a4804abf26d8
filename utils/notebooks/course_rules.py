"""Rules for a course as a whole: whatever lies in its folders belongs to a lesson, and each lesson is in its lists."""

import re
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode

from utils.notebooks import counts
from utils.notebooks.exercise_rules import check_file, written
from utils.notebooks.reading import Course, cells, documents, number_of, prose
from utils.widgets import panels_in

NAME = re.compile(r"\d\d_[a-z\d_]+")


def named(course: Course) -> Iterator[str]:
    """A notebook is called NN_name, and no other has its number."""
    for name in course.names:
        if not NAME.fullmatch(name):
            yield f"solutions/{name}.ipynb: its name is not NN_name, such as 10_a_lesson.ipynb"
    for number, count in Counter(map(number_of, course.names)).items():
        if count > 1:
            yield f"{count} notebooks have the number {number}"


def same_start(course: Course) -> Iterator[str]:
    """The first code cell is that of lesson 00 everywhere."""
    yield from different_starts({f"solutions/{name}.ipynb": nb for name, nb in course.sources.items()})


def different_starts(notebooks: dict[str, NotebookNode]) -> list[str]:
    """Find the notebooks whose first code cell is not that of lesson 00, the first by file name.

    `notebooks` maps paths, such as solutions/00_start_here.ipynb, to what they hold.
    """
    starts = {name: code[0].source if (code := cells(nb, "code")) else "" for name, nb in notebooks.items()}
    if not starts:
        return []
    first = min(starts, key=lambda name: name.rpartition("/")[2])
    differs = (name for name, source in starts.items() if source != starts[first])
    return [f"{name}: its first code cell differs from that of {first}" for name in differs]


def all_listed(course: Course) -> Iterator[str]:
    """A student finds a lesson in the README's table, and in the map of lesson 00."""
    readme = course.root / "README.md"
    table = readme.read_text(encoding="utf-8") if readme.exists() else None
    start, *others = course.sources or [""]
    for name in [start, *others] if table is not None else []:
        if f"](lessons/{name}.ipynb)" not in table:
            yield f"README.md: its table has no row with a link to lessons/{name}.ipynb; write one"
    for name in others:
        if f"]({name}.ipynb)" not in prose(course.sources[start]):
            yield f"solutions/{start}.ipynb: its map has no row with a link to {name}.ipynb; write one"


def nothing_alone(course: Course) -> Iterator[str]:
    """A quiz, a check and a file of answers belong to a lesson that is there."""
    numbers, root = set(map(number_of, course.names)), course.root
    for path in sorted(root.glob("utils/data/quizzes/*.json")):
        if path.stem not in numbers:
            yield f"utils/data/quizzes/{path.name}: no lesson has this number; write solutions/{path.stem}_name.ipynb"
    known = written(root)
    for number in known:
        if (lesson := number.partition(".")[0].zfill(2)) not in numbers:
            yield f"{check_file(number)}: no lesson has this number; write solutions/{lesson}_name.ipynb"
    for path in sorted(root.glob("tests/answers/ex_*_*.py")):
        if (number := ".".join(path.stem.split("_")[1:])) not in known:
            yield f"tests/answers/{path.name}: this exercise has no check; write {check_file(number)}"


def panels_shown(course: Course) -> Iterator[str]:
    """Every panel is shown in a lesson."""
    code = "\n".join(cell.source for nb in course.sources.values() for cell in cells(nb, "code"))
    for name, path in panels_in(course.root / "utils" / "widgets").items():
        if not re.search(rf"\b{name}\(", code):
            yield f"utils/widgets/{path.name}: no lesson shows it; write a cell with widgets.{name}() into solutions/"


def counts_right(course: Course) -> Iterator[str]:
    """The counts in the texts are those of what is there; `build` writes them."""
    texts = {f"solutions/{name}.ipynb": (prose(nb), number_of(name)) for name, nb in course.sources.items()}
    texts |= {path.name: (path.read_text(encoding="utf-8"), None) for path in documents(course.root)}
    for where, (text, lesson) in texts.items():
        for now, then in zip(text.split("\n"), counts.refresh(text, lesson, course.root).split("\n"), strict=True):
            if now != then:
                yield f"{where}: a count is out of date in “{now.strip()[:80]}”; `python3 -m utils build` writes it"


def documents_held(course: Course) -> Iterator[str]:
    """Every number in the README and in the plans for teaching is computed in values/."""
    from utils.notebooks import numbers  # loads the whole library

    for path in documents(course.root):
        yield from numbers.document_problems(path)


RULES = [named, same_start, all_listed, nothing_alone, panels_shown]
STORED = [counts_right, documents_held]
