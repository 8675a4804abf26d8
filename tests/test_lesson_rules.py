"""Each rule for a lesson and for a course, broken once in a small course."""

import copy
import json

import pytest
from made_course import QUIZ, as_if_run, course, lesson
from made_notebooks import added, cell, md, outputs_are, shown, source_is, tagged, without

from utils.notebooks import course_rules, exercise_rules, rules
from utils.notebooks.derive import derive
from utils.notebooks.form import text_of
from utils.notebooks.reading import Course, Lesson

CHECK, ANSWERS, QUIZ_FILE = "utils/check/lesson_01/ex_1_1.py", "tests/answers/ex_1_1.py", "utils/data/quizzes/01.json"


def asked(root, change=lambda nb: None, edition="solutions"):
    """What the book says of lesson 01 of a course, changed."""
    nb = as_if_run(lesson("01", exercise=True))
    change(nb)
    nb = as_if_run(derive(nb), "not attempted") if edition == "lessons" else nb
    return rules.stored(Lesson(nb, "01_double", edition, Course(root)))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course in order, which must not be changed."""
    return course(tmp_path_factory.mktemp("course"))


def test_a_course_in_order_has_nothing_said_of_it(made):
    assert asked(made) == asked(made, edition="lessons") == of_whole(made) == []


def has(name, text):
    """Add a sentence to a cell."""

    def change(nb):
        cell(nb, name).source += f"\n\n{text}"

    return change


def many(nb):
    nb.cells[1:1] = [md("More.", f"more-{number}") for number in range(51)]


def long(nb):
    for place in range(3, 13):
        cell(nb, f"c-{place}").source = "\n".join(f"x = {line}" for line in range(8))


HEAD = "## Glossary\n\n| Term | Meaning |\n|---|---|\n"
PICTURE = shown({"text/html": "<img alt='a wrod'>", "text/plain": "a wrod"})
BROKEN = [
    (source_is("title", "# T\n\n**What you'll do.** [token](#Glossary)"), "it has no part **What you'll learn.**"),
    (without("summary"), "it has no part ## Summary"),
    (source_is("further", "## Going further\n\nOn."), "it has no part **Next:**"),
    (tagged("panel"), "cell panel: the first code of the section '2. A panel' has no tag run-from-here"),
    (source_is("quiz", "widgets.quiz"), 'it has no cell with widgets.Quiz("01")'),
    (source_is("panel", "widgets.WidePanel()"), "there is no panel WidePanel; write utils/widgets/wide_panel.py"),
    (source_is("m-ex", "### Exercise 1.2 (★, 2 min)"), "its exercises are numbered 1.2, not 1.1"),
    (has("further", "### Exercise 1.2 (★, 2 min)"), "no cell with the answer to exercise 1.2 calls check.ex_1_2"),
    (outputs_are("ex"), "cell ex: it has to show one verdict that begins with 'passed': []"),
    (has("grow", "A wrod."), "cell grow: the word wrod is in no dictionary; mend it, or add it to tests/words.txt"),
    (outputs_are("c-3", PICTURE), "cell c-3: it shows the word wrod, which is in no dictionary"),
    (has("grow", "It simply grows."), "it says 'simply', which the course does without"),
    (has("grow", "It grows!"), "it says '!', which the course does without"),
    (has("grow", "word " * 46 + "end."), "a sentence has 47 words, more than 45"),
    (has("grow", ("word " * 20 + "end. ") * 40), "half of its sentences have 21 words or more"),
    (has("grow", "[tensor](00_start_here.ipynb#Glossary)"), "it links [tensor] to the glossary, which has no"),
    (has("grow", "So 98,765 numbers."), "cell grow: nothing prints or computes 98,765 in “So 98,765 numbers.”"),
    (has("grow", "A score."), "it uses the term score and never links it: [score](00_start_here.ipynb#Glossary)"),
    (has("grow", "[there](02_none.ipynb)"), "its link 02_none.ipynb leads to no file"),
    (has("grow", "[there](00_start_here.ipynb#None)"), "its link 00_start_here.ipynb#None leads to no heading"),
    (source_is("title", "# T"), "it links no term to the glossary"),
    (added(md(HEAD + "| b | c |\n| a | c |", "g")), "order of the alphabet at a"),
    (added(md(HEAD + "| a |", "g")), "a row of the glossary is not | term |"),
]


@pytest.mark.parametrize(("change", "sentence"), BROKEN, ids=[sentence[:60] for _, sentence in BROKEN])
def test_each_rule_for_a_lesson_broken_once_gives_its_sentence(made, change, sentence):
    assert [found for found in asked(made, change) if sentence in found], asked(made, change)


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (many, ["it has 84 cells, not 30 to 80", "it has 4.6 markdown cells for each code cell, not 1.0 to 1.5"]),
        (long, ["it has 8 lines in its median code cell, not 3 to 6"]),
    ],
)
def test_the_size_is_that_of_the_students_edition(made, change, sentences):
    found = asked(made, change, "lessons")
    assert found[: len(sentences)] == sentences
    assert not [text for text in asked(made, change) if text in sentences and text.startswith("it has")]


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (CHECK, f"cell ex: exercise 1.1 has no check; write {CHECK}"),
        (ANSWERS, f"exercise 1.1 has no answers for the tests; write {ANSWERS}"),
        (QUIZ_FILE, f"it has no quiz; write {QUIZ_FILE}"),
    ],
)
def test_a_file_that_a_lesson_lacks_is_named(tmp_path, missing, sentence):
    root = course(tmp_path)
    empty("utils/check/lesson_00/ex_0_1.py")(root)  # exercises are files here
    (root / missing).unlink()
    assert asked(root) == [sentence]


def test_a_check_without_a_cell_is_named(made):
    found = asked(made, lambda nb: [without(name)(nb) for name in ("ex", "m-ex")])
    assert f"exercise 1.1 has no cell; write its heading, and a cell that calls {CHECK}" in found


def quiz(change):
    questions = copy.deepcopy(QUIZ)
    change(questions)
    return json.dumps(questions)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", 'it is not a list of {"question": …, "choices": [[text, true or false, why], …]}'),
        ('[["a"]]', "it is not a list of"),
        ("5", "it is not a list of"),
        (quiz(lambda questions: questions.pop()), "it has 2 questions, not 3 to 6"),
        (quiz(lambda questions: questions[1]["choices"].pop()), "question 2 has 2 choices, fewer than 3"),
        (quiz(lambda questions: questions[0]["choices"].pop(0)), "question 1 has 0 right choices, not one"),
        (quiz(lambda questions: questions[0]["choices"][1].__setitem__(2, "no")), "question 1: two of its choices"),
        (quiz(lambda questions: questions[0].update(question="Wrod?")), "the word wrod is in no dictionary"),
    ],
)
def test_a_quiz_that_is_not_in_order_is_told_with_its_file(tmp_path, text, sentence):
    root = course(tmp_path)
    (root / QUIZ_FILE).write_text(text, encoding="utf-8")
    assert [found for found in asked(root) if found.startswith(f"{QUIZ_FILE}: {sentence}")], asked(root)
    assert of_whole(root) == []  # no count is taken of it


def written(name, text):
    """Write this into a file."""

    def change(root):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    return change


def empty(name):
    return written(name, "")


def called(name):
    """Give lesson 01 another name."""
    return lambda root: (root / "solutions/01_double.ipynb").rename(root / f"solutions/{name}.ipynb")


OTHER = text_of(lesson("01", setup="import torch"))
START, ALONE = "solutions/00_start_here.ipynb", "no lesson has this number; write solutions/10_name.ipynb"
WHOLE = [
    (empty("README.md"), "README.md: its table has no row with a link to lessons/01_double.ipynb; write one"),
    (called("01_twice"), f"{START}: its map has no row with a link to 01_twice.ipynb; write one"),
    (called("draft"), "solutions/draft.ipynb: its name is not NN_name, such as 10_a_lesson.ipynb"),
    (empty("lessons/01_twice.ipynb"), "2 notebooks have the number 01"),
    (
        written("solutions/01_double.ipynb", OTHER),
        f"solutions/01_double.ipynb: its first code cell differs from that of {START}",
    ),
    (empty("utils/data/quizzes/10.json"), f"utils/data/quizzes/10.json: {ALONE}"),
    (empty("utils/check/lesson_10/ex_10_2.py"), f"utils/check/lesson_10/ex_10_2.py: {ALONE}"),
    (
        empty("tests/answers/ex_1_2.py"),
        "tests/answers/ex_1_2.py: this exercise has no check; write utils/check/lesson_01/ex_1_2.py",
    ),
    (
        empty("utils/widgets/wide_explorer.py"),
        "utils/widgets/wide_explorer.py: no lesson shows it; write a cell with widgets.WideExplorer()",
    ),
    (written("README.md", "It has 98,765 parts."), "README.md: nothing prints or computes 98,765 in"),
    (
        written("README.md", "Nine lessons, one hour, one exercise."),
        "README.md: a count is out of date in “Nine lessons",
    ),
]


def of_whole(root):
    return rules.whole(Course(root)) + rules.whole_stored(Course(root))


@pytest.mark.parametrize(("change", "sentence"), WHOLE, ids=[sentence[:60] for _, sentence in WHOLE])
def test_each_rule_for_a_course_broken_once_gives_its_sentence(tmp_path, change, sentence):
    root = course(tmp_path)
    change(root)
    assert [found for found in of_whole(root) if found.startswith(sentence)], of_whole(root)


def test_every_rule_for_a_lesson_and_a_course_is_broken_by_one_of_the_cases(made, tmp_path):
    silent = {*rules.SOURCE.lesson, *rules.STORED.lesson}
    for change, _ in BROKEN:
        nb = as_if_run(lesson("01", exercise=True))
        change(nb)
        silent -= {rule for rule in silent if any(rule(Lesson(nb, "01_double", "solutions", Course(made))))}
    assert silent == {rules.size, exercise_rules.has_files}  # broken in tests of their own
    silent = {*course_rules.RULES, *course_rules.STORED}
    for place, (change, _) in enumerate(WHOLE):
        change(root := course(tmp_path / str(place)))
        silent -= {rule for rule in silent if any(rule(Course(root)))}
    assert silent == set()
