"""Spelling of everything a student reads, and the tone of the course."""

import ast
import json
import re

import pytest
from notebook_files import LESSONS, ROOT, SOLUTIONS, cells, glossary, name, plain, prose
from spellchecker import SpellChecker

KNOWN = set((ROOT / "tests" / "words.txt").read_text(encoding="utf-8").split())
FILES = [*LESSONS, ROOT / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
QUIZZES = sorted((ROOT / "utils" / "data" / "quizzes").glob("*.json"))
SPOKEN = sorted(path for room in ("check", "widgets") for path in (ROOT / "utils" / room).rglob("*.py"))


def misspelt(text):
    words = set(re.findall(r"[a-z]+(?:'[a-z]+)?", plain(text).lower()))
    words = {word.removesuffix("'s") for word in words if len(word) > 2}
    return sorted(SpellChecker(distance=1).unknown(words - KNOWN))


def shown(path):
    """The sentences that figures, panels and checks show in a notebook: what has a picture or a box, as text.

    Source code, which `show_source` shows in colours, is no sentence.
    """
    outputs = [output.get("data", {}) for cell in cells(path, "code") for output in cell.outputs]
    html = [data for data in outputs if 'class="highlight"' not in data.get("text/html", 'class="highlight"')]
    return "\n".join(data["text/plain"] for data in html)


def sentences(path):
    """What a module may say: its string constants of several words, but for docstrings and markup."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return "\n".join(text for text in texts if isinstance(text, str) and " " in text.strip() and "<" not in text)


@pytest.mark.parametrize("path", [*FILES, *SOLUTIONS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_spelling_of_the_texts(path):
    assert misspelt(prose(path)) == []


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=name)
def test_spelling_of_what_pictures_and_panels_say(path):
    assert misspelt(shown(path)) == []


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_spelling_of_the_quizzes(path):
    assert misspelt(str([[q["question"], q["choices"]] for q in json.loads(path.read_text("utf-8"))])) == []


@pytest.mark.parametrize("path", SPOKEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_spelling_of_checks_and_panels(path):
    assert misspelt(sentences(path)) == []


# words so common that one link in the lessons so far is enough
EVERYDAY = {"block", "context", "head", "id", "parameter", "score", "target", "token", "width"}


def linked(path):
    """Terms that a lesson links to the glossary, in the singular."""
    links = re.findall(r"\[([^\]]+)\]\([^)]*#Glossary\)", prose(path))
    return {form for link in links for form in (link.lower(), link.lower().removesuffix("s"))}


def unlinked(path):
    """Terms of the glossary that a lesson's prose uses and never links; tables, headings and lesson titles aside."""
    text = re.sub(r"^(\||#).*$|\[[^\]]*\]\([^)#]*\)", "", prose(path).split("## Glossary")[0], flags=re.M)
    so_far = EVERYDAY & {term for earlier in LESSONS[: LESSONS.index(path)] for term in linked(earlier)}
    for term in {part.lower() for entry in glossary() for part in entry.split(", ")} - linked(path) - so_far:
        # the entropy in cross-entropy is another term
        if re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", plain(text).lower()):
            yield term


@pytest.mark.parametrize("path", LESSONS, ids=name)
def test_every_term_of_the_glossary_is_linked_where_a_lesson_uses_it(path):
    assert sorted(unlinked(path)) == []


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
