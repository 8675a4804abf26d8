"""`python3 -m utils` in small real projects: real venvs and real pip, tiny wheels of our own."""

import contextlib
import http.server
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from utils import __main__ as entry
from utils import install, launcher
from utils.environment import ROOT

MODULES = ["__init__", "__main__", "launcher", "install", "environment", "my_work"]
PYTHONS = Path.home().glob(".pyenv/versions/[23].*/bin/python")  # where pyenv keeps them, if it is here
OLD_PYTHONS = [path for path in PYTHONS if [int(part) for part in path.parts[-3].split(".")[:2]] < [3, 11]]
LESSON = json.dumps({"cells": [{"cell_type": "markdown", "source": "# Start here"}]})

# a JupyterLab that notes how it was started, and may wait for Ctrl-C
FAKE_LAB = """
import json, os, sys, time
import utils
started = {"options": sys.argv[1:], "folder": os.getcwd(), "utils": utils.__file__, "environment": dict(os.environ)}
with open(os.environ["STARTED"], "w", encoding="utf-8") as file:
    json.dump(started, file)
try:
    time.sleep(float(os.environ.get("FAKE_WAIT", 0)))
except KeyboardInterrupt:
    pass
"""
FAKE_TOOL = "import sys; print({0!r}, *sys.argv[1:], flush=True); sys.exit({1})"
WHEELS = {
    ("jupyterlab", "4.6.6"): {
        "jupyterlab/__main__.py": FAKE_LAB,
        "jupyter_core/paths.py": "import os; jupyter_runtime_dir = lambda: os.environ['JUPYTER_RUNTIME_DIR']",
    },
    ("torch", "2.13.0+cpu"): {"torch/__init__.py": ""},
    ("course_extra", "1.0"): {"course_extra.py": ""},
    ("course_tests", "1.0"): {
        "ruff/__main__.py": FAKE_TOOL.format("ruff", 1),
        "pytest/__main__.py": FAKE_TOOL.format("pytest", 0),
    },
}


def write_wheel(folder, name, version, modules):
    info = f"{name}-{version}.dist-info"
    texts = {
        **modules,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*texts, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**texts, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)


class Project:
    """A small course in a folder of its own, and the means to start it."""

    def __init__(self, root, wheels):
        self.root, self.venv = root, root / ".venv"
        self.started = root / "started.json"
        ours = ("PIP_", "PYTHON", "JUPYTER", "LC_", "LANG", "VIRTUAL_ENV")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        self.environment |= {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_RETRIES": "0",
            "STARTED": str(self.started),
            "JUPYTER_RUNTIME_DIR": str(root / "runtime"),
        }

    def write(self):
        for folder in ["utils", "lessons", "tests"]:
            (self.root / folder).mkdir(parents=True)
        for module in MODULES:
            shutil.copy(ROOT / "utils" / f"{module}.py", self.root / "utils")
        (self.root / "lessons/00_start_here.ipynb").write_text(LESSON)
        (self.root / "requirements.txt").write_text("jupyterlab>=4.6,<4.7\ntorch==2.13.0\ncourse-extra==1.0\n")
        (self.root / "tests/requirements.txt").write_text("course-tests==1.0\n")
        return self

    def popen(self, *arguments, python=sys.executable, start=("-m", "utils"), **environment):
        return subprocess.Popen(
            [python, *start, *(arguments or ["lab", "--no-browser"])],
            cwd=environment.pop("cwd", self.root),
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, *arguments, **options):
        process = self.popen(*arguments, **options)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            kill_all(process)
        return process.returncode, out, err

    def lab(self, *arguments, **options):
        """Open the lab; it has to work. Returns what is printed."""
        code, out, err = self.run("lab", "--no-browser", *arguments, **options)
        assert (code, err) == (0, ""), out + err
        return out

    def fails(self, *arguments, **options):
        """Run a command; it has to end with one sentence, which is returned."""
        code, _, err = self.run(*arguments, **options)
        assert code == 1
        return one_sentence(err)

    def record(self):
        return json.loads(self.started.read_text(encoding="utf-8"))

    def site(self):
        return next(self.venv.glob("lib/python*/site-packages"))

    def forget(self, package="course_extra"):
        """Make it so that this package is still to be installed."""
        for path in [*self.site().glob(f"{package}-*"), *self.venv.glob("*.stamp")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def one_sentence(text):
    assert text.isascii(), text
    assert text.count("\n") == 1, text
    assert text.endswith(".\n"), text
    return text


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_all(process):
    """Kill what is left of a start and of all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:  # closes its pipes, and waits
        pass


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for (name, version), modules in WHEELS.items():
        write_wheel(folder, name, version, modules)
    return folder


@pytest.fixture(scope="module")
def first_start(tmp_path_factory, wheels):
    """A course opened for the first time, in the C locale, in a folder that is not ASCII: project and output."""
    project = Project(tmp_path_factory.mktemp("first") / "my course é ü", wheels).write()
    return project, project.lab("--collaborative", "--ip=0.0.0.0", PYTHONUTF8="0", LC_ALL="C")


@pytest.fixture
def bare(tmp_path, wheels):
    """A course that was never opened."""
    return Project(tmp_path / "course", wheels).write()


@pytest.fixture
def opened(tmp_path, wheels, first_start):
    """A course that was opened before, and moved since."""
    shutil.copytree(first_start[0].root, tmp_path / "course", symlinks=True)
    project = Project(tmp_path / "course", wheels)
    project.started.unlink()
    return project


@pytest.fixture
def silent_index():
    """An index that takes pip's call and never answers: the environment that leads there, and a wait for the call."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server.settimeout(30)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        yield {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": address}, lambda: stack.enter_context(server.accept()[0])


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of our own in place of a folder, with the options given."""
    mounted = []

    def mount(folder, options):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True)
        if done.returncode:
            pytest.skip("mounting a small disk needs root")
        mounted.append(folder)

    if not shutil.which("mount"):
        pytest.skip("no mount on this machine")
    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


# the first start and the next


def test_first_start_shows_its_steps(first_start):
    project, out = first_start
    steps = [
        "1/3 Making the environment .venv",
        "2/3 Installing",
        "1 lesson copied to my_work/",
        "3/3 Opening JupyterLab",
    ]
    assert [out.index(step) for step in steps] == sorted(out.index(step) for step in steps)
    assert "Successfully installed" in out  # pip's own progress
    assert (project.root / "my_work/00_start_here.ipynb").read_text() == LESSON
    assert (project.venv / "install.log").exists()
    assert not (project.venv / "test.stamp").exists()


def test_jupyterlab_is_started_in_the_root(first_start):
    project, _ = first_start
    started = project.record()
    assert started["folder"] == str(project.root)
    assert started["utils"] == str(project.root / "utils/__init__.py")
    assert started["environment"]["PYTHONUTF8"] == "1"
    assert started["environment"]["JUPYTER_CONFIG_PATH"] == str(project.root / "utils/jupyter")
    for option in [
        f"--ServerApp.root_dir={project.root}",
        "--LabApp.default_url=/lab/tree/my_work/00_start_here.ipynb",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--no-browser",
    ]:
        assert option in started["options"]
    assert started["options"][-2:] == ["--collaborative", "--ip=0.0.0.0"]
    assert not any("port" in option for option in started["options"])


def test_jupyterlab_does_not_ask_about_news():
    defaults = json.loads((ROOT / "utils/jupyter/labconfig/default_setting_overrides.json").read_text(encoding="utf-8"))
    assert defaults["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_second_start_installs_nothing(opened):
    (opened.venv / "install.log").unlink()
    out = opened.lab(PYTHONUTF8="0", LC_ALL="C")
    assert out == "3/3 Opening JupyterLab (Ctrl-C in this window ends it)\n"
    assert not (opened.venv / "install.log").exists()
    assert opened.record()["utils"] == str(opened.root / "utils/__init__.py")


def test_from_another_folder(opened, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    opened.lab(start=[os.path.relpath(opened.root / "utils", elsewhere)], cwd=elsewhere)
    assert opened.record()["folder"] == str(opened.root)
    assert list(elsewhere.iterdir()) == []


def test_an_environment_that_has_everything_is_used(bare, tmp_path):
    (bare.root / "requirements.txt").write_text("pytest>=8\n-e .\n")
    (tmp_path / "shared/jupyterlab").mkdir(parents=True)
    (tmp_path / "shared/jupyterlab/__init__.py").touch()
    (tmp_path / "shared/jupyterlab/__main__.py").write_text(FAKE_LAB)
    bare.lab(PYTHONPATH=str(tmp_path / "shared"))
    assert not bare.venv.exists()
    assert bare.record()["environment"]["PYTHONPATH"] == os.pathsep.join([str(bare.root), str(tmp_path / "shared")])


def test_the_venv_itself_can_start_and_mend(opened):
    opened.forget()
    for _ in range(2):
        out = opened.lab(python=opened.venv / "bin/python")
    assert "2/3" not in out


# what mends itself


def test_changed_requirements_are_installed(opened):
    with (opened.root / "requirements.txt").open("a") as file:
        file.write("course-tests==1.0\n")
    assert "course_tests-1.0" in opened.lab().replace("course-tests-1.0", "course_tests-1.0")
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


def test_ctrl_c_ends_jupyterlab(opened):
    with opened.popen(FAKE_WAIT="20") as process:
        wait_for(opened.started.exists)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


# one sentence each, and the next run works


def test_no_venv_module(bare, tmp_path):
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow/venv.py").write_text("raise ModuleNotFoundError(\"No module named 'venv'\")")
    assert "python3-venv" in bare.fails(PYTHONPATH=str(tmp_path / "shadow"))


def test_no_network(opened):
    opened.forget()
    offline = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    assert "network" in opened.fails(**offline)
    opened.lab()


def test_a_package_that_does_not_exist(opened):
    with (opened.root / "requirements.txt").open("a") as file:
        file.write("course-absent==9\n")
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


def test_too_little_space_to_begin(tmp_path, wheels, small_disk):
    (tmp_path / "small").mkdir()
    small_disk(tmp_path / "small", "size=50m")
    project = Project(tmp_path / "small/course", wheels).write()
    assert "about 2 GB" in project.fails()
    assert not project.venv.exists()


def test_a_folder_that_is_not_writable(tmp_path, wheels, small_disk):
    (tmp_path / "small").mkdir()
    small_disk(tmp_path / "small", "size=3g")
    project = Project(tmp_path / "small/course", wheels).write()
    subprocess.run(["mount", "-o", "remount,ro", tmp_path / "small"], check=True)
    assert "not writable" in project.fails(PYTHONDONTWRITEBYTECODE="1")


def test_port_taken(opened):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"Port {port} is taken" in opened.fails("lab", f"--port={port}")
    opened.lab("--port", str(port))
    assert f"--ServerApp.port={port}" in opened.record()["options"]
    assert "Port 99999 is" in opened.fails("lab", "--port=99999")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("OSError: [WinError 112] There is not enough space on the disk", "disk is full"),
        ("The virtual environment was not created because ensurepip is not available.", "python3-venv"),
        ("/usr/bin/python3: No module named venv", "python3-venv"),
        ("[Errno 13] Permission denied: '/srv/course/.venv'", "not writable"),
        ("[WinError 5] Zugriff verweigert: '.venv'", "not writable"),
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


# Pythons and machines that cannot do it


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


def test_a_refusal_comes_before_any_import_of_ours(bare):
    (bare.root / "utils/launcher.py").write_text("this is no Python")
    code = "import runpy, sys; sys.version_info = (3, 9, 0); runpy.run_module('utils', run_name='__main__')"
    assert "too old" in one_sentence(bare.run(start=("-c", code))[2])


def test_intel_mac(monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "path", [])
    assert "Intel build of Python" in entry.refusal()
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert entry.refusal() is None


def test_cpu_is_recommended_and_used(opened, monkeypatch):
    opened.forget("torch")
    monkeypatch.setitem(opened.environment, "PATH", "/nowhere")  # no nvidia-smi there
    gpu = os.path.exists("/proc/driver/nvidia") or platform.system() != "Linux"
    assert ("with `--cpu`" in opened.lab()) != gpu
    opened.forget("torch")
    assert "with `--cpu`" not in opened.lab("--cpu")
    log = (opened.venv / "install.log").read_text(encoding="utf-8")
    assert "Ignoring indexes: https://download.pytorch.org/whl/cpu" in log


def test_the_real_torch_pin():
    assert re.fullmatch(r"torch==2\.\d+\.\d+", install.torch_pin())


# a JupyterLab that runs already


class Status(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = (self.path, self.headers["Authorization"]) == ("/api/status", "token secret")
        self.send_response(200 if known else 403)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def running_server(project, root):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Status) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        runtime = project.root / "runtime"
        runtime.mkdir(exist_ok=True)
        about = {"url": url, "token": "secret", "root_dir": str(root), "pid": os.getpid()}
        (runtime / "jpserver-1.json").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
        yield url
        server.shutdown()
        thread.join()


def test_a_running_jupyterlab_is_opened(opened, tmp_path):
    moved = opened.root.rename(tmp_path / "course é")
    project = Project(moved, opened.environment["PIP_FIND_LINKS"])
    with running_server(project, project.root) as url:
        code, out, err = project.run("lab", BROWSER="echo opened %s", PYTHONUTF8="0", LC_ALL="C")
    page = f"{url}lab/tree/my_work/00_start_here.ipynb?token=secret"
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"JupyterLab is running in this folder already: {page}", f"opened {page}"]
    assert not project.started.exists()


def test_another_folders_or_a_dead_jupyterlab_is_not(opened, tmp_path):
    with running_server(opened, tmp_path):
        assert "3/3" in opened.lab()
    about = opened.root / "runtime/jpserver-1.json"
    about.write_text(about.read_text().replace(str(tmp_path), str(opened.root)))
    (opened.root / "runtime/jpserver-2.json").write_text("{")
    assert "3/3" in opened.lab()


# test and build


def test_tests_and_build_have_their_environment(opened):
    (opened.root / "utils/notebooks.py").write_text(
        "def main(arguments):\n    print('build', arguments)\n    return 4\n"
    )
    code, out, err = opened.run("test")
    assert (code, err) == (1, "")
    assert "2/3 Installing" in out
    ran = [line for line in out.splitlines() if line.startswith(("ruff", "pytest"))]
    assert ran == [
        "ruff check .",
        "pytest tests -n 2 --dist loadscope",
        "pytest --nbval lessons solutions -n 2 --dist loadscope",
    ]
    assert out.splitlines()[-1] == "Failed: style"
    assert "2/3" not in opened.run("test")[1]
    assert "2/3" not in opened.lab()
    for python in [sys.executable, opened.venv / "bin/python"]:
        assert opened.run("build", "--check", "01", python=python) == (4, "build ['--check', '01']\n", "")


def test_all_passed(monkeypatch, capsys):
    monkeypatch.setattr(launcher, "prepare", lambda kind: sys.executable)
    monkeypatch.setattr(launcher, "TESTS", {"one": ["platform"], "two": ["platform"]})
    assert launcher.test() == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Passed: one, two"


@pytest.mark.parametrize("arguments", [["--fast"], ["test", "--fast"], ["bild"], ["lab", "--port=x"]])
def test_wrong_commands(bare, arguments):
    code, _, err = bare.run(*arguments)
    assert code == 2
    assert "usage: python3 -m utils" in err
