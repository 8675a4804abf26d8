"""The course's notebooks, as the tests read and run them."""

import ast
import linecache

from utils.environment import ROOT
from utils.notebooks import read, reading
from utils.notebooks.reading import number_of, tags

SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
START = ROOT / "lessons" / "00_start_here.ipynb"


def name(path):
    """`lessons 01`, to name a test's case."""
    return f"{path.parent.name} {number_of(path.stem)}"


def cells(path, kind=None):
    """The cells of a notebook, of one kind or all."""
    return [cell for cell in read(path).cells if kind in (None, cell.cell_type)]


def prose(path):
    """What a notebook says in words, or all of a Markdown file."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return reading.prose(read(path))


def said(path):
    """What a notebook's cells showed, as plain text."""
    outputs = [output for cell in cells(path, "code") for output in cell.outputs]
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def sections(path):
    """(heading, code cells) for each part of a notebook that begins with a `## ` heading and has code."""
    return reading.sections(read(path))


def exercises(path):
    """(cells to run first, exercise's cell) for each exercise: those are the cells that a section runs from."""
    setup = cells(path, "code")[0]
    for _, code in sections(path):
        for cell in code:
            if "exercise" in tags(cell):
                before = code[: code.index(cell)]
                yield [other for other in before if "run-from-here" in tags(other)] or [setup], cell


def run(code_cells, space=None):
    """Run cells as a kernel would, in a fresh namespace or in `space` -> namespace, value of the last line."""
    space, value = {"__name__": "__main__"} if space is None else space, None
    for cell in code_cells:
        file = f"<cell {cell.id}>"
        linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
        *body, last = ast.parse(cell.source).body
        shown = isinstance(last, ast.Expr)
        exec(compile(ast.Module(body if shown else [*body, last], []), file, "exec"), space)
        value = eval(compile(ast.Expression(last.value), file, "eval"), space) if shown else None
    return space, value
