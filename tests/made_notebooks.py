"""Small notebooks and projects, made for the tests of the notebook builder."""

import copy
import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.environment import ROOT
from utils.notebooks import canonical, text_of

START = "from types import SimpleNamespace\n\ncheck = SimpleNamespace(ex_1_1=lambda f: print('judged', f(2)))"
ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return sum([x, x])\n    ### END SOLUTION\n\ncheck.ex_1_1(double)"
PICTURE = "<figure><img alt='Loss {0}' src='data:image/png;base64,{1}'><figcaption>Loss {0}</figcaption></figure>"


def showing(number="0.62", pixels="AAAA"):
    """Return a cell's source that displays a figure in the house's way."""
    # cut in three: a cell's lines are short
    parts = "\n".join(f"    {part!r}" for part in re.findall(".{1,80}", PICTURE.format(number, pixels)))
    return f'html = (\n{parts}\n)\ndisplay({{"text/html": html, "text/plain": "Loss {number}"}}, raw=True)'


def md(text, name, tags=()):
    return new_markdown_cell(text, id=name, metadata={"tags": list(tags)} if tags else {})


def code(source, name, count=None, outputs=(), tags=()):
    meta = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, id=name, execution_count=count, outputs=list(outputs), metadata=meta)


def said(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def shown(data, **more):
    return new_output("display_data", data=data, **more)


def raised(ename, evalue):
    return new_output("error", ename=ename, evalue=evalue, traceback=[f"{ename}: {evalue}"])


def good():
    """Return a well-formed notebook, as if it had been run."""
    figure = {"text/html": PICTURE.format("0.62", "AAAA"), "text/plain": "Loss 0.62"}
    return canonical(
        new_notebook(
            cells=[
                md("# A lesson\n\nIt begins here.", "title"),
                code(START, "start", 1, tags=["run-from-here"]),
                md("The value follows.", "m-value"),
                code("1 + 1", "value", 2, [new_output("execute_result", data={"text/plain": "2"}, execution_count=2)]),
                md("The loss falls.", "m-figure"),
                code(showing(), "figure", 3, [shown(figure)]),
                md("This error is meant.", "m-error"),
                code("[][0]", "error", 4, [raised("IndexError", "list index out of range")], tags=["raises-exception"]),
                md("### Exercise 1.1 (★★, 10 min)\n\nDouble it.", "m-answer"),
                code(ANSWER, "answer", 5, [said("judged 4\n")], tags=["exercise"]),
                md("Adding is doubling: both read it twice.", "remark", tags=["solution-only"]),
            ]
        )
    )


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.get("id") == name)


def project(folder, **notebooks):
    """Make a project's folder with these solutions, and the real sanitizing file."""
    for name in ("solutions", "lessons", "tests"):
        (folder / name).mkdir(parents=True)
    rules = (ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    (folder / "tests" / "nbval_sanitize.cfg").write_text(rules, encoding="utf-8")
    for name, nb in notebooks.items():
        (folder / "solutions" / f"{name}.ipynb").write_text(text_of(nb), encoding="utf-8")
    return folder


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.ipynb"))}


def small(source):
    return canonical(new_notebook(cells=[md("# Small", "title"), code(source, "only")]))


def redrawn(nb, old, new):
    """Return the notebook with other text in its stored figure, as another machine would have drawn it."""
    nb = copy.deepcopy(nb)
    data = cell(nb, "figure").outputs[0].data
    assert old in data["text/html"]
    data["text/html"] = data["text/html"].replace(old, new)
    return nb


# accidents in a cell: its source, and the sentence that a run says
ACCIDENTS = {
    "magic": ("%nosuch", "UsageError: Line magic function `%nosuch` not found."),
    "syntax": ("def f(:", "SyntaxError: invalid syntax"),
    "exit": ("import sys\nsys.exit()", "SystemExit"),
    "death": ("import os\nos._exit(1)", "the kernel died"),
    "loop": ("while True:\n    pass", "it was still running after 1 seconds"),
}


# --- changes to a notebook


def source_is(name, source):
    def change(nb):
        cell(nb, name).source = source

    return change


def outputs_are(name, *outputs):
    def change(nb):
        cell(nb, name).outputs = list(outputs)

    return change


def has(name, **values):
    def change(nb):
        cell(nb, name).update(copy.deepcopy(values))

    return change


def tagged(name, *tags):
    return has(name, metadata=nbformat.from_dict({"tags": list(tags)}))


def nb_is(**values):
    def change(nb):
        nb.update(nbformat.from_dict(values))

    return change


def without(name):
    def change(nb):
        nb.cells = [cell for cell in nb.cells if cell.id != name]

    return change


def added(*cells):
    def change(nb):
        nb.cells += cells

    return change


def metadata(**values):
    def change(nb):
        nb.metadata.update(nbformat.from_dict(values))

    return change
