"""Run a notebook's sections as a student may: each alone, every cell twice in a row, then the cells from last to first.

`python tests/cells_again.py NOTEBOOK` prints, as JSON, a sentence for each cell that fails or shows something else when
it is run again. Each section has a process of its own, in which no cell has run. A section of the student's edition
that is as in the solution is left to the solution, and a long cell is not run a third time.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

import torch  # noqa: F401  once, for all sections
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from notebook_files import sections

from utils import check, plots, widgets  # noqa: F401

# a bar's speed, and what counts its calls on purpose: one hint more each time
UNEQUAL = re.compile(r"\d+%\|.*|Hint \d.*", re.DOTALL)
LONG = 4  # seconds


def shown(shell, cell):
    """(error or None, what the cell shows as text)."""
    with capture_output() as captured:
        done = shell.run_cell(cell.source)
    texts = [captured.stdout, *(output.data.get("text/plain", "") for output in captured.outputs)]
    return done.error_before_exec or done.error_in_exec, UNEQUAL.sub("", "\n".join(texts))


def own_sections(path):
    """The sections of a notebook; of the student's edition only those that differ from the solution's."""
    solution = path.parents[1] / "solutions" / path.name
    same = sources(solution) if path.parent.name == "lessons" and solution.exists() else {}
    return [(heading, code) for heading, code in sections(path) if sources(path)[heading] != same.get(heading)]


def sources(path):
    return {heading: [cell.source for cell in code] for heading, code in sections(path)}


def problems(path):
    """A sentence for each cell that does not run, or does not show the same again."""
    found = []
    for heading, code in own_sections(path):
        reader, writer = os.pipe()
        if child := os.fork():
            os.close(writer)
            with open(reader, encoding="utf-8") as told:
                text = told.read()
            os.waitpid(child, 0)
            found += json.loads(text or json.dumps([f"{heading}: its process died"]))
        else:
            with open(writer, "w", encoding="utf-8") as told:
                told.write(json.dumps(list(of_section(heading, code))))
            os._exit(0)
    return found


def of_section(heading, code):
    """The problems of one section, in this process."""
    shell = InteractiveShell.instance()
    first, seconds = {}, {}
    order = [(cell, "run twice") for cell in code for _ in range(2)]
    for cell, how in [*order, *((cell, "run after those below it") for cell in reversed(code))]:
        if how != "run twice" and seconds[cell.id] > LONG:
            continue
        start = time.perf_counter()
        error, text = shown(shell, cell)
        how = how if cell.id in first or how != "run twice" else "run alone"
        seconds.setdefault(cell.id, time.perf_counter() - start)
        if error:
            yield f"{heading}, cell {cell.id}, {how}: {type(error).__name__}: {error}"
        elif first.setdefault(cell.id, text) != text:
            yield f"{heading}, cell {cell.id}, {how}: shows {text[:200]!r} and not {first[cell.id][:200]!r}"


if __name__ == "__main__":
    notebook = Path(sys.argv[1]).resolve()
    os.chdir(notebook.parent)
    print(json.dumps(problems(notebook)))
