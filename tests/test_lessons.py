"""What the notebooks teach: sections stand alone, exercises are solved by their solutions, links lead somewhere."""

import re
import sys

import pytest
from notebook_files import (
    LESSONS,
    ROOT,
    SOLUTIONS,
    START,
    cells,
    exercises,
    name,
    prose,
    run,
)

from utils import check
from utils.notebooks.reading import EXERCISE, Course

EXERCISES = [(path, before, cell) for path in LESSONS + SOLUTIONS for before, cell in exercises(path)]


def test_there_are_lessons():
    assert [path.name for path in LESSONS] == [path.name for path in SOLUTIONS]
    assert len(LESSONS) >= 2


def test_every_exercise_has_a_heading_and_a_check_and_the_other_way_round():
    headings = [number for path in LESSONS for number in EXERCISE.findall(prose(path))]
    assert headings == list(check.EXERCISES)


def test_the_glossary_has_the_words_of_the_field():
    assert len(Course(ROOT).glossary) > 30


# --- cells, run once more in another way


@pytest.mark.parametrize("missing", ["numpy", "torch", "utils"])
def test_the_first_cell_says_in_one_line_what_is_missing(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as caught:
        run(cells(START, "code")[:1])
    assert re.fullmatch(rf"[^\n]*\b{missing}\b[^\n]*\. Start the course with: python3 -m utils lab", str(caught.value))
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("path", "before", "cell"), EXERCISES, ids=[f"{name(path)} {cell.id}" for path, _, cell in EXERCISES]
)
def test_an_exercise_is_judged_alike_whenever_its_cell_runs(path, before, cell):
    space, _ = run(before)
    wanted = "passed" if path in SOLUTIONS else "not attempted"
    assert [run([cell], space)[1].status for _ in range(2)] == [wanted, wanted]
