"""`python3 -m utils` reads its arguments, and says where it cannot run."""

import os
import platform
import sys
from pathlib import Path

import pytest
from small_course import one_sentence

from utils import __main__ as entry
from utils import environment

pytest_plugins = ["small_course_fixtures"]
PYTHONS = Path.home().glob(".pyenv/versions/[23].*/bin/python")  # where pyenv keeps them, if it is here
OLD_PYTHONS = [path for path in PYTHONS if [int(part) for part in path.parts[-3].split(".")[:2]] < [3, 11]]


@pytest.mark.skipif(not OLD_PYTHONS, reason="no old Python on this machine")
@pytest.mark.parametrize("python", OLD_PYTHONS, ids=lambda path: path.parts[-3])
def test_old_pythons_are_told(bare, python):
    for start in [("-m", "utils"), (str(bare.root / "utils"),)]:
        assert "is too old" in bare.fails("lab", python=python, start=start)
    assert not bare.venv.exists()


@pytest.mark.parametrize(
    ("version", "words"),
    [((3, 10), "3.10 is too old"), ((3, 11), None), ((3, 14), None), ((3, 15), "3.15 is too new"), ((4, 0), "new")],
)
def test_versions(monkeypatch, version, words):
    monkeypatch.setattr(sys, "version_info", version)
    assert words in entry.refusal() if words else entry.refusal() is None


def test_windows_has_its_own_command(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 10))
        assert "`python3.12 -m utils lab`" in entry.refusal()
        patch.setattr(os, "name", "nt")
        assert "`py -3.12 -m utils lab`" in entry.refusal()
    monkeypatch.setattr(environment, "COMMAND", "py -m utils")
    with pytest.raises(SystemExit):
        entry.parse(["bild"])
    assert "usage: py -m utils" in capsys.readouterr().err


def test_a_refusal_comes_before_any_import_of_ours(bare):
    (bare.root / "utils/start/launcher.py").write_text("this is no Python", encoding="utf-8")
    code = "import runpy, sys; sys.version_info = (3, 9, 0); runpy.run_module('utils', run_name='__main__')"
    assert "too old" in one_sentence(bare.run(start=("-c", code))[2])


def test_intel_mac(monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "path", [])
    assert "Intel build of Python" in entry.refusal()
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert entry.refusal() is None


@pytest.mark.parametrize("arguments", [["--fast"], ["test", "--fast"], ["bild"], ["lab", "--port=x"]])
def test_wrong_commands(bare, arguments):
    code, _, err = bare.run(*arguments)
    assert code == 2
    assert "usage: python3 -m utils" in err
