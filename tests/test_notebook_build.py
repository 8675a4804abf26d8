"""The notebook builder with real kernels, and what `build --check` finds."""

import copy
import json
import re

import nbformat
import pytest
from made_notebooks import ACCIDENTS, cell, code, files, good, has, md, project, redrawn, said, small, tagged
from nbformat.v4 import new_notebook

from utils.notebooks import canonical, check, main, read, rules, run, text_of
from utils.notebooks.form import keep_stored


@pytest.fixture(scope="module", autouse=True)
def any_notebook():
    """The notebooks made here are no lessons: they have the rules of any notebook alone."""
    with pytest.MonkeyPatch.context() as patch:
        for book in ("SOURCE", "STORED"):
            patch.setattr(rules, book, getattr(rules, book)._replace(lesson=[]))
        patch.setattr(rules.course_rules, "RULES", [rules.course_rules.same_start])
        yield


@pytest.fixture
def unruled(monkeypatch):
    """No rule is asked of a source, so that it runs whatever it holds."""
    monkeypatch.setattr(rules, "before", lambda lesson: [])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a project that was built once, and must not be changed."""
    folder = project(tmp_path_factory.mktemp("a é project") / "p", **{"01_good": derive_nothing(good())})
    assert main([], folder) == 0
    return folder


def derive_nothing(nb):
    """Return a notebook as an author saves it: not run, with marks of the editor."""
    nb = copy.deepcopy(nb)
    nb.metadata["kernelspec"] = nbformat.from_dict({"name": "my-env", "display_name": "Mine"})
    for each in nb.cells:
        each.metadata["scrolled"] = True
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], None
    return nb


def copied(built, folder):
    target = project(folder / "p")
    for name, data in files(built).items():
        (target / name).write_bytes(data)
    return target


def redraw(folder, old, new):
    for path in folder.rglob("*.ipynb"):
        path.write_text(text_of(redrawn(read(path), old, new)), encoding="utf-8")


def test_build_runs_both_editions_and_stores_them(built):
    assert check(built) == []
    solution = read(built / "solutions" / "01_good.ipynb")
    lesson = read(built / "lessons" / "01_good.ipynb")
    assert solution == good()
    assert cell(lesson, "answer").outputs == [said("judged None\n")]
    assert main(["--check", "01"], built) == 0
    assert not list(built.rglob("*.part"))


def test_building_again_changes_no_byte_and_a_moved_pixel_is_no_change(built, tmp_path):
    folder = copied(built, tmp_path)
    redraw(folder, "AAAA", "BBBB")
    before = files(folder)
    stamps = [path.stat().st_mtime_ns for path in folder.rglob("*.ipynb")]
    assert main(["01_good"], folder) == 0
    assert files(folder) == before
    assert [path.stat().st_mtime_ns for path in folder.rglob("*.ipynb")] == stamps
    assert main(["--fresh"], folder) == 0
    assert files(folder) == files(built)


def test_a_changed_number_replaces_the_stored_output(built, tmp_path):
    folder = copied(built, tmp_path)
    redraw(folder, "<figcaption>Loss 0.62", "<figcaption>Loss 0.63")
    assert main([], folder) == 0
    assert files(folder) == files(built)


@pytest.mark.parametrize(("source", "sentence"), ACCIDENTS.values(), ids=ACCIDENTS)
@pytest.mark.usefixtures("unruled")
def test_an_accident_in_a_cell_fails_the_build_and_writes_nothing(source, sentence, tmp_path, capsys):
    folder = project(tmp_path / "p", **{"01_small": small(source)})
    before = files(folder)
    assert main(["--timeout", "1"], folder) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"solutions/01_small.ipynb, cell only: {sentence}")
    assert last.endswith("; nothing was written")
    assert files(folder) == before


def test_what_the_rules_say_of_a_source_is_said_before_it_runs(tmp_path, capsys):
    source = "import os\n\n1 / 0;"
    folder = project(tmp_path / "p", **{"01_small": small(source), "02_small": small("1 / 0")})
    before = files(folder)
    assert main([], folder) == 1
    assert capsys.readouterr().out.splitlines() == [
        "solutions/01_small.ipynb: cell only: its last line ends in ;",
        "solutions/02_small.ipynb: its first code cell differs from that of solutions/01_small.ipynb",
        "nothing was run, nothing was written",
    ]
    assert files(folder) == before


def test_the_tag_of_an_exercise_comes_from_its_markers(tmp_path):
    nb = good()
    del cell(nb, "answer").metadata["tags"]
    cell(nb, "value").metadata["tags"] = ["optional", "exercise"]
    folder = project(tmp_path / "p", **{"01_good": nb})
    assert main([], folder) == 0
    for edition in ("solutions", "lessons"):
        stored = read(folder / edition / "01_good.ipynb")
        assert cell(stored, "answer").metadata == {"tags": ["exercise"]}
        assert cell(stored, "value").metadata == {"tags": ["optional"]}
    (folder / "solutions" / "01_good.ipynb").write_text(text_of(nb), encoding="utf-8")
    assert "solutions/01_good.ipynb: cell answer: it has an answer to give, but not the tag exercise" in check(folder)


@pytest.mark.usefixtures("unruled")
def test_a_lesson_that_needs_the_answer_is_named(tmp_path, capsys):
    source = "### BEGIN SOLUTION\nnumber = 3\n### END SOLUTION\nprint(number)"
    folder = project(tmp_path / "p", **{"01_small": small(source)})
    assert main([], folder) == 1
    assert "lessons/01_small.ipynb, cell only: NameError: name 'number'" in capsys.readouterr().out
    assert list(files(folder)) == ["solutions/01_small.ipynb"]


def test_an_edited_cell_gets_its_new_outputs_and_an_inserted_one_moves_the_counts():
    stored, new, patterns = good(), good(), [("AAAA|BBBB", "PICTURE")]
    new = redrawn(new, "AAAA", "BBBB")
    assert keep_stored(new, stored, patterns) == stored
    cell(new, "figure").source += "\n# drawn otherwise"
    assert keep_stored(new, stored, patterns) == new
    new.cells[1:1] = [md("More.", "m-more"), code("0", "more", 1)]
    kept = keep_stored(canonical(new), stored, patterns)
    assert cell(kept, "value").outputs[0].execution_count == 3


# --- what --check finds


def edited(change):
    """A change of a notebook, as one of its file's text."""

    def edit(text):
        change(nb := nbformat.v4.reads(text))
        return text_of(nb)

    return edit


def replaced(old, new):
    return lambda text: text.replace(old, new)


BY_HAND = [
    ("lessons", replaced("The loss falls.", "The loss rises."), ": cell m-figure: its source is not derived"),
    ("lessons", replaced('"id": "m-figure"', '"id": "m-f"'), "(cell m-f stands where m-figure is"),
    ("lessons", edited(has("value", execution_count=None)), ": cell value: it was not run"),
    ("solutions", edited(tagged("value", "nbval-skip")), ": cell value: it has the tag nbval-skip"),
    ("lessons", replaced("judged None", "return sum([x, x])"), ": cell answer: holds a line of the answer"),
    ("lessons", lambda text: json.dumps(json.loads(text)), "is not written as the builder writes it"),
    ("solutions", replaced("### END", "### END OF"), "lessons/01_good.ipynb: it cannot be derived"),
    ("solutions", lambda text: text[:100], ": not a notebook"),
    ("lessons", lambda text: None, ": it is missing"),
    ("solutions", lambda text: None, ": it is missing"),
]


@pytest.mark.parametrize(("edition", "change", "sentence"), BY_HAND)
def test_check_finds_what_was_edited_by_hand(built, tmp_path, capsys, edition, change, sentence):
    folder = copied(built, tmp_path)
    path = folder / edition / "01_good.ipynb"
    text = change(path.read_text(encoding="utf-8"))
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    assert main(["--check"], folder) == 1
    file = f"{edition}/01_good.ipynb" if sentence.startswith(":") else ""
    assert f"{file}{sentence}" in capsys.readouterr().out


# --- time


def test_what_takes_more_than_twice_its_budget_is_named():
    nb = good()
    took = {"start": 10.1, "value": 20.1, "figure": 20.1, "error": 9.9, "answer": 0.0}
    cell(nb, "figure").source += "\nfor _ in tqdm(range(9)):\n    pass"
    assert rules.slow("01", nb, took) == [
        "cell start: it took 10.1 s, and 5 s is its budget",
        "cell value: it took 20.1 s, and 10 s is its budget",
        "the notebook took 60.2 s, and 20 s is its budget",
    ]
    assert len(rules.slow("05", nb, took)) == 2
    assert rules.slow("01", nb, dict.fromkeys(took, 7.9)) == []


def test_a_slow_notebook_is_in_order_and_noted_with_its_slowest_cell(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rules, "ROOM", 0)
    folder = project(tmp_path / "p", **{"01_small": small("sum(range(10**7))")})
    assert main([], folder) == 0
    said = capsys.readouterr().out
    assert re.search(r"lessons/01_small.ipynb: 1 cells, \d+\.\d s \(slowest: only, \d+\.\d s\)", said)
    assert re.search(r"note: solutions/01_small.ipynb: cell only: it took \d+\.\d s, and 5 s is its budget", said)
    assert said.endswith("in order: 1 notebook\n")
    assert len(files(folder)) == 2


def test_a_cell_takes_what_its_kernel_worked_where_the_clock_says_more(tmp_path):
    busy = "import time\n\nend = time.process_time() + 0.5\nwhile time.process_time() < end:\n    pass"
    nb = canonical(new_notebook(cells=[code("import time\n\ntime.sleep(2)", "waits"), code(busy, "works")]))
    _, seconds = run(nb, tmp_path, "made")
    assert seconds["waits"] < 1
    assert 0.4 < seconds["works"] < 5


def test_an_unknown_name_is_told(built, capsys):
    assert main(["07_nothing"], built) == 1
    assert capsys.readouterr().out == "no notebook is called 07_nothing\n"
