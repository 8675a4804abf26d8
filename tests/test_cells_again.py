"""A cell may be run twice, and a section forwards and backwards: nothing is used up, nothing overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes
from notebook_files import LESSONS, SOLUTIONS, name

from utils.environment import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each section needs a fork, which Windows has not")


def problems(path):
    command = [sys.executable, Path(__file__).with_name("cells_again.py"), path]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


# a class for each edition, so that the two run side by side
class TestLessons:
    @pytest.mark.parametrize("path", LESSONS, ids=name)
    def test_every_cell_runs_twice_and_every_section_backwards(self, path):
        assert problems(path) == []


class TestSolutions:
    @pytest.mark.parametrize("path", SOLUTIONS, ids=name)
    def test_every_cell_runs_twice_and_every_section_backwards(self, path):
        assert problems(path) == []


def test_a_cell_that_uses_up_what_another_made_is_found(tmp_path):
    cells = [
        new_code_cell("1", id="start"),
        new_markdown_cell("## 1. One"),
        new_code_cell("words = ['a', 'b', 'c', 'd']", id="makes"),
        new_code_cell("words.pop()", id="takes"),
    ]
    path = tmp_path / "01_x.ipynb"
    path.write_text(writes(new_notebook(cells=cells)), encoding="utf-8")
    found = [sentence.partition(": ")[0] for sentence in problems(path)]
    assert found == ["1. One, cell takes, run twice", "1. One, cell takes, run after those below it"]
