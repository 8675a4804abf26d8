"""What the notebooks teach: sections stand alone, exercises are solved by their solutions, prose and numbers agree."""

import linecache
import re
from pathlib import Path

import nbformat
import pytest

from utils import check
from utils.counting import GPT2_FAMILY, gpt_params, tying_saving
from utils.widgets import quiz
from utils.widgets.table_explorer import TableExplorer

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
START = ROOT / "lessons" / "00_start_here.ipynb"


def cells(path, kind=None):
    return [cell for cell in nbformat.read(path, 4).cells if kind in (None, cell.cell_type)]


def prose(path):
    return "\n\n".join(cell.source for cell in cells(path, "markdown"))


def sections(path):
    """(heading, code cells) for each part of a notebook that begins with a `## ` heading and has code."""
    parts = [["start", []]]
    for cell in cells(path):
        if cell.cell_type == "code":
            parts[-1][1].append(cell)
        elif cell.source.startswith("## "):
            parts.append([cell.source.splitlines()[0].strip("# "), []])
    parts = [(heading, code) for heading, code in parts if code]
    (_, first), (heading, second), *rest = parts  # the first section goes on where the first cell ends
    return [(heading, [*first, *second]), *rest]


SECTIONS = [(path, heading, code) for path in LESSONS for heading, code in sections(path)]


def run(code_cells):
    """Run cells as a fresh kernel would, in a namespace of their own -> that namespace."""
    space = {"__name__": "__main__"}
    for cell in code_cells:
        name = f"<cell {cell.id}>"
        linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
        exec(compile(cell.source, name, "exec"), space)
    return space


def test_there_are_lessons():
    assert [path.name for path in LESSONS] == [path.name for path in SOLUTIONS]
    assert len(LESSONS) >= 2


@pytest.mark.parametrize(("path", "heading", "code"), SECTIONS, ids=[f"{p.stem[:2]} {h[:30]}" for p, h, _ in SECTIONS])
def test_every_section_runs_from_its_heading_alone(path, heading, code, monkeypatch, capsys):
    monkeypatch.chdir(path.parent)
    run(code)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_sections_after_the_first_begin_with_a_cell_to_run_from(path):
    for heading, code in sections(path)[1:]:
        tags = code[0].metadata.get("tags", [])
        exercise_that_imports = "exercise" in tags and code[0].source.startswith(("import ", "from "))
        assert "run-from-here" in tags or exercise_that_imports, heading


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
    lines = sorted(len(cell.source.splitlines()) for cell in cells(path, "code"))
    assert 2 <= lines[len(lines) // 2] <= 7


def test_every_exercise_has_a_heading_and_a_check_and_the_other_way_round():
    headings = {
        n for path in LESSONS for n in re.findall(r"^### Exercise (\d\.\d) \(★+, \d+ min\)$", prose(path), re.M)
    }
    assert headings == set(check.EXERCISES)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solutions_solve_and_the_lessons_are_not_attempted(path):
    for edition, word in ((path, "passed"), (ROOT / "lessons" / path.name, "not attempted")):
        for cell in cells(edition, "code"):
            if "exercise" in cell.metadata.get("tags", []):
                texts = ["".join(out["data"]["text/plain"]) for out in cell.outputs]
                assert [text.partition(":")[0] for text in texts] == [word], cell.id


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_has_its_quiz(path):
    assert quiz.load(path.stem[:2])
    assert f'widgets.Quiz("{path.stem[:2]}")' in path.read_text(encoding="utf-8").replace('\\"', '"')


def glossary():
    return set(re.findall(r"^\| ([^|]+?) \| ", prose(START).split("## Glossary")[1], re.M)) - {"Term"}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_glossary_links_lead_to_an_entry(path):
    linked = re.findall(r"\[([^\]]+)\]\((?:00_start_here\.ipynb)?#Glossary\)", prose(path))
    assert linked
    for term in linked:
        assert {term.lower(), term.lower().removesuffix("s")} & glossary(), term


def test_the_glossary_is_in_order_and_says_something_for_each_term():
    terms = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", prose(START).split("## Glossary")[1], re.M)[1:]
    names = [term for term, _ in terms if not term.startswith("---")]
    assert names == sorted(names, key=str.lower)
    assert len(names) == len(set(names)) > 30


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=lambda path: f"{path.parent.stem}-{path.stem}")
def test_links_inside_the_course_resolve(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        file, _, anchor = target.partition("#")
        if target.startswith("http"):
            continue
        there = path.parent / file if file else path
        assert there.exists(), target
        if anchor:
            assert re.search(rf"^#+ {anchor.replace('-', ' ')}$", prose(there), re.M), target


# numbers that lesson 01's prose states without a cell that prints them


def test_the_numbers_of_lesson_01_hold():
    text = prose(ROOT / "lessons" / "01_one_table_two_jobs.ipynb")
    shares = {}
    for name, c in GPT2_FAMILY.items():
        total = gpt_params(c.vocab_size, c.n_ctx, c.n_embd, c.n_layer)
        saved = tying_saving(c.vocab_size, c.n_embd)
        shares[name] = round(100 * saved / total, 2), round(100 * saved / (total + saved), 2)
    assert list(shares.values()) == [(31.02, 23.67), (14.50, 12.67), (8.31, 7.67), (5.16, 4.91)]
    assert tying_saving(50_257, 768) == 38_597_376
    assert "38,597,376" in text
    assert tying_saving(200, 64) == 12_800
    assert "12{,}800" in text
    assert 50_256 == 50_257 - 1
    assert 1 / 50_000 == 0.00002


def test_what_lesson_01_says_of_the_explorer_holds():
    panel = TableExplorer()
    own, rival = {}, {}
    for width in (4, 64, 768):
        panel.width.value = width
        own[width], rival[width] = map(float, re.findall(r"(-?\d\.\d+) with", panel.sentence))
    assert rival[4] > own[4], "At width 4 the best match of cat is another word"
    assert own[64] > 5 * rival[64], "At width 64 the row's own score is many times higher than any rival's"
    assert own[768] > 10 * rival[768], "at 768 nothing comes near"
