"""Rules for what a lesson says: its spelling and tone, its links, the terms of the glossary."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nbformat import NotebookNode
from spellchecker import SpellChecker

from utils.notebooks.reading import Lesson, cells, plain, prose

WORDS = "tests/words.txt"
FILLER = re.compile(r"!|\b(simply|just|obviously|of course|very|basically|easily)\b", re.IGNORECASE)
TO_GLOSSARY = re.compile(r"\[([^\]]+)\]\([^)#]*#Glossary\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NO_SENTENCE = re.compile(r"^(\||#|- |\d\.).*$", re.MULTILINE)
MEDIAN, LONGEST = 18, 45  # words in a sentence
# words so common that one link in the lessons so far is enough
EVERYDAY = {"block", "context", "head", "id", "parameter", "score", "target", "token", "width"}


@lru_cache(maxsize=1)
def _dictionary() -> SpellChecker:
    return SpellChecker(distance=1)


def misspelt(text: str, root: Path) -> list[str]:
    """Words of a Markdown text that neither the dictionary nor tests/words.txt has."""
    words = set(re.findall(r"[a-z]+(?:'[a-z]+)?", plain(text).lower()))
    words = {word.removesuffix("'s") for word in words if len(word) > 2}
    return sorted(_dictionary().unknown(words - set((root / WORDS).read_text(encoding="utf-8").split())))


def spelling(lesson: Lesson) -> Iterator[str]:
    """Every word is one that a dictionary has, or that was looked at once."""
    for cell in cells(lesson.nb, "markdown"):
        for word in misspelt(cell.source, lesson.course.root):
            yield f"cell {cell.id}: the word {word} is in no dictionary; mend it, or add it to {WORDS}"


def shown(nb: NotebookNode) -> Iterator[tuple[str, str]]:
    """(id of the cell, sentence) for what figures, panels and checks show: what has a picture or a box, as text.

    Source code, which `show_source` shows in colours, is no sentence.
    """
    for cell in cells(nb, "code"):
        for output in cell.outputs:
            data = output.get("data", {})
            if 'class="highlight"' not in data.get("text/html", 'class="highlight"'):
                yield cell.id, data["text/plain"]


def shown_spelling(lesson: Lesson) -> Iterator[str]:
    """The same for the sentences that pictures, panels and checks show."""
    for cell, sentence in shown(lesson.nb):
        for word in misspelt(sentence, lesson.course.root):
            yield f"cell {cell}: it shows the word {word}, which is in no dictionary; mend it, or add it to {WORDS}"


def tone(text: str) -> Iterator[str]:
    """No exclamation marks, no filler, sentences of about fifteen words."""
    for found in FILLER.finditer(plain(text)):
        yield f"it says {found[0]!r}, which the course does without: …{plain(text)[: found.end()][-40:]}"
    parts = re.split(r"(?<=[.?:])\s+", NO_SENTENCE.sub("", plain(text)))
    sentences = sorted((part for part in parts if len(part.split()) > 2), key=lambda part: len(part.split()))
    if not sentences:
        return
    if (median := len(sentences[len(sentences) // 2].split())) > MEDIAN:
        yield f"half of its sentences have {median} words or more, and {MEDIAN} is the limit"
    if (longest := len(sentences[-1].split())) > LONGEST:
        yield f"a sentence has {longest} words, more than {LONGEST}: {' '.join(sentences[-1].split()[:8])}…"


def plain_tone(lesson: Lesson) -> Iterator[str]:
    """The course speaks calmly, in short sentences."""
    yield from tone(prose(lesson.nb))


# --- links and terms


def glossary_in_order(lesson: Lesson) -> Iterator[str]:
    """The first lesson's glossary is sorted, and says something for each term."""
    text = prose(lesson.nb).partition("## Glossary")[2]
    terms = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[1:]
    if terms != sorted(terms, key=str.lower):
        after = next(b for a, b in pairwise(terms) if a.lower() > b.lower())
        yield f"the glossary is not in the order of the alphabet at {after}"
    if text and terms != list(lesson.course.glossary):
        yield "a row of the glossary is not | term | meaning |"


def glossary_links(lesson: Lesson) -> Iterator[str]:
    """A link to the glossary leads to an entry, and each lesson has one."""
    for term in TO_GLOSSARY.findall(prose(lesson.nb)):
        if not _singular(term) & lesson.course.terms:
            yield f"it links [{term}] to the glossary, which has no such term"
    if not TO_GLOSSARY.search(prose(lesson.nb)):
        yield "it links no term to the glossary, as in [token](00_start_here.ipynb#Glossary)"


def _singular(term: str) -> set[str]:
    return {term.lower(), term.lower().removesuffix("s")}


def _linked(nb: NotebookNode) -> set[str]:
    return {form for term in TO_GLOSSARY.findall(prose(nb)) for form in _singular(term)}


def terms_linked(lesson: Lesson) -> Iterator[str]:
    """Every term of the glossary that a lesson uses is linked there; tables, headings and lesson titles aside."""
    text = prose(lesson.nb).partition("## Glossary")[0]
    text = plain(re.sub(r"^(\||#).*$|\[[^\]]*\]\([^)#]*\)", "", text, flags=re.MULTILINE)).lower()
    earlier = [nb for name, nb in lesson.course.sources.items() if name < lesson.name]
    so_far = EVERYDAY & {term for nb in earlier for term in _linked(nb)}
    for term in sorted(lesson.course.terms - _linked(lesson.nb) - so_far):
        # the entropy in cross-entropy is another term
        if re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", text):
            yield f"it uses the term {term} and never links it: [{term}](00_start_here.ipynb#Glossary)"


def links_resolve(lesson: Lesson) -> Iterator[str]:
    """A link inside the course leads to a file that is there, and to a heading in it."""
    for target in LINK.findall(prose(lesson.nb)):
        file, _, anchor = target.partition("#")
        if target.startswith("http"):
            continue
        text = _linked_text(lesson, file)
        if text is None:
            yield f"its link {target} leads to no file"
        elif anchor and not re.search(rf"^#+ {re.escape(anchor.replace('-', ' '))}$", text, re.MULTILINE):
            yield f"its link {target} leads to no heading"


def _linked_text(lesson: Lesson, file: str) -> str | None:
    """What stands in the file of a link, None if there is none; for a lesson its source, it may not be derived yet."""
    if not file:
        return prose(lesson.nb)
    if (name := file.removesuffix(".ipynb")) in lesson.course.sources:
        return prose(lesson.course.sources[name])
    path = lesson.course.root / lesson.edition / file
    return (path.read_text(encoding="utf-8") if path.is_file() else "") if path.exists() else None
