"""Make and mend the environment .venv that the course runs in: standard library only."""

import ast
import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from utils.environment import ROOT, VENV, unmet_requirements
from utils.files import replace_file

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
SITE_PACKAGES = "Lib/site-packages" if WINDOWS else "lib/python*/site-packages"
LOG = VENV / "install.log"
REQUIREMENTS = {"lab": ["requirements.txt"], "test": ["requirements.txt", "tests/requirements.txt"]}
SPACE, GPU_SPACE = 2_000_000_000, 8_000_000_000  # bytes: JupyterLab with torch, without and with GPU support
NEED = "about 8 GB, or 2 GB with `--cpu`" if platform.system() == "Linux" else "about 2 GB"
TORCH_CPU = "https://download.pytorch.org/whl/cpu"
AGAIN = "then run the same command again"
# all that counts of the user's own pip settings: where packages come from, never what is installed, or where to
PIP_SOURCES = {
    *("PIP_INDEX_URL", "PIP_PYPI_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST"),
    *("PIP_PROXY", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_USE_FEATURE", "PIP_KEYRING_PROVIDER"),
    *("PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_CACHE_DIR", "PIP_NO_CACHE_DIR"),
}

# run by .venv's Python: its version, and failure where it lacks something
CHECK = """
import sys
from pathlib import Path
from utils.environment import unmet_requirements
print("%d.%d" % sys.version_info[:2])
sys.exit(any(unmet_requirements(Path(name)) for name in sys.argv[1:]))
"""

NETWORK = r"NewConnectionError|NameResolutionError|Max retries exceeded|ConnectTimeout|ReadTimeout|ProxyError"
# what to say for the first cause that pip, venv or an OSError names
CAUSES = {
    r"No space left|Errno 28\b|WinError 112\b|Disk quota exceeded": f"The disk is full: free {NEED}, {AGAIN}.",
    r"No module named '?(venv|ensurepip)|ensurepip is not available": (
        f"This Python lacks its venv module: install it (on Debian and Ubuntu: sudo apt install python3-venv), {AGAIN}."
    ),
    r"Permission denied|Read-only file system|WinError 5\b|Access is denied": (
        f"This folder is not writable ({ROOT}): move the course to a folder of your own, {AGAIN} there."
    ),
    r"Long Path|WinError 206\b": (
        f"The path of this folder is too long for Windows ({ROOT}): move the course to a short one, such as"
        f" C:\\course, {AGAIN} there."
    ),
    r"Errno 17\b|WinError 183\b": (
        f"A file, or a link to a folder that is not there, is in the way of my_work/: rename it, {AGAIN}."
    ),
    NETWORK: f"The download failed, no package index answers: check the network, {AGAIN} (details: {LOG}).",
}


class SetupError(Exception):
    """What is wrong and what mends it: one sentence for the student."""


def say(text: str, file=None) -> None:
    """Print at once, in ASCII: no terminal and no locale can fail on it."""
    print(text.encode("ascii", "backslashreplace").decode(), file=file, flush=True)


def child_environment(python: str | Path | None = None) -> dict[str, str]:
    """The environment variables of every process that we start.

    .venv's Python finds nothing but `utils` and what .venv holds; any other one also what PYTHONPATH adds.
    """
    foreign = ("PYTHONPATH", "PYTHONHOME") if python is not None and in_venv(python) else ()
    inherited = {name: value for name, value in os.environ.items() if name not in foreign}
    return {
        **inherited,
        # `utils` is found in a moved folder too, and in an environment that is not ours
        "PYTHONPATH": with_first(inherited, "PYTHONPATH", ROOT),
        "PYTHONUTF8": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # asks no one about news
        "JUPYTER_CONFIG_PATH": with_first(inherited, "JUPYTER_CONFIG_PATH", ROOT / "utils/start/jupyter"),
        "JUPYTER_PREFER_ENV_PATH": "1",  # else a kernel in the student's home hides this environment's
    }


def in_venv(python: str | Path) -> bool:
    """Whether this path of an interpreter lies in .venv."""
    return VENV.exists() and VENV.samefile(Path(python).parent.parent)


def with_first(environment: dict[str, str], variable: str, folder: Path) -> str:
    """A search path from an environment, with this folder before all others."""
    return os.pathsep.join([str(folder), *filter(None, [environment.get(variable)])])


def explain(output: str) -> str | None:
    """The sentence for the first known cause that an error's text names."""
    return next((sentence for cause, sentence in CAUSES.items() if re.search(cause, output)), None)


@contextlib.contextmanager
def sole_start() -> Iterator[tuple[int, ...]]:
    """Wait until no other start is at work in this folder; yield what holds the lock.

    pip inherits it: if we are killed, the next start waits for that pip to end. Windows has no such lock: two first
    starts at the same moment can disturb each other there, and the next start mends it.
    """
    if fcntl is None:
        yield ()
        return
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another start is at work in this folder: waiting for it to end")
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:  # a network folder without locks
        pass
    try:
        yield (folder,)
    finally:
        os.close(folder)


def ensure(kind: str, lock: tuple[int, ...], cpu: bool = False) -> str:
    """Return the Python that has what `kind` ("lab" or "test") needs, made or mended first if need be.

    Raises SetupError and OSError.
    """
    inside = in_venv(sys.executable)
    if not inside and not any(unmet_requirements(ROOT / name) for name in REQUIREMENTS[kind]):
        return sys.executable
    if not stamped(kind):
        install(kind, lock, cpu)
    return sys.executable if inside else str(PYTHON)


def stamped(kind: str) -> bool:
    """Whether an installation for `kind` was finished, with these requirements, and nothing is missing since."""
    try:
        return stamp(kind).read_text(encoding="ascii") == requirements_digest(kind, venv_version(*REQUIREMENTS[kind]))
    except (OSError, ValueError):
        return False


def stamp(kind: str) -> Path:
    """The file that says that an installation was finished."""
    return VENV / f"{kind}.stamp"


def requirements_digest(kind: str, version: str) -> str:
    """What the stamp holds: a hash of the requirements and of Python's version."""
    contents = [(ROOT / name).read_bytes() for name in REQUIREMENTS[kind]]
    return hashlib.sha256(b"\0".join([version.encode(), *contents])).hexdigest()


def venv_version(*requirements: str) -> str:
    """The version of .venv's Python, such as "3.11"; empty where it does not run or lacks one of the requirements."""
    return answer("-c", CHECK, *requirements)


def answer(*arguments: str, env: dict[str, str] | None = None, python: str | Path = PYTHON) -> str:
    """What .venv's Python, or another, prints; empty where it fails or is not there."""
    try:
        done = subprocess.run([python, *arguments], cwd=ROOT, env=env or child_environment(python), capture_output=True)
    except OSError:
        return ""
    return "" if done.returncode else os.fsdecode(done.stdout).strip()


def install(kind: str, lock: tuple[int, ...], cpu: bool) -> None:
    """Make .venv unless it is usable, install into it, and leave the stamps only when all of that is done."""
    for old in VENV.glob("*.stamp"):
        old.unlink()
    if usable():
        say("1/3 The environment .venv is there")
    else:
        say("1/3 Making the environment .venv")
        make(lock)
    remove_half_installed()
    say("2/3 Installing the requirements (some minutes the first time)")
    LOG.unlink(missing_ok=True)
    if cpu:
        pip(lock, torch_pin(), "--index-url", TORCH_CPU)
    elif platform.system() == "Linux" and not has("torch"):
        recommend_cpu()
    pip(lock, *(f"--requirement={name}" for name in REQUIREMENTS[kind]))
    for done in ["lab"] if kind == "lab" else ["lab", "test"]:
        replace_file(stamp(done), requirements_digest(done, venv_version()))


def usable() -> bool:
    """Whether .venv is complete enough for pip to go on in it."""
    ours = "{}.{}".format(*sys.version_info)
    return venv_version() == ours and has("pip") and answer("-m", "pip", "--version", env=pip_environment({})) != ""


def has(package: str) -> bool:
    """Whether .venv holds a whole copy of this package."""
    return any(VENV.glob(f"{SITE_PACKAGES}/{package}-*.dist-info/RECORD"))


def make(lock: tuple[int, ...]) -> None:
    """Make .venv, in place of what is there. Raises SetupError."""
    free = shutil.disk_usage(ROOT).free
    if free < SPACE:
        raise SetupError(f"The course needs {NEED} on this disk, {free / 1e9:.1f} GB are free: free some, {AGAIN}.")
    done = run([sys.executable, "-m", "venv", "--clear", VENV], lock, stdout=subprocess.PIPE)
    if done.returncode:
        # venv keeps the words of the pip that it started to itself
        full = shutil.disk_usage(VENV if VENV.exists() else ROOT).free < SPACE / 50
        output = "No space left" if full else done.stdout + done.stderr
        raise SetupError(explain(output) or f"The environment could not be made ({last_error(output)}).")


def run(command: list, lock: tuple[int, ...], **options) -> subprocess.CompletedProcess:
    """Run a command in the root, its errors captured, the lock in its hands."""
    options = {"env": child_environment(command[0])} | options
    options |= {"stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace", "pass_fds": lock}
    return subprocess.run(command, cwd=ROOT, **options)


def remove_half_installed() -> None:
    """Remove the metadata of packages that pip was writing when it was killed: it would think them complete."""
    for folder in VENV.glob(f"{SITE_PACKAGES}/*.dist-info"):
        if not ((folder / "INSTALLER").exists() and (folder / "RECORD").exists()):  # pip writes them last
            shutil.rmtree(folder)


def pip(lock: tuple[int, ...], *arguments: str) -> None:
    """Let .venv's pip install, its progress visible. Raises SetupError."""
    done = run_pip(lock, *arguments)
    if done.returncode:
        raise SetupError(
            explain(done.stderr + unreachable(done.stderr))
            or f"The installation failed ({last_error(done.stderr) or done.returncode}); details are in {LOG}."
        )


def run_pip(lock: tuple[int, ...], *arguments: str, python: str | Path = PYTHON, **settings: str):
    """Run `pip install`; settings ("PIP_TIMEOUT": …) count where the user has said nothing."""
    command = [python, "-m", "pip", "install", "--no-input", "--log", LOG, *arguments]
    return run(command, lock, env=pip_environment({**settings, **package_sources(python)}, python))


def pip_environment(settings: dict[str, str], python: str | Path = PYTHON) -> dict[str, str]:
    """The environment variables of a pip that knows these settings ("PIP_INDEX_URL": …) and no others."""
    others = {name: value for name, value in child_environment(python).items() if not name.startswith("PIP_")}
    return others | {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | settings


def package_sources(python: str | Path = PYTHON) -> dict[str, str]:
    """What the user's pip settings, in files and in PIP_ variables, say on where packages come from."""
    whole = {f"PIP_{name}": "0" for name in ("USER", "GLOBAL", "SITE", "QUIET")}  # each would shorten the list
    named = {"PIP_CONFIG_FILE": os.environ.get("PIP_CONFIG_FILE", "")}
    listed = answer("-m", "pip", "config", "list", env=pip_environment(whole | named, python), python=python)
    found = re.findall(r"^(global|install)\.([\w-]+)=(['\"].+)$", listed, re.M)
    found.sort(key=lambda setting: setting[0] == "install")  # the last one counts, and variables after that
    files = [(f"PIP_{name}".upper().replace("-", "_"), ast.literal_eval(value)) for _, name, value in found]
    return {name: value for name, value in [*files, *os.environ.items()] if name in PIP_SOURCES and value}


def unreachable(errors: str) -> str:
    """What pip's log says of the network, where pip itself only says that it found no package."""
    if "No matching distribution" not in errors or not LOG.exists():
        return ""
    return "".join(re.findall(NETWORK, LOG.read_text(encoding="utf-8", errors="replace")))


def last_error(output: str) -> str:
    """The last line that pip calls an error; else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"ERROR: (?!Exception)", line)]
    return (errors or lines or [""])[-1].removeprefix("ERROR: ")


def torch_pin() -> str:
    """The requirement of torch, such as "torch==2.13.0"."""
    return re.search(r"^torch==[\w.]+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M)[0]


def recommend_cpu() -> None:
    """Say so where torch arrives with GPU support that this machine has no room or no use for."""
    free = shutil.disk_usage(ROOT).free
    # no refusal: a machine's own pip settings may bring a torch without GPU support
    if free < GPU_SPACE:
        say(f"    {free / 1e9:.1f} GB are free: torch for GPUs may need about 8 GB, with `--cpu` 2 GB are enough")
    elif not (shutil.which("nvidia-smi") or os.path.exists("/proc/driver/nvidia")):
        say("    No NVIDIA GPU found: with `--cpu`, the download would be some 200 MB instead of several GB")
