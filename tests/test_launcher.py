"""The commands lab, test and build in small real projects: real venvs and real pip, tiny wheels of our own."""

import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from small_course import FAKE_LAB, LESSON, Project, wait_for

from utils.environment import ROOT
from utils.start import launcher

pytest_plugins = ["small_course_fixtures"]


# the first start and the next


def test_first_start_shows_its_steps(first_start):
    project, out = first_start
    steps = (
        "1/3 Making the environment .venv",
        "2/3 Installing",
        "1 lesson copied to my_work/",
        "3/3 Opening JupyterLab",
    )
    assert [out.index(step) for step in steps] == sorted(out.index(step) for step in steps)
    assert "Successfully installed" in out  # pip's own progress
    assert (project.root / "my_work/00_start_here.ipynb").read_text(encoding="utf-8") == LESSON
    assert (project.venv / "install.log").exists()
    assert not (project.venv / "test.stamp").exists()


def test_jupyterlab_is_started_in_the_root(first_start):
    project, _ = first_start
    started = project.record()
    assert started["folder"] == str(project.root)
    assert started["utils"] == str(project.root / "utils/__init__.py")
    assert started["environment"]["PYTHONUTF8"] == "1"
    assert started["environment"]["JUPYTER_CONFIG_PATH"] == str(project.root / "utils/start/jupyter")
    assert {
        *(f"--ServerApp.root_dir={project.root}", "--ServerApp.use_redirect_file=False", "--no-browser"),
        *("--LabApp.default_url=/lab/tree/my_work/00_start_here.ipynb", "--LabApp.news_url=None"),
        *("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly"),
    } <= set(started["options"])
    assert started["options"][-2:] == ["--collaborative", "--ip=0.0.0.0"]
    assert not any("port" in option for option in started["options"])


def test_jupyterlab_does_not_ask_about_news():
    file = ROOT / "utils/start/jupyter/labconfig/default_setting_overrides.json"
    defaults = json.loads(file.read_text(encoding="utf-8"))
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
    (bare.root / "requirements.txt").write_text("pytest>=8\n-e .\n", encoding="utf-8")
    shared = tmp_path / "shared"
    (shared / "jupyterlab").mkdir(parents=True)
    (shared / "jupyterlab/__init__.py").touch()
    (shared / "jupyterlab/__main__.py").write_text(FAKE_LAB, encoding="utf-8")
    bare.lab(PYTHONPATH=str(shared))
    assert not (bare.venv / "bin").exists()
    assert bare.model.exists()  # by that environment's pip
    assert bare.record()["environment"]["PYTHONPATH"] == f"{bare.root}{os.pathsep}{shared}"


def test_the_venv_itself_can_start_and_mend(opened):
    opened.forget()
    for _ in range(2):
        out = opened.lab(python=opened.venv / "bin/python")
    assert "2/3" not in out


def test_ctrl_c_ends_jupyterlab(opened):
    with opened.popen(FAKE_WAIT="20") as process:
        wait_for(opened.started.exists)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


def test_port_taken(opened):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"Port {port} is taken" in opened.fails("lab", f"--port={port}")
    opened.lab("--port", str(port))
    assert f"--ServerApp.port={port}" in opened.record()["options"]
    assert "Port 99999 is" in opened.fails("lab", "--port=99999")


# a JupyterLab that runs already


class Jupyter(http.server.BaseHTTPRequestHandler):
    """Answers as JupyterLab does to whoever is not logged in."""

    page = "/lab/tree/my_work/00_start_here.ipynb?"

    def do_GET(self):
        known = (self.path, self.headers["Authorization"]) == ("/api/status", "token secret")
        self.send_response(302 if self.path == "/" else 200 if known else 403)
        if self.path == "/":
            self.send_header("Location", self.page)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class PlainJupyter(Jupyter):
    """One that the course did not start."""

    page = "/lab?"


@contextlib.contextmanager
def running_server(project, root, kind=Jupyter, token="secret"):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        runtime = project.root / "runtime"
        runtime.mkdir(exist_ok=True)
        about = {"url": url, "base_url": "/", "token": token, "root_dir": str(root), "pid": os.getpid()}
        (runtime / "jpserver-1.json").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
        try:
            yield url
        finally:  # or a test that fails would never end
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


def test_a_running_jupyterlab_with_a_password_is_opened(opened):
    with running_server(opened, opened.root, token="") as url:
        page = f"{url}lab/tree/my_work/00_start_here.ipynb"
        assert opened.lab() == f"JupyterLab is running in this folder already: {page}\n"


@pytest.mark.parametrize(
    ("folder", "kind", "token"),
    [(".", PlainJupyter, "secret"), (".", Jupyter, "of the one before"), ("..", Jupyter, "secret")],
)
def test_another_pythons_an_earlier_or_another_folders_jupyter_is_not_opened(opened, folder, kind, token):
    with running_server(opened, (opened.root / folder).resolve(), kind, token):
        assert "3/3 Opening" in opened.lab()


def test_a_note_that_a_dead_jupyterlab_left_or_that_cannot_be_read_is_passed_over(opened):
    with running_server(opened, opened.root):
        (opened.root / "runtime/jpserver-2.json").write_text("{", encoding="utf-8")
    assert "3/3" in opened.lab()


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def real_jupyterlab(folder, *options, **settings):
    """A real JupyterLab with these settings in the student's own configuration: its note, and what it printed."""
    for name in ("config", "runtime"):
        (folder / name).mkdir(parents=True)
    (folder / "config/jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
    own = {"JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    environment = {**os.environ, **own, "BROWSER": "echo opened %s", "JUPYTER_NO_CONFIG": ""}
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.port={port}", "--allow-root", *options]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: listens(port) and any(folder.glob("runtime/jpserver-*.json")))
        note = json.loads(next(folder.glob("runtime/jpserver-*.json")).read_text(encoding="utf-8"))
        yield note, lambda: (folder / "log").read_text(encoding="utf-8")
    finally:
        print((folder / "log").read_text(encoding="utf-8"))
        server.terminate()
        server.wait(timeout=20)


def test_a_real_jupyterlab_is_known_and_gives_the_browser_its_address(tmp_path):
    elsewhere = {"root_dir": str(tmp_path), "preferred_dir": str(tmp_path)}
    with real_jupyterlab(tmp_path / "ours", *launcher.LAB_OPTIONS, FileContentsManager=elsewhere) as (note, log):
        assert os.path.samefile(note["root_dir"], ROOT)  # whatever folder the student's own settings name
        assert launcher.is_ours(note["url"], note["token"])
        assert not launcher.is_ours(note["url"], "another")
        wait_for(lambda: "opened" in log())
        assert f"opened {note['url']}{launcher.START}?token={note['token']}\n" in log()


def test_a_real_jupyterlab_is_known_behind_its_password_and_a_plain_one_is_not(tmp_path):
    password = {"hashed_password": "argon2:$argon2id$v=19$m=10240,t=10,p=8$c29tZXNhbHQ$c29tZWhhc2g"}
    options = [*launcher.LAB_OPTIONS, "--no-browser"]
    with real_jupyterlab(tmp_path / "ours", *options, PasswordIdentityProvider=password) as (note, _):
        assert note["token"] == ""
        assert launcher.ask(f"{note['url']}api/status").status == 403
        assert launcher.is_ours(note["url"], "")
    with real_jupyterlab(tmp_path / "plain", "--no-browser") as (note, _):
        assert launcher.ask(f"{note['url']}api/status", Authorization=f"token {note['token']}").status == 200
        assert not launcher.is_ours(note["url"], note["token"])


# inside a JupyterHub


def test_in_a_hub_no_second_server_starts(opened, tmp_path):
    (opened.root / "my_work/00_start_here.ipynb").unlink()
    hub = {"JUPYTERHUB_SERVICE_PREFIX": "/user/anna/", "HOME": str(tmp_path)}
    out = opened.lab("--port=8899", **hub)
    assert out.splitlines() == [
        "1 lesson copied to my_work/",
        "In each lesson, choose the kernel `GPT course` (menu Kernel, Change Kernel)",
        "3/3 This hub runs JupyterLab already: open /user/anna/lab/tree/course/my_work/00_start_here.ipynb there",
    ]
    started = opened.record()  # not JupyterLab, but
    assert started["options"][:3] == ["install", "--user", "--name=gpt-course"]
    assert started["options"][-5:-3] == ["PYTHONPATH", str(opened.root)]


def test_a_hub_that_has_everything_needs_no_kernel_of_ours(opened, tmp_path):
    (opened.root / "requirements.txt").write_text("pytest>=8\n-e .\n", encoding="utf-8")
    hub = {"JUPYTERHUB_SERVICE_PREFIX": "/user/anna/", "JUPYTERHUB_PUBLIC_URL": "https://hub.example.org/user/anna/"}
    moved = opened.root.rename(tmp_path / "my course é")
    out = Project(moved, "").lab(**hub, JUPYTERHUB_ROOT_DIR=str(tmp_path))
    page = "https://hub.example.org/user/anna/lab/tree/my%20course%20%C3%A9/my_work/00_start_here.ipynb"
    assert out == f"3/3 This hub runs JupyterLab already: open {page} there\n"
    assert not (moved / "started.json").exists()


def test_a_hub_that_does_not_show_the_courses_folder_is_said(opened, tmp_path):
    hub = {"JUPYTERHUB_SERVICE_PREFIX": "/user/anna/", "HOME": str(tmp_path / "home")}
    assert f"shows what lies in {tmp_path / 'home'}: move the course" in opened.fails(**hub)


def test_the_hubs_own_server_says_which_folder_it_shows(opened, tmp_path):
    with running_server(opened, tmp_path.parent):
        out = opened.lab(JUPYTERHUB_SERVICE_PREFIX="/", HOME="/nowhere")
    assert f"open /lab/tree/{tmp_path.name}/course/my_work/00_start_here.ipynb there" in out


@pytest.mark.parametrize("option", ["--port=8899", "--collaborative"])
def test_options_that_a_running_jupyterlab_cannot_take_are_said(opened, option):
    with running_server(opened, opened.root):
        assert "were not used" in opened.lab(option).splitlines()[1]


@pytest.mark.parametrize("answer", [None, ""])
def test_a_jupyter_that_cannot_say_where_servers_are_noted(opened, answer):
    del opened.environment["JUPYTER_RUNTIME_DIR"]
    variable = {} if answer is None else {"JUPYTER_RUNTIME_DIR": answer}
    with running_server(opened, opened.root):  # its notes would be found in the folder of this start
        assert "3/3" in opened.lab(start=[str(opened.root / "utils")], cwd=opened.root / "runtime", **variable)


# test and build


def write_builder(project, code):
    """A builder that says what it was asked, and ends with this code."""
    text = f"main = lambda arguments: print('build', arguments) or {code}\n"
    (project.root / "utils/notebooks.py").write_text(text, encoding="utf-8")


def test_every_command_works_from_nothing_in_a_folder_that_is_not_ascii(tmp_path, wheels):
    project = Project(tmp_path / "my course é ü", wheels).write()
    write_builder(project, code=0)
    # by the stand-in for ruff
    for arguments, code, last in [(["test"], 1, "Failed: style"), (["build", "--check"], 0, "build ['--check']")]:
        ended, out, err = project.run(*arguments, PYTHONUTF8="0", LC_ALL="C")
        assert (ended, err, out.splitlines()[-1]) == (code, "", last)
        shutil.rmtree(project.venv)


def test_tests_and_build_have_their_environment(opened):
    write_builder(opened, code=4)
    code, out, err = opened.run("test")
    assert (code, err) == (1, "")
    assert "2/3 Installing" in out
    ran = [line for line in out.splitlines() if line.startswith(("ruff", "pytest"))]
    assert ran == [
        "ruff check .",
        "ruff format --check .",
        "pytest tests -rs -n 2 --dist loadscope --junitxml=.pytest_cache/tests.xml",
        "pytest --nbval lessons solutions -rs -n 2 --dist loadscope --junitxml=.pytest_cache/notebooks.xml",
    ]
    assert out.splitlines()[-1] == "Failed: style"
    assert "2/3" not in opened.run("test")[1]
    assert "2/3" not in opened.lab()
    for python in [sys.executable, opened.venv / "bin/python"]:
        assert opened.run("build", "--check", "01", python=python) == (4, "build ['--check', '01']\n", "")


@pytest.fixture
def prepared(monkeypatch, tmp_path):
    """An empty root whose environment is this one."""
    monkeypatch.setattr(launcher, "prepare", lambda kind: sys.executable)
    monkeypatch.setattr(launcher, "ROOT", tmp_path)
    return tmp_path


def test_all_passed(prepared, monkeypatch, capsys):
    monkeypatch.setattr(launcher, "TESTS", {"one": [["platform"]], "two": [["platform"], ["platform"]]})
    assert launcher.test() == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Passed: one, two"


def test_what_was_skipped_is_said(prepared, monkeypatch, capfd):
    (prepared / "tests").mkdir()
    text = "import pytest\ndef test_one(): pytest.skip('no browser')\ndef test_two(): pass"
    (prepared / "tests/test_some.py").write_text(text, encoding="utf-8")
    title = "unit and browser tests"
    monkeypatch.setattr(launcher, "TESTS", {title: launcher.TESTS[title]})
    assert launcher.test() == 0
    out = capfd.readouterr().out
    assert re.search(r"SKIPPED \[1\] .*no browser", out)
    assert out.splitlines()[-1] == f"Passed: {title} (skipped: 1, the reasons stand above)"


def test_the_students_own_code_is_not_judged_for_style(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "my_work").mkdir()
    (tmp_path / "my_work/mine.py").write_text("import os;x=( 1)", encoding="utf-8")
    for arguments in launcher.TESTS["style"]:
        subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, check=True)


def test_in_ci_a_missing_browser_is_a_failure(tmp_path):
    for program in ["python3", "chromium", "chromedriver"]:
        (tmp_path / program).write_text('#!/bin/sh\necho "CI=$CI" "$@"', encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    environment = {**os.environ, "CI": "", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert subprocess.check_output([ROOT / ".ci/run"], env=environment, encoding="utf-8") == "CI=true -m utils test\n"
