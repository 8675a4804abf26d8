"""The numbers that texts state without a cell that prints them: what each is, and how it is computed.

One file is one text: `lesson_03.py` is that of lesson 03 and its quiz, `readme.py` that of the README, and the values
in `everywhere.py` hold in all texts. Each has VALUES, a callable by what it gives, asked at test time: from the
library, a closed form or a published source. It gives one number or several: whole numbers for what a text writes out
in full, others for what it rounds.
"""

from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def tables() -> dict[str, dict]:
    """The values of each text that has a file."""
    names = sorted(path.stem for path in HERE.glob("[!_]*.py"))
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {_text(name): module.VALUES for name, module in modules.items() if hasattr(module, "VALUES")}


def of(text: str, without: str | None = None) -> frozenset[Fraction]:
    """The values that a text may state: those of its own, such as "03" or "README", and those of all; not one entry."""
    known = tables()
    entries = [(table, what) for table in ("everywhere", text) for what in known.get(table, {}) if what != without]
    return frozenset().union(*(_entry(*entry) for entry in entries))


@cache
def _entry(table: str, what: str) -> frozenset[Fraction]:
    found = tables()[table][what]()
    return frozenset(Fraction(str(value)) for value in (found if isinstance(found, list | tuple) else [found]))


def _text(module):
    return module.removeprefix("lesson_") if module.startswith("lesson_") else {"readme": "README"}.get(module, module)
