"""Run a notebook's sections as a student may: each alone, every cell twice in a row, then the cells from last to first.

`python tests/cells_again.py NOTEBOOK` prints, as JSON, a sentence for each cell that fails or shows something else when
it is run again. Each section begins without a name of the ones before.
"""

import json
import os
import re
import sys
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from notebook_files import sections

# a bar's speed, and what counts its calls on purpose: one hint more each time
UNEQUAL = re.compile(r"\d+%\|.*|Hint \d.*", re.DOTALL)


def shown(shell, cell):
    """(error or None, what the cell shows as text)."""
    with capture_output() as captured:
        done = shell.run_cell(cell.source)
    texts = [captured.stdout, *(output.data.get("text/plain", "") for output in captured.outputs)]
    return done.error_before_exec or done.error_in_exec, UNEQUAL.sub("", "\n".join(texts))


def problems(path):
    """Yield a sentence for each cell that does not run, or does not show the same again."""
    shell = InteractiveShell.instance()
    for heading, code in sections(path):
        shell.reset()
        first = {}
        order = [(cell, "run alone") for cell in code for _ in range(2)]
        for cell, how in [*order, *((cell, "run after those below it") for cell in reversed(code))]:
            error, text = shown(shell, cell)
            how = "run twice" if how == "run alone" and cell.id in first else how
            if error:
                yield f"{heading}, cell {cell.id}, {how}: {type(error).__name__}: {error}"
            elif first.setdefault(cell.id, text) != text:
                yield f"{heading}, cell {cell.id}, {how}: shows {text[:200]!r} and not {first[cell.id][:200]!r}"


if __name__ == "__main__":
    notebook = Path(sys.argv[1]).resolve()
    nbformat.read(notebook, 4)
    os.chdir(notebook.parent)
    found = list(problems(notebook))
    print(json.dumps(found), file=sys.__stdout__)
