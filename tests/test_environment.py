"""What an environment lacks is named, and torch gets no more threads than there are CPUs."""

import ast
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from utils import environment
from utils.environment import READY, environment_line, unmet_requirements

INSTALLED = {"torch": "2.13.0+cpu", "numpy": "2.4.6", "tqdm": "4.70", "psutil": "7.0.0rc1"}


@pytest.fixture
def installed(monkeypatch):
    versions = dict(INSTALLED)
    monkeypatch.setattr(environment, "installed_version", versions.get)
    return versions


@pytest.fixture
def root(tmp_path, monkeypatch, installed):
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\nnumpy>=2.4,<3\n-e .\n", encoding="utf-8")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    return tmp_path


def unmet(tmp_path, text):
    path = tmp_path / "some.txt"
    path.write_text(text, encoding="utf-8")
    return unmet_requirements(path)


MET = [
    *("torch==2.13.0", "torch==2.13", "torch >= 2.9, < 3   # a comment", "numpy>=2.4,<2.5", "tqdm==4.70.0"),
    *("psutil>=7,<8", "numpy", "-e .", "# only a comment", ""),
]
UNMET = {
    "torch==2.9.1": "torch 2.13.0+cpu is installed, ==2.9.1 is wanted",
    "numpy>=2.5,<3": "numpy 2.4.6 is installed, >=2.5,<3 is wanted",
    "numpy>=2,<2.4.6": "numpy 2.4.6 is installed, >=2,<2.4.6 is wanted",
    "numpy>=2.10": "numpy 2.4.6 is installed, >=2.10 is wanted",
    "ruff>=0.17": "ruff is not installed, >=0.17 is wanted",
    "ruff  # any": "ruff is not installed, any version is wanted",
}


def test_what_is_met_is_silent_and_what_is_not_is_said(tmp_path, installed):
    assert [line for line in MET if unmet(tmp_path, line)] == []
    assert unmet(tmp_path, "\n".join([*MET, *UNMET])) == list(UNMET.values())


def touch(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize("line", ["torch~=2.13", "torch!=2.12", "a; python_version < '3'", "-r other.txt", "a[b]"])
def test_other_lines_are_refused(tmp_path, line):
    with pytest.raises(ValueError, match="cannot read the requirement"):
        unmet(tmp_path, line)


@pytest.mark.parametrize("name", ["requirements.txt", "tests/requirements.txt"])
def test_requirements_are_met_and_bounded_and_name_users_that_exist(name):
    assert unmet_requirements(environment.ROOT / name) == []
    text = (environment.ROOT / name).read_text(encoding="utf-8")
    for line in text.splitlines():
        requirement, _, comment = line.partition("#")
        bounded = "==" in requirement or (">=" in requirement and "<" in requirement)
        assert bounded or requirement.strip() in ("", "-e ."), line
        paths = re.findall(r"(?:utils|tests)/[\w./]*", comment)
        assert [path for path in paths if not (environment.ROOT / path).exists()] == []


def choices_of_a_machine(tree):
    """Yield the lines of code that want worker processes or a device other than the CPU."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="num_workers", value=value) if getattr(value, "value", None) != 0:
                yield node.value.lineno
            case ast.Attribute(attr="cuda" | "mps" | "xpu" | "accelerator" | "set_default_device"):
                yield node.lineno
            case ast.Constant(value=str(text)) if re.fullmatch(r"(cuda|mps|xpu)(:\d+)?", text):
                yield node.lineno


def test_the_library_chooses_neither_device_nor_worker_processes():
    wrong = "x.to('cuda')\nDataLoader(data, num_workers=2)\nDataLoader(data, num_workers=n)\ntorch.mps.f()\nx.cuda()\n"
    assert set(choices_of_a_machine(ast.parse(wrong))) == {1, 2, 3, 4, 5}
    assert not list(choices_of_a_machine(ast.parse("DataLoader(data, num_workers=0)\nx.to('meta')")))
    for path in (environment.ROOT / "utils").rglob("*.py"):
        found = list(choices_of_a_machine(ast.parse(path.read_text(encoding="utf-8"))))
        assert found == [] or path.name == "code_rules.py", (path, found)  # which names what lessons may not do


def test_a_half_removed_package_is_not_installed(tmp_path, monkeypatch):
    (tmp_path / "half-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert environment.installed_version("half") is None


def test_what_is_missing_is_said_with_what_mends_it(root, installed, monkeypatch):
    assert environment_line() == READY
    installed.update(torch="2.9.1", numpy="1.26.4")
    line = environment_line()
    assert line.startswith("Not ready: torch 2.9.1 is installed, ==2.13.0 is wanted (and 1 more)")
    assert "python3 -m utils lab" in line
    monkeypatch.setattr(environment, "COMMAND", "py -m utils")
    assert "`py -m utils lab`" in environment_line()


def test_a_kernel_of_another_python_is_said(root, installed):
    del installed["torch"]
    (root / ".venv").mkdir()
    assert "torch is not installed" in environment_line()  # an unfinished .venv is no better
    touch(root / ".venv/lab.stamp")
    assert "another Python" in environment_line()
    assert sys.prefix in environment_line()


@pytest.mark.parametrize("files", [["utils.py"], ["utils/__init__.py", "utils/model.py"]])
def test_the_first_cell_names_what_hides_the_courses_utils(files, tmp_path):
    touch(*(tmp_path / file for file in files))
    lesson = json.loads((environment.ROOT / "lessons/00_start_here.ipynb").read_text(encoding="utf-8"))
    first = next("".join(cell["source"]) for cell in lesson["cells"] if cell["cell_type"] == "code")
    setting = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(environment.ROOT)}, "encoding": "utf-8"}
    done = subprocess.run([sys.executable, "-c", first], capture_output=True, check=False, **setting)
    hides = rf"{tmp_path}/utils[\w./]* hides the course's utils[\w.]*: rename it, then restart the kernel\.\n"
    assert done.stdout == ""
    assert re.fullmatch(hides, done.stderr)


def test_nobody_is_told_to_close_a_hubs_jupyterlab(root, installed, monkeypatch):
    del installed["torch"]
    assert "close JupyterLab and run `python3 -m utils lab`" in environment_line()
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/anna/")
    assert environment_line().endswith("wanted; run `python3 -m utils lab` in a terminal, which mends it.")


def test_two_openmp_runtimes_are_said(root, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(root))
    ours = [root / "Library/bin/libiomp5md.dll", root / "Lib/site-packages/torch/lib/libiomp5md.dll"]
    touch(*ours)
    assert environment_line() == READY
    monkeypatch.setattr(sys, "platform", "win32")
    assert "OpenMP" in environment_line()
    ours[0].unlink()
    assert environment_line() == READY


@pytest.mark.parametrize(
    ("affinity", "quota", "cpus"),
    [(8, "max 100000", 8), (8, "200000 100000", 2), (8, "50000 100000", 1), (2, "800000 100000", 2), (3, None, 3)],
)
def test_cpus_that_are_really_there(tmp_path, monkeypatch, affinity, quota, cpus):
    if quota:
        (tmp_path / "cpu.max").write_text(quota + "\n", encoding="utf-8")
    monkeypatch.setattr(environment, "CPU_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(affinity)), raising=False)
    assert environment.available_cpus() == cpus


@pytest.mark.parametrize(("cpus", "threads", "after"), [(64, 32, 4), (1, 16, 1), (8, 2, 2), (2, 1, 1)])
def test_threads_are_capped_never_raised(monkeypatch, cpus, threads, after):
    torch = SimpleNamespace(threads=threads, get_num_threads=lambda: torch.threads)
    torch.set_num_threads = lambda number: setattr(torch, "threads", number)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(environment, "available_cpus", lambda: cpus)
    environment.cap_threads()
    assert torch.threads == after


def test_torch_is_not_imported_for_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    environment.cap_threads()
    assert "torch" not in sys.modules
