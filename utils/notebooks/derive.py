"""From a solution to its lesson: answers become stubs, and nothing of them may remain."""

import copy
import html
import itertools
import re
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

from utils.notebooks.form import canonical

STUB = "...  # your answer here"
MARKER = re.compile(r"^(\s*)### (BEGIN|END) SOLUTION$")
# a marker misspelt would leave an answer in the lesson, so anything like one has to be exact
LIKE_A_MARKER = re.compile(r"#\s*(BEGIN|END)[\W_]*SOLUTION", re.IGNORECASE)
# lines that say nothing about an answer, wherever they stand
TRIVIAL = re.compile(
    r"""\#|[rf]?"{3}|[rf]?'{3}|@|import\ |from\ \S+\ import\ |return\ None$|raise\ NotImplementedError
    |with\ torch\.no_grad\(\):$""",
    re.VERBOSE,
)
LEAK_LENGTH = 15


class MarkerError(ValueError):
    """The solution markers of a cell do not pair up."""


def blocks(cell: NotebookNode) -> list[tuple[int, int]]:
    """Return (first, last) line numbers, from 0, of each answer block in a cell, markers included.

    Raises MarkerError if a marker is misspelt, does not pair up, or stands in a markdown cell.
    """
    found, start = [], None
    for number, line in enumerate(cell.source.split("\n")):
        marker = MARKER.match(line.rstrip())
        if LIKE_A_MARKER.search(line) and not marker:
            raise MarkerError(f"line {number + 1} is like a solution marker, but not exactly one")
        if not marker:
            continue
        if cell.cell_type != "code":
            raise MarkerError(f"line {number + 1} is a solution marker outside of a code cell")
        if (marker[2] == "BEGIN") != (start is None):
            raise MarkerError(f"line {number + 1} is an unbalanced {marker[2]} SOLUTION")
        if start is not None:
            found.append((start, number))
        start = number if start is None else None
    if start is not None:
        raise MarkerError(f"line {start + 1} is a BEGIN SOLUTION without its END")
    return found


def without_answers(cell: NotebookNode) -> str:
    """Return a cell's source with each answer block replaced by one stub at the block's indentation."""
    lines = cell.source.split("\n")
    for first, last in reversed(blocks(cell)):
        lines[first : last + 1] = [MARKER.match(lines[first].rstrip())[1] + STUB]
    return "\n".join(lines)


def source(solution: NotebookNode) -> NotebookNode:
    """Return a solution in canonical form, with the tag `exercise` on the cells that hold an answer, and on no other.

    Raises MarkerError, naming the cell, if the markers of a cell do not pair up.
    """
    nb = canonical(solution)
    for cell in nb.cells:
        try:
            answered = bool(blocks(cell))
        except MarkerError as error:
            raise MarkerError(f"cell {cell.id}: {error}") from None
        tags = cell.metadata.get("tags", [])
        if answered != ("exercise" in tags):
            tags = [*tags, "exercise"] if answered else [tag for tag in tags if tag != "exercise"]
            cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
    return nb


def derive(solution: NotebookNode) -> NotebookNode:
    """Return the student edition of a solution, in canonical form and not yet run.

    Answer blocks become stubs, cells tagged `solution-only` go, outputs go. Ids and tags stay.
    Raises MarkerError, naming the cell, if the markers of a cell do not pair up.
    """
    lesson = source(solution)
    lesson.cells = [cell for cell in lesson.cells if "solution-only" not in cell.metadata.get("tags", [])]
    for cell in lesson.cells:
        cell.source = without_answers(cell)
    return unrun(lesson)


def unrun(nb: NotebookNode) -> NotebookNode:
    """Return a copy without outputs and counts."""
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nb


def drift(solution: NotebookNode, lesson: NotebookNode) -> list[str]:
    """Say where a stored lesson is not what its solution gives: cells, types, ids, sources, tags.

    Raises MarkerError if the solution's markers do not pair up.
    """
    wanted = derive(solution).cells
    names, found = [cell.id for cell in wanted], [cell.get("id") for cell in lesson.cells]
    if names != found:
        pairs = itertools.zip_longest(names, found)
        new, old = next(pair for pair in pairs if pair[0] != pair[1])
        return [f"its cells are not the solution's (cell {old} stands where {new} is derived)"]
    return [
        f"cell {old.id}: its {part} is not derived from the solution"
        for new, old in zip(wanted, lesson.cells, strict=True)
        for part in ("cell_type", "source", "metadata")
        if new[part] != old[part]
    ]


def leaks(solution: NotebookNode, lesson: NotebookNode) -> list[str]:
    """Find lines of the answers that stand anywhere in the lesson's file.

    Sources, outputs and metadata are searched, with white space and HTML escapes taken away. A line counts
    if it is longer than 15 characters and says something; all of a solution-only cell counts as well, code or text.
    """
    hay = [(where, _squeezed(text)) for where, text in _strings(lesson, "the notebook's metadata")]
    return [
        f"cell {where}: holds a line of the answer in cell {cell.id}: {line.strip()}"
        for cell in solution.cells
        for line in dict.fromkeys(_answer_lines(cell))
        for where in dict.fromkeys(place for place, text in hay if _squeezed(line) in text)
    ]


def _answer_lines(cell: NotebookNode) -> list[str]:
    """Return the lines of a cell that only the solution may hold."""
    lines = cell.source.split("\n")
    if "solution-only" not in cell.metadata.get("tags", []):
        lines = [line for first, last in blocks(cell) for line in lines[first + 1 : last]]
    telling = (line for line in lines if not TRIVIAL.match(line.strip()))
    return [line for line in telling if len(" ".join(line.split())) > LEAK_LENGTH]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", html.unescape(text))


def _strings(value, where: str) -> Iterator[tuple[str, str]]:
    """Yield (id of the cell, string) for each string in a notebook's JSON, keys included."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, item.get("id", where) if isinstance(item, dict) else where)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield where, key
            yield from _strings(item, where)
