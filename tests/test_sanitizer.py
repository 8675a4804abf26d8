"""nbval finds the project's sanitizer, whatever folder it is started in."""

import shutil
import subprocess
import sys

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes

from utils.environment import ROOT

PICTURE = "data:image/png;base64,"


@pytest.fixture
def project(tmp_path):
    """A project with the options of this one, and in each folder a notebook whose picture differs from the stored."""
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    for name in ("pyproject.toml", "tests/nbval_sanitize.cfg"):
        shutil.copy(ROOT / name, root / name)
    stored = new_output("stream", text=f"{PICTURE}BBBBBBBB\n")
    cell = new_code_cell(f"print('{PICTURE}AAAA')", execution_count=1, outputs=[stored])
    for folder in ("lessons", "my_work"):
        (root / folder).mkdir()
        (root / folder / "some.ipynb").write_text(writes(new_notebook(cells=[cell])), encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("folder", "arguments", "passed"),
    [
        (".", ["lessons", "my_work", "-n", "1", "--dist", "loadscope"], 2),
        ("lessons", ["some.ipynb"], 1),
        ("my_work", ["some.ipynb"], 1),
        ("..", ["project/lessons"], 1),
    ],
)
def test_a_picture_that_differs_passes_nbval_in_any_folder(project, folder, arguments, passed):
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=project / folder, capture_output=True, encoding="utf-8", timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout


def test_another_sanitizer_can_be_named(project):
    (project / "none.cfg").touch()
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-sanitize-with=../none.cfg", "some.ipynb"]
    done = subprocess.run(command, cwd=project / "lessons", capture_output=True, encoding="utf-8", check=False)
    assert "1 failed" in done.stdout
