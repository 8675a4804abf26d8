"""What a notebook says, and the course that it belongs to: read by the rules and by the tests."""

import re
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from utils.notebooks.form import read

EDITIONS = ("solutions", "lessons")
EXERCISE = re.compile(r"^### Exercise (\d+\.\d+) \(★+, \d+ min\)$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
NOT_WORDS = (r"```.*?```", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$]*\$", r"!?\[|\]\([^)]*\)", r"https?:\S+", r"<[^>]+>")
ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|$", re.MULTILINE)


class UnreadableError(ValueError):
    """A file is not a notebook."""


def load(path: Path) -> NotebookNode | None:
    """Read a notebook; None if there is no such file. Raises UnreadableError."""
    if not path.exists():
        return None
    try:
        nb = read(path)
        # touches what the rules and the builder rely on
        _ = [(cell.cell_type, cell.source, cell.metadata) for cell in nb.cells]
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise UnreadableError(f"{path.parent.name}/{path.name}: not a notebook ({error})") from None
    return nb


class Course:
    """A project's folder: its sources by name, in their order, and what lies beside them."""

    def __init__(self, root: Path):
        self.root = root

    @cached_property
    def names(self) -> list[str]:
        """The notebooks of either folder, without their ending."""
        return sorted({path.stem for edition in EDITIONS for path in (self.root / edition).glob("*.ipynb")})

    @cached_property
    def sources(self) -> dict[str, NotebookNode]:
        """The solutions that can be read, by name."""
        found = {}
        for name in self.names:
            try:
                found[name] = load(self.root / "solutions" / f"{name}.ipynb")
            except UnreadableError:  # the builder tells it of the notebook itself
                continue
        return {name: nb for name, nb in found.items() if nb}

    @cached_property
    def glossary(self) -> dict[str, str]:
        """{term: meaning} of the first lesson's table, in its order."""
        start = prose(next(iter(self.sources.values()))) if self.sources else ""
        return dict(ROW.findall(start.partition("## Glossary")[2])[1:])  # without the head

    @cached_property
    def terms(self) -> set[str]:
        """The terms of the glossary in small letters; an entry may hold two."""
        return {part.lower() for entry in self.glossary for part in entry.split(", ")}


class Lesson(NamedTuple):
    """One edition of a notebook in its course; `name` is that of its file, such as 03_counting_parameters."""

    nb: NotebookNode
    name: str
    edition: str
    course: Course

    @property
    def number(self) -> str:
        """The number in its name: "03"."""
        return number_of(self.name)


def documents(root: Path) -> list[Path]:
    """The texts beside the lessons whose numbers and counts are held."""
    return [path for path in (root / "README.md", root / ".github" / "TEACHING.md") if path.exists()]


def number_of(name: str) -> str:
    """The number that a notebook's name begins with: "03"."""
    return name.partition("_")[0]


def tags(cell: NotebookNode) -> list[str]:
    """A cell's tags."""
    return cell.metadata.get("tags", [])


def cells(nb: NotebookNode, kind: str) -> list[NotebookNode]:
    """A notebook's cells of one kind, in their order."""
    return [cell for cell in nb.cells if cell.cell_type == kind]


def prose(nb: NotebookNode) -> str:
    """All that a notebook says in words."""
    return "\n\n".join(cell.source for cell in cells(nb, "markdown"))


def unfenced(cell: NotebookNode) -> str:
    """A markdown cell's text without its code fences; nothing for other cells."""
    return FENCED.sub("", cell.source) if cell.cell_type == "markdown" else ""


def plain(text: str) -> str:
    """Markdown without code, formulas, links' targets and HTML."""
    for pattern in NOT_WORDS:
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    return text


def sections(nb: NotebookNode) -> list[tuple[str, list[NotebookNode]]]:
    """(heading, code cells) for each part that begins with a `## ` heading and has code.

    The first section goes on where the notebook's first code cells end, so it holds them too.
    """
    parts = [("start", [])]
    for cell in nb.cells:
        if cell.cell_type == "code":
            parts[-1][1].append(cell)
        elif cell.source.startswith("## "):
            parts.append((cell.source.splitlines()[0].strip("# "), []))
    parts = [(heading, code) for heading, code in parts if code]
    if len(parts) > 1 and parts[0][0] == "start":
        (_, first), (heading, second), *rest = parts
        parts = [(heading, [*first, *second]), *rest]
    return parts


def code_lines(cell: NotebookNode) -> int:
    """Lines of a code cell that are neither blank nor an import, which each section has to repeat."""
    return sum(not re.match(r"\s*(import|from)\b|\s*$", line) for line in cell.source.splitlines())
