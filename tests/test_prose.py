"""Spelling and tone of what no notebook holds: the texts beside the lessons, what checks and panels say."""

import ast

import pytest

from utils.environment import ROOT
from utils.notebooks.prose_rules import WORDS, misspelt, tone

TEXTS = [ROOT / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
SPOKEN = sorted(path for room in ("check", "widgets") for path in (ROOT / "utils" / room).rglob("*.py"))


def sentences(path):
    """What a module may say: its string constants of several words, but for docstrings and markup."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return "\n".join(text for text in texts if isinstance(text, str) and " " in text.strip() and "<" not in text)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_spelling_and_tone_of_the_texts(path):
    text = path.read_text(encoding="utf-8")
    assert misspelt(text, ROOT) == []
    assert list(tone(text)) == []


@pytest.mark.parametrize("path", SPOKEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_spelling_of_checks_and_panels(path):
    assert misspelt(sentences(path), ROOT) == []


def test_the_words_are_in_order():
    words = (ROOT / WORDS).read_text(encoding="utf-8").split()
    assert words == sorted(set(words))
