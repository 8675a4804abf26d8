"""Answers that students give: one file for each exercise, `ex_1_2.py`, found here.

RIGHT: number -> answers in forms that must pass. WRONG: number -> (a word of the verdict, answer), written apart from
the exercise's own table of mistakes. Where an exercise asks for several functions, an answer is a tuple of them.
"""

import importlib
from pathlib import Path

FILES = {file.stem.removeprefix("ex_").replace("_", "."): file for file in Path(__file__).parent.glob("ex_*_*.py")}
_MODULES = {number: importlib.import_module(f"{__name__}.{file.stem}") for number, file in FILES.items()}
RIGHT = {number: module.RIGHT for number, module in _MODULES.items()}
WRONG = {number: module.WRONG for number, module in _MODULES.items()}
