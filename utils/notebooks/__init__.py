"""The notebook builder: run the solutions, derive the lessons, store both in canonical form.

The source of a lesson is `solutions/NN_name.ipynb`; `lessons/NN_name.ipynb` is derived from it and never
edited by hand. `python -m utils build` calls `main`, and `python -m utils build --check` compares what is
stored with what a build would store, without running anything.
"""

from utils.notebooks.build import check, main
from utils.notebooks.derive import MarkerError, derive, drift, leaks
from utils.notebooks.form import canonical, read, text_of
from utils.notebooks.rules import problems
from utils.notebooks.run import RunError, run

__all__ = [
    "MarkerError",
    "RunError",
    "canonical",
    "check",
    "derive",
    "drift",
    "leaks",
    "main",
    "problems",
    "read",
    "run",
    "text_of",
]
