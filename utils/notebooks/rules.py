"""The rule book: all that a lesson must have, and the lists of all rules.

A rule is a small function that takes a lesson, a notebook, a cell or an output, and yields a sentence for each
violation. `build` asks SOURCE before anything runs and STORED afterwards, the tests ask both, for every notebook.
Here are the parts and the limits of a lesson; the files *_rules.py have the rest, by what they are about.
"""

import json
import re
from collections.abc import Callable, Iterator
from statistics import median_high
from typing import NamedTuple

from nbformat import NotebookNode

from utils.notebooks import code_rules, course_rules, exercise_rules, form_rules, output_rules, prose_rules
from utils.notebooks.derive import MarkerError, blocks
from utils.notebooks.form import canonical, text_of
from utils.notebooks.prose_rules import misspelt
from utils.notebooks.reading import Course, Lesson, cells, code_lines, load, prose, sections, tags
from utils.widgets import panels_in

PARTS = (
    "**What you'll do.**",
    "**What you'll learn.**",
    "**What you need.**",
    "## Summary",
    "## Check yourself",
    "## Going further",
    "**Next:**",
)
CELLS = (30, 80)
MARKDOWN_TO_CODE = (1.0, 1.5)
MEDIAN_LINES = (3, 6)
FEWEST_LINES = {"00": 2}  # its primer shows one operation a cell, each with its result
QUESTIONS = (3, 6)
CHOICES = 3  # at least
SHORTEST = 4  # characters of a choice, or of its reason

# how long a reader waits, in seconds: for the first cell, for any cell without a sign, for the whole
FIRST_CELL, CELL, NOTEBOOK = 5, 10, 20
LONGER = {"05": 45, "08": 45, "09": 90}  # lessons that train; 09 also loads a model of 0.5 GB
ROOM = 2  # times the budget: machines are noisy
MOVES = re.compile(r"tqdm|Monitor|it/s\]")  # a progress bar, in the source or in what it showed


# --- the parts of a lesson


def parts(lesson: Lesson) -> Iterator[str]:
    """A lesson begins with what it is about, and ends with a summary, a quiz and the way on."""
    yield from (f"it has no part {part}" for part in PARTS if part not in prose(lesson.nb))


def size(lesson: Lesson) -> Iterator[str]:
    """A lesson is an hour's work in small steps; the student's edition is measured."""
    markdown, code = cells(lesson.nb, "markdown"), cells(lesson.nb, "code")
    if lesson.edition != "lessons" or not code:
        return
    fewest = FEWEST_LINES.get(lesson.number, MEDIAN_LINES[0])
    for what, number, (low, high) in (
        ("cells", len(lesson.nb.cells), CELLS),
        ("markdown cells for each code cell", len(markdown) / len(code), MARKDOWN_TO_CODE),
        ("lines in its median code cell", median_high(map(code_lines, code)), (fewest, MEDIAN_LINES[1])),
    ):
        if not low <= number <= high:
            yield f"it has {number:.3g} {what}, not {low} to {high}"


def sections_start(lesson: Lesson) -> Iterator[str]:
    """An instructor can jump into each section, the first by way of the notebook's first cell."""
    for heading, code in sections(lesson.nb)[1:]:
        exercise_that_imports = "exercise" in tags(code[0]) and code[0].source.startswith(("import ", "from "))
        if "run-from-here" not in tags(code[0]) and not exercise_that_imports:
            yield f"cell {code[0].id}: the first code of the section {heading!r} has no tag run-from-here"


def quiz(lesson: Lesson) -> Iterator[str]:
    """A lesson has a quiz in a file of its own, and a cell that shows it."""
    file = f"utils/data/quizzes/{lesson.number}.json"
    path = lesson.course.root / file
    if not any(f'Quiz("{lesson.number}")' in cell.source for cell in cells(lesson.nb, "code")):
        yield f'it has no cell with widgets.Quiz("{lesson.number}")'
    if not path.exists():
        yield f"it has no quiz; write {file}"
        return
    try:
        questions = json.loads(path.read_text(encoding="utf-8"))
        found = list(_quiz_problems(questions))
        said = "\n\n".join(str([part["question"], part["choices"]]) for part in questions)
        found += [f"the word {word} is in no dictionary" for word in misspelt(said, lesson.course.root)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        found = [f'it is not a list of {{"question": …, "choices": [[text, true or false, why], …]}} ({error})']
    yield from (f"{file}: {sentence}" for sentence in found)


def _quiz_problems(questions: list) -> Iterator[str]:
    """Three to six questions, one right choice each, and a reason for every choice."""
    if not QUESTIONS[0] <= len(questions) <= QUESTIONS[1]:
        yield f"it has {len(questions)} questions, not {QUESTIONS[0]} to {QUESTIONS[1]}"
    for number, question in enumerate(questions, start=1):
        choices = question["choices"]
        texts = [text for choice, _, why in choices for text in (choice, why)]
        if len(choices) < CHOICES:
            yield f"question {number} has {len(choices)} choices, fewer than {CHOICES}"
        if (right := [is_right for _, is_right, _ in choices].count(True)) != 1:
            yield f"question {number} has {right} right choices, not one"
        if len(set(texts)) < len(texts) or min(map(len, texts)) < SHORTEST:
            yield f"question {number}: two of its choices or reasons are the same, or one says nothing"


def panels_exist(lesson: Lesson) -> Iterator[str]:
    """A panel that a cell shows has its file."""
    known = panels_in(lesson.course.root / "utils" / "widgets")
    for cell in cells(lesson.nb, "code"):
        for name in re.findall(r"\bwidgets\.([A-Z]\w*)", cell.source):
            if name not in known:
                file = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
                yield f"cell {cell.id}: there is no panel {name}; write utils/widgets/{file}.py"


def numbers_held(lesson: Lesson) -> Iterator[str]:
    """Every number in the prose of a lesson and its quiz is printed by a cell, or computed in values.py."""
    if lesson.edition == "solutions" and not any(quiz(lesson)):  # which may have found a quiz that cannot be read
        from utils.notebooks import numbers  # loads the whole library, which the rules on sources do not need

        student = load(lesson.course.root / "lessons" / f"{lesson.name}.ipynb")
        yield from numbers.problems(lesson.number, filter(None, [lesson.nb, student]), lesson.course.root)


# --- the book


class Book(NamedTuple):
    """Rules by what they take; those for a lesson also need the course that it is in."""

    notebook: list[Callable]
    cell: list[Callable]
    code: list[Callable]
    output: list[Callable]
    lesson: list[Callable]


SOURCE = Book(
    notebook=[
        form_rules.one_title,
        form_rules.introduced,
        exercise_rules.exercise_headings,
        exercise_rules.unique_answers,
    ],
    cell=[
        form_rules.known_type,
        form_rules.only_tags,
        form_rules.no_attachments,
        form_rules.clean_source,
        form_rules.markers,
    ],
    code=[*code_rules.RULES, exercise_rules.answer_is_exercise],
    output=[],
    lesson=[
        parts,
        size,
        sections_start,
        quiz,
        panels_exist,
        exercise_rules.numbered,
        exercise_rules.has_files,
        prose_rules.spelling,
        prose_rules.plain_tone,
        prose_rules.glossary_in_order,
        prose_rules.glossary_links,
        prose_rules.terms_linked,
        prose_rules.links_resolve,
    ],
)
STORED = Book(
    notebook=[
        form_rules.valid,
        form_rules.plain_metadata,
        form_rules.unique_ids,
        form_rules.counted,
        form_rules.small_file,
    ],
    cell=[],
    code=[form_rules.told_errors, form_rules.whole_streams, form_rules.result_counts],
    output=[
        form_rules.no_widget,
        form_rules.no_output_metadata,
        form_rules.short_traceback,
        *output_rules.RULES,
    ],
    lesson=[exercise_rules.verdict, prose_rules.shown_spelling, numbers_held],
)


def before(lesson: Lesson) -> list[str]:
    """Say what is wrong with the source of a lesson, so that nothing long runs in vain."""
    return _broken(SOURCE, lesson.nb) + _in_course(SOURCE, lesson)


def stored(lesson: Lesson) -> list[str]:
    """Say everything that is wrong with a stored lesson, one sentence each; a good one gives []."""
    return problems(lesson.nb) + _in_course(SOURCE, lesson) + _in_course(STORED, lesson)


def whole(course: Course) -> list[str]:
    """Say what is wrong with the course as a whole, of which all sources are read."""
    return [sentence for rule in course_rules.RULES for sentence in rule(course)]


def whole_stored(course: Course) -> list[str]:
    """Say what is wrong with what the course as a whole has stored: counts and numbers in its texts."""
    return [sentence for rule in course_rules.STORED for sentence in rule(course)]


def problems(nb: NotebookNode) -> list[str]:
    """Say what is wrong with a stored notebook, whatever course it is in."""
    found = _broken(STORED, nb) + _broken(SOURCE, nb)
    # the rules name what is wrong; this makes sure that no part of the form was forgotten
    if not found and text_of(nb) != text_of(canonical(nb)):
        return ["the notebook is not in canonical form"]
    return found


def _in_course(book: Book, lesson: Lesson) -> list[str]:
    return [sentence for rule in book.lesson for sentence in rule(lesson)]


def _broken(book: Book, nb: NotebookNode) -> list[str]:
    found = [sentence for rule in book.notebook for sentence in rule(nb)]
    for cell in nb.cells:
        found += [f"cell {cell.get('id')}: {sentence}" for sentence in _cell_problems(book, cell)]
    return found


def _cell_problems(book: Book, cell: NotebookNode) -> Iterator[str]:
    for rule in book.cell:
        yield from rule(cell)
    if cell.cell_type != "code":
        return
    try:
        blocks(cell)
    except MarkerError:
        # `markers` has told, and the rules about answers cannot be asked
        return
    for rule in book.code:
        yield from rule(cell)
    for output in cell.get("outputs", []):
        for rule in book.output:
            yield from rule(output)


# --- time


def slow(lesson: str, nb: NotebookNode, seconds: dict[str, float]) -> list[str]:
    """Say which cells of a notebook that was run, or all of it, took more than twice their budget.

    `lesson` is the lesson's number, `seconds` maps the ids of the code cells to what they took. These are notes: no
    rule is broken, since a time depends on the machine.
    """
    run = [cell for cell in nb.cells if cell.id in seconds]
    budgets = {cell.id: CELL for cell in run if not MOVES.search(f"{cell.source}{cell.outputs}")}
    if run:
        budgets[run[0].id] = FIRST_CELL
    found = [
        f"cell {cell}: it took {seconds[cell]:.1f} s, and {budget} s is its budget"
        for cell, budget in budgets.items()
        if seconds[cell] > ROOM * budget
    ]
    total, budget = sum(seconds.values()), LONGER.get(lesson, NOTEBOOK)
    if total > ROOM * budget:
        found.append(f"the notebook took {total:.1f} s, and {budget} s is its budget")
    return found
