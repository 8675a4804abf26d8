"""Rules for exercises: a heading, a cell with a stub and its check, a file for the check, a file of answers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from utils.notebooks.code_rules import FUNCTIONS, definitions, tree, words
from utils.notebooks.derive import STUB, blocks
from utils.notebooks.reading import EXERCISE, Lesson, cells, prose, tags, unfenced

VERDICTS = {"solutions": "passed", "lessons": "not attempted"}


def checks(cell: NotebookNode) -> list[str]:
    """Return the numbers, such as "3.2", of the exercises that a cell checks."""
    found = (re.fullmatch(r"ex_(\d+)_(\d+)", word) for word in words(tree(cell)))
    return [f"{match[1]}.{match[2]}" for match in found if match]


def answer_is_exercise(cell: NotebookNode) -> Iterator[str]:
    """Where an answer stands, or the stub for it, there is the tag and the check."""
    if not blocks(cell) and STUB not in cell.source:
        if "exercise" in tags(cell):
            yield "it has the tag exercise, but no answer to give"
        return
    if "exercise" not in tags(cell):
        yield "it has an answer to give, but not the tag exercise"
    if not checks(cell):
        yield "it has an answer to give, but no call of check.ex_N_M"


# --- a whole notebook


def exercise_headings(nb: NotebookNode) -> Iterator[str]:
    """A student finds an exercise by its heading, with stars and minutes."""
    announced: set[str] = set()
    for cell in nb.cells:
        announced |= set(EXERCISE.findall(unfenced(cell)))
        if cell.cell_type == "code" and "exercise" in tags(cell):
            for number in dict.fromkeys(checks(cell)):
                if number not in announced:
                    yield f"cell {cell.get('id')}: no heading ### Exercise {number} (★…, K min) stands above"


def unique_answers(nb: NotebookNode) -> Iterator[str]:
    """What an exercise defines, no other cell may rebind, or its check judges something else."""
    bound = {id(cell): _bound(tree(cell)) for cell in cells(nb, "code")}
    for cell in cells(nb, "code"):
        for name in definitions(tree(cell)) if "exercise" in tags(cell) else []:
            others = [other for other in cells(nb, "code") if other is not cell and name in bound[id(other)]]
            if others or definitions(tree(cell)).count(name) > 1:
                where = f"cell {others[0].get('id')}" if others else "the same cell"
                yield f"cell {cell.get('id')}: {name} is an exercise's name, and {where} uses it again"


def _bound(node: ast.Module) -> set[str]:
    """Return the names that a cell binds at its top level."""
    names = set(definitions(node))
    for part in node.body:
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            continue
        for piece in ast.walk(part):
            if isinstance(piece, ast.Name) and isinstance(piece.ctx, ast.Store):
                names.add(piece.id)
            elif isinstance(piece, ast.alias):
                names.add((piece.asname or piece.name).split(".")[0])
    return names


# --- a lesson in its course


def check_file(number: str) -> str:
    """Where the check of an exercise stands: "3.7" -> utils/check/lesson_03/ex_3_7.py."""
    lesson, _, place = number.partition(".")
    return f"utils/check/lesson_{lesson.zfill(2)}/ex_{lesson}_{place}.py"


def answers_file(number: str) -> str:
    """Where the right and wrong answers to an exercise stand: "3.7" -> tests/answers/ex_3_7.py."""
    return f"tests/answers/ex_{number.replace('.', '_')}.py"


def written(root: Path) -> list[str]:
    """The numbers of the exercises that have a check, by the names of its files, in their order."""
    names = [path.stem.split("_")[1:] for path in root.glob("utils/check/lesson_*/ex_*_*.py")]
    return [".".join(name) for name in sorted(names, key=lambda name: [int(part) for part in name])]


def numbered(lesson: Lesson) -> Iterator[str]:
    """An exercise's number says its lesson and its place there, and its heading stands above its cell."""
    found, own = EXERCISE.findall(prose(lesson.nb)), lesson.number.lstrip("0") or "0"
    wanted = [f"{own}.{place}" for place in range(1, len(found) + 1)]
    if found != wanted:
        yield f"its exercises are numbered {', '.join(found)}, not {', '.join(wanted)}"
    for number in found:
        if number not in _checked(lesson.nb):
            yield f"no cell with the answer to exercise {number} calls check.ex_{number.replace('.', '_')}"


def has_files(lesson: Lesson) -> Iterator[str]:
    """An exercise is three places: its cell, its check, its answers for the tests. Each is told of the others."""
    root = lesson.course.root
    known, cells_of = written(root), _checked(lesson.nb)
    if not known or lesson.edition != "solutions":
        return
    for number, cell in cells_of.items():
        if number not in known:
            yield f"cell {cell}: exercise {number} has no check; write {check_file(number)}"
    for number in known:
        if int(number.partition(".")[0]) == int(lesson.number) and number not in cells_of:
            yield f"exercise {number} has no cell; write its heading, and a cell that calls {check_file(number)}"
        if number in cells_of and not (root / answers_file(number)).exists():
            yield f"exercise {number} has no answers for the tests; write {answers_file(number)}"


def _checked(nb: NotebookNode) -> dict[str, str]:
    """Exercise -> the id of the cell that checks its answer."""
    answers = (cell for cell in cells(nb, "code") if "exercise" in tags(cell))
    return {number: cell.get("id") for cell in answers for number in checks(cell)}


def verdict(lesson: Lesson) -> Iterator[str]:
    """The solutions solve every exercise, and the lessons attempt none."""
    wanted = VERDICTS[lesson.edition]
    for cell in cells(lesson.nb, "code"):
        if "exercise" in tags(cell):
            texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in cell.outputs]
            if [text.partition(":")[0] for text in texts] != [wanted]:
                yield f"cell {cell.get('id')}: it has to show one verdict that begins with {wanted!r}: {texts}"
