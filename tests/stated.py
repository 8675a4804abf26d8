"""What the lessons state in words: their texts, and the numbers in a sentence."""

import re

from notebook_files import ROOT

from utils.widgets import quiz

IN_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def lesson(number):
    """The student edition of a lesson, such as "02"."""
    (path,) = (ROOT / "lessons").glob(f"{number}_*.ipynb")
    return path


def quiz_text(number):
    """All that the quiz of a lesson says: questions, choices and reasons."""
    lines = []
    for question in quiz.load(number):
        lines.append(question["question"])
        lines += [part for choice in question["choices"] for part in choice if isinstance(part, str)]
    return "\n".join(lines)


def number(text):
    """`12,800`, `12{,}800` and `six` as numbers."""
    if text.lower() in IN_WORDS:
        return IN_WORDS.index(text.lower()) + 1
    return float(re.sub(r"[{},]", "", text))


def assert_stated(text, sentence, wanted):
    """Assert that the regular expression `sentence` is found once in a text, with the wanted numbers in its groups."""
    found = [[number(group) for group in match.groups()] for match in re.finditer(sentence, text)]
    assert found == [wanted], f"the sentence {sentence!r} states {found}; right is {wanted}, once"
