"""A small lesson and a small course, as somebody would write them who follows the guide for contributors."""

import json

from made_notebooks import code, md
from nbformat.v4 import new_notebook, new_output

from utils.notebooks import canonical, text_of

SETUP = "import torch\n\nfrom utils import check, widgets"
STEP = "x = torch.arange({0})\ny = x * {0}\nprint(y.sum().item())"
ANSWER = '''import torch

from utils import check


def table_size(table: torch.Tensor) -> int:
    """How many numbers does a table hold? table (rows, columns) -> one whole number."""
    ### BEGIN SOLUTION
    rows, columns = table.shape
    return rows * columns
    ### END SOLUTION


check.ex_{}_1(table_size)'''
QUIZ = [
    {
        "question": f"Which number is the double of {number}?",
        "choices": [
            [f"It is {2 * number}.", True, f"Two times {number} makes {2 * number}."],
            [f"It is {number}.", False, f"This is {number} itself."],
            [f"It is {number + 1}.", False, f"This is {number} and one more."],
        ],
    }
    for number in (3, 4, 5)
]
GLOSSARY = (
    "## Glossary\n\n| Term | Meaning |\n|---|---|\n| score | how well a token fits |\n| token | a piece of text |"
)


def lesson(number, setup=SETUP, exercise=False, panel="TableExplorer"):
    """A lesson of some thirty cells with a panel, a quiz and perhaps an exercise, not run."""
    title = (
        f"# {number} Doubling\n\n**What you'll do.** Double some numbers.\n\n"
        "**What you'll learn.** What a double is.\n\n"
        "**What you need.** Nothing but a [token](00_start_here.ipynb#Glossary). About five minutes."
    )
    cells = [md(title, "title"), code(setup, "setup")]
    cells += [md("## 1. Doubling\n\nTwice a number is its double.", "m-part"), code(STEP.format(2), "part")]
    for place in range(3, 13):
        cells += [md(f"The sum of {place} doubles follows.", f"m-{place}"), code(STEP.format(place), f"c-{place}")]
    cells.append(md("So the sums grow.", "grow"))
    if exercise:
        heading = f"### Exercise {int(number)}.1 (★, 2 min)\n\nReturn how many numbers the table holds."
        cells += [md(heading, "m-ex"), code(ANSWER.format(int(number)), "ex", tags=["exercise"])]
    cells += [
        md("## 2. A panel\n\nMove it.", "m-panel"),
        code(f"from utils import widgets\n\nwidgets.{panel}()", "panel", tags=["run-from-here"]),
        md("## Summary\n\nA double is twice a number.", "summary"),
        md("## Check yourself\n\nThree questions.", "m-quiz"),
        code(f'from utils import widgets\n\nwidgets.Quiz("{number}")', "quiz", tags=["run-from-here"]),
        md("## Going further\n\nDouble your own numbers.\n\n**Next:** [Start here](00_start_here.ipynb).", "further"),
    ]
    return canonical(new_notebook(cells=cells))


def as_if_run(nb, verdict="passed"):
    """The notebook with counts, and the output of its exercise."""
    for count, cell in enumerate((cell for cell in nb.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = count
        if cell.id == "ex":
            data = {"text/plain": f"{verdict}: well."}
            cell.outputs = [new_output("execute_result", data=data, execution_count=count)]
    return canonical(nb)


def course(folder):
    """A project with a start, a lesson 01 that has an exercise, and all that belongs to them."""
    start = lesson("00")
    start.cells[-1:-1] = [md(GLOSSARY, "glossary"), md("| Lesson |\n|---|\n| [01](01_double.ipynb) |", "map")]
    files = {
        "solutions/00_start_here.ipynb": text_of(start),
        "solutions/01_double.ipynb": text_of(lesson("01", exercise=True)),
        "README.md": "[00](lessons/00_start_here.ipynb) [01](lessons/01_double.ipynb)",
        "tests/words.txt": "glossary\n",
        "utils/widgets/table_explorer.py": "",
        "utils/widgets/story_panel.py": "",
        "utils/widgets/quiz.py": "",
        "utils/check/lesson_01/ex_1_1.py": "",
        "tests/answers/ex_1_1.py": "",
        "utils/data/quizzes/00.json": json.dumps(QUIZ),
        "utils/data/quizzes/01.json": json.dumps(QUIZ),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
