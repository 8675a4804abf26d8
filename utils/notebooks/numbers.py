"""Numbers in prose, held by their values.

A number that a text states is printed by a cell of the same lesson, or stands there in code as a whole number, or
`values/` computes it. Only values count: the sentence around a number may be reworded freely.
"""

import ast
import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from nbformat import NotebookNode

from utils.environment import ROOT
from utils.notebooks import values
from utils.notebooks.code_rules import tree
from utils.notebooks.counts import quiz_of

SCALES = {
    **{"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    **{"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"%": Fraction(1, 100), "per cent": Fraction(1, 100)},
}
SCALE = "|".join(map(re.escape, sorted(SCALES, key=len, reverse=True)))
NUMBER = re.compile(
    rf"""(?<![\d.])(?P<digits>[0-9]{{1,3}}(?:(?:,|\{{,\}}|_)[0-9]{{3}})+(?![0-9])|[0-9]+)(?:\.(?P<decimals>[0-9]+))?
    (?:[eE](?P<e>[+-]?[0-9]+)                                                   # 3e-4
    |\s*(?:\\cdot|\\times|×|·)\s*10\^\{{?(?P<power>-?[0-9]+)\}}?             # 3 \cdot 10^{{-4}}
    |(?<=10)\^\{{?(?P<ten>-?[0-9]+)\}}?)?                                    # 10^{{-4}}
    (?:(?:\s|\\,|-)?\\?(?P<scale>{SCALE})(?!\w))?""",
    re.VERBOSE,
)
LIST = re.compile(r"/|–|, (?:and )?| and | or | to | of the ")  # what may stand between numbers of one scale
PART = r"[0-9]{1,2}(?:\.[0-9]+)?(?![0-9]|[,.][0-9])"
YEAR = r"(?:19[0-9]{2}|20[0-2][0-9])"
NAMES = re.compile(r"(?<![\\\w])(?=[A-Za-z_.-]*[0-9])[A-Za-z_]\w*(?:[-.]\w+)*")  # GPT-2, float32, Qwen2.5-0.5B
STRUCTURE = re.compile(  # what a text is built of, and what claims nothing
    rf"""^(?:```|~~~).*?^(?:```|~~~)                        # a block of code
    |\[(?P<file>[0-9]{{2}})\ [^\]]*\]\([^)]*\b(?P=file)_    # a link to a lesson, under its name
    |\]\([^)]*\)|https?://\S+|<[^>]+>                       # where a link leads; tags
    |^\ *(?:\#+\ [0-9]+\.?|[0-9]+\.)\ (?=[A-Z*`\[])         # the number of a heading or of an item
    |(?i:lesson|section|exercise|table|figure|chapter|appendix)s?\ {PART}(?:(?:,|\ and|\ or|\ to)\ {PART})*
    |[0-9]{{2}}\ §[0-9]+|§[0-9]+|"[0-9]{{2}}"|\(★+,\ [0-9]+\ min\)|[0-9]+\ minutes
    |\b{YEAR}(?=\)|s\b)|\b(?:[A-Z]\w+|others),\ {YEAR}\b|\b(?:in|of|from|since)\ {YEAR}(?=\ on\b|\ \(|[.,;:])
    |\b[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\b
    |{NAMES.pattern}""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
PLANS = {"Lesson", "Minutes", "Exercise", "Exercises"}  # columns that refer to lessons, or plan them
ADVICE = "print it in a cell of this lesson, or add it to its file in utils/notebooks/values/"


@dataclass(frozen=True)
class Written:
    """A number as it is written: where, its value, and what one more in its last digit would be worth."""

    text: str
    start: int
    end: int
    value: Fraction
    step: Fraction
    scale: str | None

    @property
    def whole(self) -> bool:
        """Whether it is written in full, so that nothing was rounded."""
        return self.step == 1 and not self.scale


def numbers(text: str, structure: re.Pattern = STRUCTURE) -> list[Written]:
    """Read the numbers of a text, with their written precision; what `structure` finds is passed over.

    In a list such as "117, 345 and 762 million" the last scale is the scale of all.
    """
    blank = structure.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found: list[Written] = []
    for match in reversed(list(NUMBER.finditer(blank))):
        number = _written(match)
        if found and not number.scale and found[-1].scale and LIST.fullmatch(text, number.end, found[-1].start):
            unit = SCALES[found[-1].scale]
            number = replace(number, value=number.value * unit, step=number.step * unit, scale=found[-1].scale)
        found.append(number)
    return found[::-1]


def _written(match: re.Match) -> Written:
    decimals = match["decimals"] or ""
    exponent = int(match["e"] or match["power"] or match["ten"] or 0)
    step = Fraction(10) ** (exponent - len(decimals)) * SCALES.get(match["scale"], 1)
    digits = "1" if match["ten"] else re.sub(r"\D", "", match["digits"]) + decimals
    return Written(match[0], match.start(), match.end(), int(digits) * step, step, match["scale"])


class Held:
    """Values that a text may state."""

    def __init__(self, found: Iterable[Fraction]):
        self._sorted = sorted(set(found))

    def __contains__(self, number: Written) -> bool:
        """A value holds what is written if it rounds to it; what is written in full it has to equal."""
        room = 0 if number.whole else number.step / 2
        place = bisect.bisect_left(self._sorted, number.value - room)
        return place < len(self._sorted) and self._sorted[place] <= number.value + room


def printed(nb: NotebookNode) -> Iterator[Fraction]:
    """Yield the numbers that a notebook's cells show as text, and the whole numbers of their code."""
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", "")
            yield from (number.value for number in numbers(text, NAMES))
        for node in ast.walk(tree(cell)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value % 1 == 0:
                yield Fraction(node.value)


def unheld(text: str, held: Held) -> Iterator[str]:
    """Yield one sentence for each number of a text that no value holds, with the sentence that it stands in."""
    for number in numbers(_without_plans(text)):
        if number not in held:
            before, after = re.split(r"[.?]\s|\n", text[: number.start])[-1], text[number.start :]
            sentence = before + re.match(r".*?(?:[.?](?=\s)|$)", after, re.MULTILINE)[0]
            yield f"nothing prints or computes {number.text} in “{sentence.strip()}”; {ADVICE}"


def _without_plans(text: str) -> str:
    """Blank the cells of a table's columns that refer to lessons and exercises, or plan their minutes."""
    lines, plans = text.split("\n"), []
    for place, line in enumerate(lines):
        cells = line.split("|") if line.startswith("|") else []
        if not cells or not place or not lines[place - 1].startswith("|"):
            plans = [column for column, name in enumerate(cells) if name.strip() in PLANS]
        for column in plans if len(cells) > max(plans, default=0) else []:
            cells[column] = " " * len(cells[column])
        lines[place] = "|".join(cells) or line
    return "\n".join(lines)


def problems(lesson: str, editions: Iterable[NotebookNode], root: Path = ROOT) -> list[str]:
    """Say which numbers in a lesson's prose nothing holds: its cells' first, then its quiz's.

    lesson: its number, such as "03". editions: its solution, whose prose is read, and others whose cells print as well.
    root: the project's folder, where the quiz is.
    """
    editions = list(editions)
    held = Held({*values.of(lesson), *(value for nb in editions for value in printed(nb))})
    texts = {**prose(editions[0]), **quiz(lesson, root)}
    return [f"{where}: {sentence}" for where, text in texts.items() for sentence in unheld(text, held)]


def prose(nb: NotebookNode) -> dict[str, str]:
    """What a notebook says in words: {"cell ID": text}."""
    return {f"cell {cell.get('id')}": cell.source for cell in nb.cells if cell.cell_type == "markdown"}


def quiz(lesson: str, root: Path = ROOT) -> dict[str, str]:
    """What each question of a lesson's quiz says, with its choices and their reasons."""
    return {
        f"quizzes/{lesson}.json, question {place}": "\n".join(
            [question["question"], *(part for text, _, why in question["choices"] for part in (text, why))]
        )
        for place, question in enumerate(quiz_of(lesson, root), start=1)
    }


def document_problems(path: Path) -> list[str]:
    """Say which numbers in a document, such as README.md, nothing holds."""
    text, held = path.read_text(encoding="utf-8"), Held(values.of(path.stem))
    return [f"{path.name}: {sentence}" for sentence in unheld(text, held)]
