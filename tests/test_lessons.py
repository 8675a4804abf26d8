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
    glossary,
    name,
    prose,
    run,
    sections,
    tags,
)

from utils import check
from utils.notebooks.rules import EXERCISE
from utils.widgets import quiz

SECTIONS = [(path, heading, code) for path in LESSONS for heading, code in sections(path)]
EXERCISES = [(path, before, cell) for path in LESSONS + SOLUTIONS for before, cell in exercises(path)]


def test_there_are_lessons():
    assert [path.name for path in LESSONS] == [path.name for path in SOLUTIONS]
    assert len(LESSONS) >= 2


@pytest.mark.parametrize(("path", "heading", "code"), SECTIONS, ids=[f"{p.stem[:2]} {h[:30]}" for p, h, _ in SECTIONS])
def test_every_section_runs_from_its_heading_alone(path, heading, code, monkeypatch):
    monkeypatch.chdir(path.parent)
    run(code)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_sections_after_the_first_begin_with_a_cell_to_run_from(path):
    for heading, code in sections(path)[1:]:
        exercise_that_imports = "exercise" in tags(code[0]) and code[0].source.startswith(("import ", "from "))
        assert "run-from-here" in tags(code[0]) or exercise_that_imports, heading


def code_lines(cell):
    """Lines of a code cell that are neither blank nor an import, which each section has to repeat."""
    return sum(not re.match(r"\s*(import|from)\b|\s*$", line) for line in cell.source.splitlines())


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_its_parts_and_a_sensible_size(path):
    text = prose(path)
    for part in (
        "**What you'll do.**",
        "**What you'll learn.**",
        "**What you need.**",
        "## Summary",
        "## Going further",
    ):
        assert part in text
    assert "## Check yourself" in text
    assert "**Next:**" in text
    assert 30 <= len(cells(path)) <= 80
    markdown, code = len(cells(path, "markdown")), len(cells(path, "code"))
    assert 1.0 <= markdown / code <= 1.5
    lines = sorted(map(code_lines, cells(path, "code")))
    # the primer of lesson 00 shows one operation a cell, each with its result
    assert (2 if path == START else 3) <= lines[len(lines) // 2] <= 6


def test_every_exercise_has_a_heading_and_a_check_and_the_other_way_round():
    headings = [number for path in LESSONS for number in EXERCISE.findall(prose(path))]
    assert headings == list(check.EXERCISES)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solutions_solve_and_the_lessons_are_not_attempted(path):
    for edition, word in ((path, "passed"), (ROOT / "lessons" / path.name, "not attempted")):
        for cell in cells(edition, "code"):
            if "exercise" in tags(cell):
                texts = ["".join(out["data"]["text/plain"]) for out in cell.outputs]
                assert [text.partition(":")[0] for text in texts] == [word], cell.id


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_has_its_quiz(path):
    assert quiz.load(path.stem[:2])
    assert f'widgets.Quiz("{path.stem[:2]}")' in path.read_text(encoding="utf-8").replace('\\"', '"')


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_glossary_links_lead_to_an_entry(path):
    linked = re.findall(r"\[([^\]]+)\]\((?:00_start_here\.ipynb)?#Glossary\)", prose(path))
    known = {part.lower() for entry in glossary() for part in entry.split(", ")}
    assert linked
    for term in linked:
        assert {term.lower(), term.lower().removesuffix("s")} & known, term


def test_the_glossary_is_in_order_and_says_something_for_each_term():
    terms = re.findall(r"^\| ([^|]+?) \|", prose(START).split("## Glossary")[1], re.M)[1:]
    assert terms == sorted(terms, key=str.lower)
    assert terms == list(glossary())
    assert len(terms) > 30


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=name)
def test_links_inside_the_course_resolve(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        file, _, anchor = target.partition("#")
        if target.startswith("http"):
            continue
        there = path.parent / file if file else path
        assert there.exists(), target
        if anchor:
            assert re.search(rf"^#+ {anchor.replace('-', ' ')}$", prose(there), re.M), target


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
