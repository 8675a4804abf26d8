"""Spelling of everything a student reads, and the tone of the course."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from spellchecker import SpellChecker

from utils import check

ROOT = Path(__file__).resolve().parents[1]
KNOWN = set((Path(__file__).parent / "words.txt").read_text(encoding="utf-8").split())
FILES = [*sorted((ROOT / "lessons").glob("*.ipynb")), ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"]


def plain(text):
    """Text without code, formulas, links' targets and HTML."""
    code, formula, link = (
        (r"```.*?```", r"`[^`]*`"),
        (r"\$\$.*?\$\$", r"\$[^$]*\$"),
        (r"!?\[|\]\([^)]*\)", r"https?:\S+"),
    )
    for pattern in (*code, *formula, *link, r"<[^>]+>"):
        text = re.sub(pattern, " ", text, flags=re.S)
    return text


def prose(path):
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return "\n\n".join(c.source for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")


def misspelt(text):
    words = set(re.findall(r"[a-z]+(?:'[a-z]+)?", plain(text).lower()))
    words = {word.removesuffix("'s") for word in words if len(word) > 2}
    return sorted(SpellChecker(distance=1).unknown(words - KNOWN))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_spelling_of_the_texts(path):
    assert misspelt(prose(path)) == []


def test_spelling_of_checks_and_quizzes():
    said = [" ".join((e.target, e.meaning, *e.hints)) for e in check.EXERCISES.values()]
    quizzes = [json.loads(path.read_text("utf-8")) for path in (ROOT / "utils" / "data" / "quizzes").glob("*.json")]
    said += [str([q["question"], q["choices"]]) for quiz in quizzes for q in quiz]
    assert misspelt(" ".join(said)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_exclamation_mark_and_no_filler(path):
    text = plain(prose(path))
    assert "!" not in text
    assert re.findall(r"\b(simply|just|obviously|of course|very|basically|easily)\b", text, re.I) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_sentences_are_short(path):
    text = re.sub(r"^(\||#|- |\d\.).*$", "", plain(prose(path)), flags=re.M)
    sentences = [s for s in re.split(r"(?<=[.?:])\s+", text) if len(s.split()) > 2]
    lengths = sorted(len(s.split()) for s in sentences)
    assert lengths[len(lengths) // 2] <= 18
    assert lengths[-1] <= 45, max(sentences, key=lambda s: len(s.split()))
