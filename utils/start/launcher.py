"""The commands behind `python3 -m utils`: standard library only, until the environment stands."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.parse
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

from utils.environment import HUB_PREFIX, ROOT
from utils.start import my_work
from utils.start.install import SetupError, child_environment, ensure, explain, in_venv, last_error, say, sole_start
from utils.start.smollm import ensure_model

START = "lab/tree/my_work/00_start_here.ipynb"
RUNTIME_FOLDER = "from jupyter_core.paths import jupyter_runtime_dir as folder; print(folder())"
LAB_OPTIONS = [
    f"--ServerApp.root_dir={ROOT}",
    # the same again, where the student's own settings for other work can name another folder and stop the start
    f"--FileContentsManager.root_dir={ROOT}",
    "--FileContentsManager.preferred_dir=",
    f"--LabApp.default_url=/{START}",
    "--ServerApp.answer_yes=True",  # one Ctrl-C ends it
    # a browser in a snap, or on Windows beside WSL, cannot open the hidden file that would lead it to the address
    "--ServerApp.use_redirect_file=False",
    # no other host is asked, whatever the student's own settings say; utils/start/jupyter/ only spares the question
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
]
KERNEL = "GPT course"  # its name in a hub
REPORTS = ".pytest_cache"  # ignored by git
OPTIONS = ["-rs", "-n", "2", "--dist", "loadscope"]
TESTS = {
    "style": [["ruff", "check", "."], ["ruff", "format", "--check", "."]],
    "unit and browser tests": [["pytest", "tests", *OPTIONS, f"--junitxml={REPORTS}/tests.xml"]],
    "notebooks": [["pytest", "--nbval", "lessons", "solutions", *OPTIONS, f"--junitxml={REPORTS}/notebooks.xml"]],
}


def in_words(action: Callable[..., int], *arguments) -> int:
    """Run a command; whatever is wrong becomes one sentence. Returns the exit code."""
    try:
        return action(*arguments)
    except KeyboardInterrupt:
        say("Interrupted: run the same command again, it goes on from there.", sys.stderr)
        return 130
    except SetupError as error:
        say(str(error), sys.stderr)
        return 1


def prepare(kind: str, cpu: bool = False, lessons: bool = False, model: bool = True) -> str:
    """Return the Python to use, with its requirements installed and, if asked, the lessons in my_work/.

    model: whether the real model of lesson 09 is installed too. `lab` can do without, the tests and the builder not.

    Raises SetupError.
    """
    try:
        with sole_start() as lock:
            python = ensure(kind, lock, cpu)
            if model:
                ensure_model(python, lock, needed=kind != "lab")
            for line in my_work.copy_lessons(ROOT / "lessons", ROOT / "my_work") if lessons else []:
                say(line)
    except OSError as error:
        raise SetupError(explain(str(error)) or f"The course could not be set up ({error}).") from error
    return python


def lab(cpu: bool, model: bool, port: int | None, no_browser: bool, further: list[str]) -> int:
    """Open the course in JupyterLab, and stay until that ends."""
    python = prepare("lab", cpu, lessons=True, model=model)
    if prefix := os.environ.get(HUB_PREFIX):
        return in_hub(python, prefix)
    address = running_lab(python)
    if address:
        say(f"JupyterLab is running in this folder already: {address}")
        if port is not None or further:
            say("--port and further options were not used: end that JupyterLab first")
        if not no_browser:
            webbrowser.open(address)
        return 0
    options = [*LAB_OPTIONS, *["--no-browser"] * no_browser]
    if port is not None:
        check_port(port)
        options += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # containers know no other user
    say("3/3 Opening JupyterLab (Ctrl-C in this window ends it)")
    return serve([python, "-m", "jupyterlab", *options, *further])


def serve(command: list[str]) -> int:
    """Run JupyterLab until it ends."""
    process = subprocess.Popen(command, cwd=ROOT, env=child_environment(command[0]))
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the terminal sends it to JupyterLab as well
            continue


def in_hub(python: str, prefix: str) -> int:
    """Say where a JupyterHub shows the course: it serves JupyterLab already, and could not show a second one.

    Raises SetupError.
    """
    roots = [server["root_dir"] for server in servers(python) if server["base_url"].strip("/") == prefix.strip("/")]
    root = Path(next(iter(roots), os.environ.get("JUPYTERHUB_ROOT_DIR") or Path.home())).resolve()
    if not ROOT.is_relative_to(root):
        raise SetupError(f"This hub shows what lies in {root}: move the course ({ROOT}) there, and run this again.")
    if in_venv(python):  # which the hub's JupyterLab would not find
        offer_kernel(python)
    page = START.replace("my_work", (ROOT.relative_to(root) / "my_work").as_posix())
    base = (os.environ.get("JUPYTERHUB_PUBLIC_URL") or prefix).rstrip("/")
    say(f"3/3 This hub runs JupyterLab already: open {base}/{urllib.parse.quote(page)} there")
    return 0


def offer_kernel(python: str) -> None:
    """Let a JupyterLab of another Python start kernels of this one. Raises SetupError."""
    command = [python, "-m", "ipykernel", "install", "--user", "--name=gpt-course", f"--display-name={KERNEL}"]
    command += ["--env", "PYTHONPATH", str(ROOT), "--env", "PYTHONUTF8", "1"]
    done = subprocess.run(command, cwd=ROOT, env=child_environment(python), capture_output=True)
    if done.returncode:
        error = last_error(os.fsdecode(done.stderr))
        raise SetupError(f"The course's Python could not be offered to this hub's JupyterLab ({error}).")
    say(f"In each lesson, choose the kernel `{KERNEL}` (menu Kernel, Change Kernel)")


def running_lab(python: str) -> str | None:
    """The address of a JupyterLab that this command started, on the course's Python, and that serves this folder."""
    for server in servers(python):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            if os.path.samefile(server["root_dir"], ROOT) and is_ours(server["url"], server["token"]):
                return f"{server['url']}{START}" + f"?token={server['token']}" * bool(server["token"])
    return None


def servers(python: str) -> Iterator[dict]:
    """What each Jupyter server of this user noted about itself, dead ones included."""
    command = [python, "-c", RUNTIME_FOLDER]
    asked = subprocess.run(command, cwd=ROOT, env=child_environment(python), capture_output=True)
    folder = os.fsdecode(asked.stdout.strip())
    if asked.returncode or not folder:
        return
    for file in sorted(Path(folder).glob("jpserver-*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            noted = json.loads(file.read_text(encoding="utf-8"))
            server = {name: noted[name] for name in ("url", "base_url", "token", "root_dir")}
            # in the C locale, a name that is not ASCII has another form here than in JupyterLab
            yield server | {"root_dir": os.fsdecode(server["root_dir"].encode("utf-8", "surrogateescape"))}


def is_ours(url: str, token: str) -> bool:
    """Whether a server leads browsers to the course, as no other does, and takes this token ("": a password is set).

    Raises OSError, ValueError and HTTPException where none answers.
    """
    leads_here = START in ask(url).getheader("Location", "")  # said to everybody, also where a password is set
    return leads_here and (not token or ask(f"{url}api/status", Authorization=f"token {token}").status == 200)


def ask(url: str, **headers: str) -> http.client.HTTPResponse:
    """A server's answer, without its body: no proxy asked, no redirection followed, any certificate taken."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https":
        import ssl  # not every Python has it

        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=3, context=context)
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=3)
    with contextlib.closing(connection):
        connection.request("GET", parts.path, headers=headers)
        return connection.getresponse()


def check_port(port: int) -> None:
    """Raise SetupError where JupyterLab could not use this port."""
    try:
        with socket.socket() as probe:
            if os.name != "nt":  # as JupyterLab does: a port that was left a minute ago is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise SetupError(
            f"Port {port} is taken or not allowed: give another one, or leave --port out and a free one is found."
        ) from error


def test() -> int:
    """Run every test, whatever fails; say in the last line what did, or that some were skipped."""
    python = prepare("test")
    say("3/3 Running the tests")
    # two tests at a time with two threads each wait for one another ten times as long as they work
    environment = {**child_environment(python), "OMP_NUM_THREADS": "1"}
    failed = {}
    for title, commands in TESTS.items():
        for arguments in commands:
            say(f"\n== {title}: {' '.join(arguments)}")
            if subprocess.run([python, "-m", *arguments], cwd=ROOT, env=environment).returncode:
                failed[title] = True
    more = f" (skipped: {count}, the reasons stand above)" if (count := skipped()) else ""
    say(f"Failed: {', '.join(failed)}" if failed else f"Passed: {', '.join(TESTS)}{more}")
    return 1 if failed else 0


def skipped() -> int:
    """How many tests pytest skipped, by the reports that it left."""
    reports = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob(f"{REPORTS}/*.xml"))
    return sum(int(number) for number in re.findall(r'<testsuite [^>]*skipped="(\d+)"', reports))


def build(arguments: list[str]) -> int:
    """Build the notebooks, in the environment of the tests."""
    python = prepare("test")
    if python != sys.executable or not sys.flags.utf8_mode:  # torch needs that in a folder that is not ASCII
        command = [python, "-m", "utils", "build", *arguments]
        return subprocess.run(command, cwd=ROOT, env=child_environment(python)).returncode
    os.environ.update(child_environment())  # for the kernels
    from utils import notebooks

    return notebooks.main(arguments)
