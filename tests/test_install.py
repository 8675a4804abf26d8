"""Making and mending .venv in small real projects, with a sentence for whatever goes wrong."""

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from small_course import Project, kill_all, one_sentence, wait_for

from utils.start import install

pytest_plugins = ["small_course_fixtures"]


# what mends itself


def test_changed_requirements_are_installed(opened):
    opened.require("course-tests==1.0")
    assert "course_tests-1.0" in opened.lab().replace("course-tests-1.0", "course_tests-1.0")
    assert "2/3" not in opened.lab()


@pytest.mark.parametrize("change", [["uninstall", "--yes", "course_extra"], ["install", "course_extra==0.9"]])
def test_what_the_student_removed_or_changed_comes_back(opened, change):
    subprocess.run([opened.venv / "bin/python", "-m", "pip", *change], env=opened.environment, check=True)
    assert not (opened.site() / "course_extra-1.0.dist-info").exists()
    assert (opened.venv / "lab.stamp").exists()
    assert "2/3" in opened.lab()
    assert (opened.site() / "course_extra-1.0.dist-info").exists()
    assert "2/3" not in opened.lab()


def test_a_half_installed_package_is_installed_again(opened):
    (opened.venv / "lab.stamp").unlink()
    next(opened.site().glob("course_extra-*/INSTALLER")).unlink()
    (opened.site() / "course_extra.py").unlink()
    opened.lab()
    assert (opened.site() / "course_extra.py").exists()


def test_a_stamp_alone_is_not_trusted(opened):
    (opened.venv / "bin/python").unlink()
    (opened.venv / "bin/python").symlink_to("/nowhere/python")  # as after an upgrade of the system's Python
    assert "2/3" in opened.lab()
    assert "2/3" not in opened.lab()


def test_killed_while_the_environment_is_made(bare):
    process = bare.popen()
    wait_for((bare.venv / "bin/python").exists)
    kill_all(process)
    assert not (bare.venv / "lab.stamp").exists()
    bare.lab()


def test_killed_while_pip_runs(opened, silent_index):
    opened.forget()
    environment, wait_for_call = silent_index
    first, second = opened.popen(**environment), None
    try:
        wait_for_call()
        first.kill()  # and its pip goes on
        second = opened.popen()
        assert "waiting" in second.stdout.readline()
        assert not (opened.venv / "lab.stamp").exists()
        kill_all(first)
        out, err = second.communicate(timeout=30)
        assert (second.returncode, err) == (0, ""), out
    finally:
        for process in filter(None, [first, second]):
            kill_all(process)


@pytest.fixture
def heard():
    """SIGINT as in a terminal: a shell's background job ignores it, and so does all that this job starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_interrupted(opened, silent_index):
    opened.forget()
    environment, wait_for_call = silent_index
    with opened.popen(**environment) as process:
        wait_for_call()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Interrupted" in one_sentence(err)
    opened.lab()


# what the user set for other work


PIP_SETTINGS = {
    "user": ("[install]\nuser = true\n", {}),
    "target": ("[global]\ntarget = elsewhere\n[install]\nroot = elsewhere\n", {}),
    "constraint": ("[install]\nconstraint = constraints.txt\n", {}),
    "short list": ("[global]\nquiet = 1\nuser = true\n[list]\nuser = true\n", {}),
    "no settings": ("[global\nno configuration", {}),
    "variables": ("", {"PIP_USER": "1", "PIP_CONSTRAINT": "constraints.txt", "PIP_PREFIX": "elsewhere"}),
    "more variables": ("", {"PIP_DRY_RUN": "1", "PIP_REQUIRE_HASHES": "1", "PIP_NO_DEPS": "1", "PIP_QUIET": "3"}),
}


@pytest.mark.parametrize("name", PIP_SETTINGS)
def test_pip_settings_for_other_work_do_not_reach_the_environment(opened, name, tmp_path):
    opened.forget()
    (opened.root / "constraints.txt").write_text("course-extra==0.9\n", encoding="utf-8")
    settings, variables = PIP_SETTINGS[name]
    (tmp_path / "pip.conf").write_text(settings, encoding="utf-8")
    assert "2/3" in opened.lab(PIP_CONFIG_FILE=str(tmp_path / "pip.conf"), **variables)
    assert (opened.site() / "course_extra-1.0.dist-info/RECORD").exists()
    assert not (opened.root / "elsewhere").exists()


def test_where_packages_come_from_is_taken_from_the_users_pip_settings(opened, tmp_path):
    opened.forget()
    wheels, _ = (opened.environment.pop(name) for name in ("PIP_FIND_LINKS", "PIP_NO_INDEX"))
    settings = f"[global]\nfind-links = /nowhere\nno-index = true\n[install]\nfind-links =\n  {wheels}\n"
    (tmp_path / "pip.conf").write_text(settings, encoding="utf-8")
    assert "2/3" in opened.lab(PIP_CONFIG_FILE=str(tmp_path / "pip.conf"), PIP_EXTRA_INDEX_URL="")
    assert (opened.site() / "course_extra-1.0.dist-info/RECORD").exists()


def test_packages_that_the_user_put_on_pythons_path_do_not_reach_the_environment(opened, tmp_path):
    opened.forget()
    info = tmp_path / "mine/course_extra-0.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: course_extra\nVersion: 0.9\n", encoding="utf-8")
    mine = {"PYTHONPATH": str(tmp_path / "mine"), "PYTHONHOME": sys.base_prefix}
    assert "2/3" in opened.lab(**mine)
    assert "2/3" not in opened.lab(**mine)
    environment = opened.record()["environment"]
    assert environment["PYTHONPATH"] == str(opened.root)
    assert "PYTHONHOME" not in environment


def test_my_work_may_be_a_link_and_one_that_leads_nowhere_is_said(opened, tmp_path):
    shutil.rmtree(opened.root / "my_work")
    (opened.root / "my_work").symlink_to(tmp_path / "synchronised")
    assert "a link to a folder that is not there, is in the way of my_work/" in opened.fails()
    (tmp_path / "synchronised").mkdir()
    assert "1 lesson copied" in opened.lab()
    assert (tmp_path / "synchronised/00_start_here.ipynb").exists()


# one sentence each, and the next run works


def test_no_venv_module(bare, tmp_path):
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow/venv.py").write_text("raise ModuleNotFoundError(\"No module named 'venv'\")", encoding="utf-8")
    assert "python3-venv" in bare.fails(PYTHONPATH=str(tmp_path / "shadow"))


def test_no_network(opened):
    opened.forget()
    offline = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    assert "network" in opened.fails(**offline)
    opened.lab()


def test_a_package_that_does_not_exist(opened):
    opened.require("course-absent==9")
    sentence = opened.fails()
    assert "No matching distribution found for course-absent==9" in sentence
    assert str(opened.venv / "install.log") in sentence


def test_disk_full(bare, small_disk):
    disk = bare.root / ".venv"
    disk.mkdir()
    small_disk(disk, "size=8m")
    assert "The disk is full" in bare.fails()
    assert not (bare.venv / "lab.stamp").exists()
    subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
    bare.lab()


@pytest.fixture
def on_small_disk(tmp_path, wheels, small_disk):
    """A course that was never opened, on a disk of its own of this size."""

    def make(size):
        (tmp_path / "small").mkdir()
        small_disk(tmp_path / "small", f"size={size}")
        return Project(tmp_path / "small/course", wheels).write()

    return make


def test_too_little_space_to_begin(on_small_disk):
    project = on_small_disk("50m")
    assert f"needs {install.NEED}" in project.fails()
    assert not project.venv.exists()


def test_little_space_is_no_refusal(on_small_disk):
    assert "3.2 GB are free: torch for GPUs may need about 8 GB" in on_small_disk("3g").lab()


def test_a_folder_that_is_not_writable(on_small_disk):
    project = on_small_disk("3g")
    subprocess.run(["mount", "-o", "remount,ro", project.root.parent], check=True)
    assert "not writable" in project.fails(PYTHONDONTWRITEBYTECODE="1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("OSError: [WinError 112] There is not enough space on the disk", "disk is full"),
        ("The virtual environment was not created because ensurepip is not available.", "python3-venv"),
        ("/usr/bin/python3: No module named venv", "python3-venv"),
        ("[Errno 13] Permission denied: '/srv/course/.venv'", "not writable"),
        ("[WinError 5] Zugriff verweigert: '.venv'", "not writable"),
        ("ERROR: [Errno 2] No such file\nHINT: … Windows Long Path support enabled", "path of this folder"),
        ("[WinError 206] Der Dateiname oder die Erweiterung ist zu lang", "path of this folder"),
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(…)'", "network"),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(…): Read timed out.", "network"),
    ],
)
def test_known_causes(text, words):
    assert words in install.explain(text)


def test_last_error():
    assert install.last_error("WARNING: a\nERROR: first\n  ERROR: second\nhint: c") == "second"
    assert install.last_error("ERROR: Exception:\nTraceback\nMemoryError: too big\n") == "MemoryError: too big"
    assert install.last_error("") == ""


@pytest.mark.parametrize(
    ("free", "gpu", "words"),
    [
        (100, None, "No NVIDIA GPU found: with `--cpu`"),
        (100, "/usr/bin/nvidia-smi", ""),
        (3, None, "3.0 GB are free: torch for GPUs may need about 8 GB, with `--cpu` 2 GB are enough"),
        (3, "/usr/bin/nvidia-smi", "3.0 GB are free"),
    ],
)
def test_cpu_is_recommended_where_it_helps(monkeypatch, capsys, free, gpu, words):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free * 10**9))
    monkeypatch.setattr(shutil, "which", lambda name: gpu)
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    install.recommend_cpu()
    out = capsys.readouterr().out
    assert words in out
    assert out.count("\n") == bool(words)


@pytest.mark.skipif(platform.system() != "Linux", reason="only Linux gets torch with GPU support by default")
def test_the_need_for_space_names_the_small_way():
    assert "8 GB, or 2 GB with `--cpu`" in install.explain("No space left on device")


def test_cpu_is_recommended_and_used(opened, monkeypatch):
    opened.forget("torch")
    monkeypatch.setitem(opened.environment, "PATH", "/nowhere")  # no nvidia-smi there
    gpu = os.path.exists("/proc/driver/nvidia") or platform.system() != "Linux"
    assert ("`--cpu`" in opened.lab()) != gpu
    opened.forget("torch")
    assert "with `--cpu`" not in opened.lab("--cpu")
    log = (opened.venv / "install.log").read_text(encoding="utf-8")
    assert "Ignoring indexes: https://download.pytorch.org/whl/cpu" in log


def test_the_real_torch_pin():
    assert re.fullmatch(r"torch==2\.\d+\.\d+", install.torch_pin())
