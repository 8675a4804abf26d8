"""The guide's checklists, followed in a copy of the project, and each of their steps forgotten once."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from made_course import QUIZ, lesson
from made_notebooks import cell, source_is, tagged, without

from utils.environment import ROOT
from utils.notebooks import build, read, rules, text_of
from utils.notebooks.form_rules import ALLOWED_TAGS
from utils.notebooks.reading import cells
from utils.start.install import child_environment

GUIDE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
KEPT = ("utils", "solutions", "lessons", "tests", ".github", "README.md", "pyproject.toml", "requirements.txt")
BUILD = "import sys; from utils.notebooks import main; sys.exit(main(sys.argv[1:]))"
START, MINE = "solutions/00_start_here.ipynb", "solutions/10_doubling.ipynb"
CLASS, QUESTIONS = "utils/widgets/two_words.py", "utils/data/quizzes/10.json"
CHECK, ANSWERS = "utils/check/lesson_10/ex_10_1.py", "tests/answers/ex_10_1.py"
PANEL = '''"""A panel for doubles."""

import ipywidgets

from utils.plots.style import new_figure
from utils.widgets.panel import LONG, WIDE, Panel


class TwoWords(Panel):
    """Move the number: see its double. Control: number."""

    def __init__(self):
        self.number = ipywidgets.IntSlider(3, 1, 9, description="number", style=WIDE, layout=LONG)
        super().__init__([self.number])

    def picture(self):
        """-> (Figure, sentence) for the control's present value."""
        fig, number = new_figure(), self.number.value
        fig.add_subplot().bar(["number", "double"], [number, 2 * number])
        return fig, f"The double of {number} is {2 * number}."
'''
has_exercise_files = (ROOT / "utils" / "check" / "lesson_00" / "ex_0_1.py").exists()
until_exercises_are_files = pytest.mark.xfail(
    not has_exercise_files, reason="an exercise is not yet a file of its own in utils/check/lesson_NN/", strict=True
)


def checklist(title):
    """Step -> text, of one of the guide's checklists."""
    text = GUIDE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\d\. \*\*(.+?)\.\*\* (.*?)(?=^\d\. |\Z)", text, re.M | re.S))


def edit(path, change):
    """Change a notebook's file."""
    nb = read(path)
    change(nb)
    path.write_text(text_of(nb), encoding="utf-8")


def python(root, *arguments):
    """Run Python in the copy as the commands do -> the lines that it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= child_environment() | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, encoding="utf-8", timeout=300)
    assert done.stderr == ""
    return done.stdout.splitlines()


def listed(text, folder=""):
    """A table of lessons with a row for the new one."""
    row = f"| [10 Doubling]({folder}10_doubling.ipynb) | What is a double? | 5 |\n"
    return re.sub(r"^(?=\| \[01 )", row, text, flags=re.M)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with a lesson 10 and a panel, both by the checklists, and what its build says."""
    root = tmp_path_factory.mktemp("copy") / "course"
    ignored = shutil.ignore_patterns("__pycache__", "browser", "benchmarks")
    for part in map(ROOT.joinpath, KEPT):
        if part.is_dir():
            shutil.copytree(part, root / part.name, ignore=ignored)
        else:
            shutil.copy(part, root / part.name)
    setup = cells(read(root / START), "code")[0].source
    (root / MINE).write_text(text_of(lesson("10", setup=setup, panel="TwoWords")), encoding="utf-8")
    (root / CLASS).write_text(PANEL, encoding="utf-8")
    (root / QUESTIONS).write_text(json.dumps(QUIZ), encoding="utf-8")
    readme = root / "README.md"
    readme.write_text(listed(readme.read_text(encoding="utf-8"), "lessons/"), encoding="utf-8")
    edit(root / START, lambda nb: cell(nb, "map").update(source=listed(cell(nb, "map").source)))
    return root, python(root, "-c", BUILD, "10", "00")


def test_a_lesson_and_a_panel_are_built_and_in_order(project):
    root, said = project
    assert said[-1] == "in order: 2 notebooks", said
    assert [line for line in said if line.startswith("lessons/10_doubling.ipynb: written")]
    assert json.loads((root / "lessons" / "10_doubling.ipynb").read_text("utf-8"))["cells"]


def test_the_tests_of_all_panels_know_the_new_one(project):
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_widgets.py", "-k", "TwoWords"]
    assert re.match(r"[1-9]\d* passed, \d+ deselected", python(project[0], *command)[-1])


def retitled(nb):
    nb.cells[0].source = nb.cells[0].source.replace("**What you need.**", "You need this:")


def shortened(nb):
    nb.cells = [cell for cell in nb.cells if cell.id not in ("c-5", "m-5")]


FORGOTTEN = {
    ("A panel", "The class"): (CLASS, None, f"{MINE}: cell panel: there is no panel TwoWords; write {CLASS}"),
    ("A panel", "The cell"): (MINE, source_is("panel", "1 + 1"), f"{CLASS}: no lesson shows it; write a cell with"),
    ("A section", "The start"): (MINE, tagged("panel"), "code of the section '2. A panel' has no tag run-from-here"),
    ("A section", "Small steps"): (MINE, without("m-5"), "cell c-5: no markdown cell stands directly before this code"),
    ("A section", "The words"): (MINE, source_is("grow", "An optimizer."), "the term optimizer and never links it"),
    ("A lesson", "The notebook"): (MINE, source_is("setup", "import torch"), "its first code cell differs from"),
    ("A lesson", "The parts"): (MINE, retitled, "it has no part **What you need.**"),
    ("A lesson", "The size"): (MINE, shortened, "it has 29 cells, not 30 to 80"),
    ("A lesson", "The quiz"): (QUESTIONS, None, f"it has no quiz; write {QUESTIONS}"),
    ("A lesson", "The rows"): ("README.md", lambda text: "", "README.md: its table has no row with a link to"),
}
FORGOTTEN_OF_AN_EXERCISE = {
    ("An exercise", "The cell"): (MINE, without("ex"), "exercise 10.1 has no cell; write its heading, and a cell that"),
    ("An exercise", "The check"): (CHECK, None, f"cell ex: exercise 10.1 has no check; write {CHECK}"),
    ("An exercise", "The answers"): (ANSWERS, None, f"exercise 10.1 has no answers for the tests; write {ANSWERS}"),
}


def assert_told(root, file, change, sentence, capsys):
    """A build of lesson 10 says this before it runs, when a file is missing or changed; then all is as before."""
    path = root / file
    before = path.read_bytes()
    try:
        if change is None:
            path.unlink()
        elif path.suffix == ".ipynb":
            edit(path, change)
        else:
            path.write_text(change(before.decode()), encoding="utf-8")
        assert build.main(["10"], root) == 1
    finally:
        path.write_bytes(before)
    *found, last = capsys.readouterr().out.splitlines()
    assert last == "nothing was run, nothing was written"
    assert [line for line in found if sentence in line], found


@pytest.mark.parametrize(("file", "change", "sentence"), FORGOTTEN.values(), ids=map(" ".join, FORGOTTEN))
def test_a_forgotten_step_is_one_sentence_and_nothing_runs(project, capsys, file, change, sentence):
    assert_told(project[0], file, change, sentence, capsys)


@pytest.fixture(scope="module")
def with_exercise(project):
    """The same lesson with an exercise, written by the checklist from the one that is most like it."""
    root, _ = project
    for like, new in (("utils/check/lesson_00/ex_0_1.py", CHECK), ("tests/answers/ex_0_1.py", ANSWERS)):
        text = (root / like).read_text(encoding="utf-8")
        (root / new).parent.mkdir(exist_ok=True)
        (root / new).write_text(text.replace("ex_0_1", "ex_10_1").replace("0.1", "10.1"), encoding="utf-8")
    setup = cells(read(root / START), "code")[0].source
    (root / MINE).write_text(text_of(lesson("10", setup, exercise=True, panel="TwoWords")), encoding="utf-8")
    return root, python(root, "-c", BUILD, "10")


@until_exercises_are_files
def test_an_exercise_is_built_and_in_order(with_exercise):
    assert with_exercise[1][-1] == "in order: 1 notebook", with_exercise[1]


@until_exercises_are_files
@pytest.mark.parametrize(
    ("file", "change", "sentence"), FORGOTTEN_OF_AN_EXERCISE.values(), ids=map(" ".join, FORGOTTEN_OF_AN_EXERCISE)
)
def test_a_forgotten_place_of_an_exercise_is_one_sentence(with_exercise, capsys, file, change, sentence):
    assert_told(with_exercise[0], file, change, sentence, capsys)


# --- the guide itself


def test_every_step_of_the_guide_is_forgotten_once():
    titles = ("An exercise", "A panel", "A section", "A lesson")
    steps = {(title, step) for title in titles for step in checklist(title)}
    assert steps == {*FORGOTTEN, *FORGOTTEN_OF_AN_EXERCISE}


def test_the_guide_names_the_files_that_are_written():
    written = {"An exercise": [MINE, CHECK, ANSWERS], "A panel": [CLASS], "A lesson": [MINE, QUESTIONS]}
    for title, files in written.items():
        text = "".join(checklist(title).values())
        for placeholder, name in (("NN_name", "10_doubling"), ("NN", "10"), ("N_M", "10_1")):
            text = text.replace(placeholder, name)
        assert [file for file in files if f"`{file}`" not in text] == []


def test_the_guide_states_the_tags_the_parts_and_the_limits_of_the_rules():
    assert set(re.findall(r"^\| `([\w-]+)` \|", GUIDE, re.M)) == ALLOWED_TAGS
    steps = checklist("A lesson")
    assert [part for part in rules.PARTS if f"`{part}`" not in steps["The parts"]] == []
    size = [float(number) for number in re.findall(r"\d+(?:\.\d)?", steps["The size"])]
    limits = [*rules.CELLS, *rules.MARKDOWN_TO_CODE, *rules.MEDIAN_LINES]
    assert size == [*limits, rules.NOTEBOOK, rules.FIRST_CELL, rules.CELL]
    said, _, example = steps["The quiz"].partition("```json")
    assert [int(number) for number in re.findall(r"\b\d+\b", said)] == [*rules.QUESTIONS, rules.CHOICES]
    questions = json.loads(example.partition("```")[0])
    assert [text for text in rules._quiz_problems(questions) if "1 questions" not in text] == []
    lines, width = re.search(r"at most (\d+) lines of at most (\d+)", checklist("A section")["Small steps"]).groups()
    assert (int(lines), int(width)) == (rules.code_rules.MAX_LINES, rules.code_rules.MAX_WIDTH)
