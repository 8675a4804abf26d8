"""Strict nbval, as the tests run it."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from made_notebooks import ACCIDENTS, cell, code, good, md, raised, redrawn, small
from nbformat.v4 import new_notebook

from utils.environment import ROOT
from utils.notebooks import canonical, problems, run, text_of

PANEL = """import ipywidgets


class Panel(ipywidgets.VBox):
    def __repr__(self):
        return "Width 8: 512 weights"

    def _repr_mimebundle_(self, **options):
        return super()._repr_mimebundle_(**options) | {"text/html": "<p>Width 8: 512 weights</p>"}


Panel()"""


@pytest.fixture(scope="module")
def nbval(tmp_path_factory):
    """Run strict nbval once, with the project's options; return {notebook: [whether each code cell passed]}."""
    folder = tmp_path_factory.mktemp("nbval")
    nb = good()
    nb.cells += [md("A panel.", "m-panel"), code(PANEL, "panel")]
    nb, _ = run(nb, folder, "as built")
    changed = redrawn(nb, "<figcaption>Loss 0.62", "<figcaption>Loss 0.63")
    cell(changed, "error").outputs = [raised("IndexError", "another message")]
    # a loop makes nbval give up on the cells after it, a dead kernel takes the whole timeout and 5 s more
    lively = [source for name, (source, _) in ACCIDENTS.items() if name != "death"]
    cases = {
        "good": redrawn(nb, "AAAA", "BBBBBBBB"),
        "changed": changed,
        "accidents": as_if_run(*lively),
        "death": as_if_run(ACCIDENTS["death"][0]),
        "unrun": small("1 / 1"),
    }
    for name, each in cases.items():
        (folder / f"{name}.ipynb").write_text(text_of(each), encoding="utf-8")
    options = ["-c", "pyproject.toml", "--nbval", "--nbval-cell-timeout=2", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={folder / 'report.xml'}", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100, check=False)
    print(done.stdout)
    return verdicts(folder / "report.xml")


def as_if_run(*sources):
    cells = [code(source, f"c{count}", count) for count, source in enumerate(sources, start=1)]
    return canonical(new_notebook(cells=cells))


def verdicts(report):
    result = {}
    for case in ElementTree.parse(report).iter("testcase"):
        passed = not any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))
        result.setdefault(case.get("classname").split(".")[-2], []).append(passed)
    return result


def test_strict_nbval_passes_on_what_was_built_and_on_moved_pixels(nbval):
    assert nbval["good"] == [True] * 6


def test_strict_nbval_is_red_for_a_changed_number_and_a_changed_error(nbval):
    assert nbval["changed"] == [True, True, False, False, True, True]


def test_strict_nbval_is_red_for_each_accident(nbval):
    assert nbval["accidents"] == [False] * (len(ACCIDENTS) - 1)
    assert nbval["death"] == [False]


def test_nbval_does_not_see_an_unrun_cell_which_is_why_a_rule_does(nbval):
    assert nbval["unrun"] == [True]
    assert "cell only: it was not run" in problems(small("1 / 1"))
