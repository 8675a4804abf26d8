"""Run a notebook from top to bottom in a fresh kernel, in its own folder."""

import logging
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from utils.notebooks.derive import unrun
from utils.notebooks.form import canonical


class RunError(RuntimeError):
    """A cell raised, hung or ended the kernel."""


class _ThisEnvironment(KernelSpecManager):
    """Finds the kernel of the running interpreter, not one that a user's folder calls `python3`."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


class _Progress:
    """One line on the terminal for one notebook; on a terminal it counts the cells as they run."""

    def __init__(self, name: str, nb: NotebookNode):
        self.name, self.cell, self.start = name, None, time.monotonic()
        self.done, self.total = 0, sum(cell.cell_type == "code" for cell in nb.cells)
        self.seconds, self.worked = {}, {}  # cell id -> how long it took; how much of that its kernel worked
        self.begun, self.manager = (0.0, 0.0), None  # clock and work when this cell began; the kernel's manager

    def starts(self, cell: NotebookNode, cell_index: int) -> None:
        """Note the cell that begins, for the line and for the message if it fails."""
        if cell.cell_type != "code":
            return
        self.cell, self.done, self.begun = cell, self.done + 1, self._now()
        if sys.stdout.isatty():
            print(f"\r{self.name}: cell {self.done} of {self.total}", end="", flush=True)

    def executed(self, cell: NotebookNode, **_) -> None:
        """Note how long a cell took by the clock, and how long the processor worked for it."""
        clock, work = (after - before for after, before in zip(self._now(), self.begun, strict=True))
        self.seconds[cell.id], self.worked[cell.id] = clock, min(clock, work)

    def _now(self) -> tuple[float, float]:
        """The clock, and the seconds that the kernel and its ended children worked so far; of a lost one, the clock."""
        clock = time.monotonic()
        with suppress(psutil.Error, AttributeError):
            return clock, sum(psutil.Process(self.manager.provisioner.pid).cpu_times()[:4])
        return clock, clock

    def ends(self) -> None:
        """Print the finished line."""
        line = f"{self.name}: {self.total} cells, {time.monotonic() - self.start:.1f} s"
        if self.seconds:
            slowest = max(self.seconds, key=self.seconds.get)
            line += f" (slowest: {slowest}, {self.seconds[slowest]:.1f} s)"
        # over the counting line, and longer than it
        print(f"\r{line:<78}" if sys.stdout.isatty() else line, flush=True)


def run(nb: NotebookNode, folder: Path, name: str, timeout: int = 120) -> tuple[NotebookNode, dict[str, float]]:
    """Return the notebook with its outputs, in canonical form, and the seconds that each code cell took, by id.

    A cell takes what the clock says or what the kernel worked, whichever is less: a busy machine makes nothing slow.
    `folder` is the kernel's working directory, `name` is what the terminal shows, `timeout` is in seconds and
    for each cell. Raises RunError with one sentence naming notebook, cell and error; a cell with the tag
    `raises-exception` may raise.
    """
    nb = canonical(unrun(nb))
    progress = _Progress(name, nb)
    try:
        _client(nb, folder, timeout, progress).execute(cleanup_kc=True)
    except (CellExecutionError, CellTimeoutError, RuntimeError) as error:
        where = f"{name}, cell {progress.cell.id if progress.cell else '(none yet)'}"
        raise RunError(f"{where}: {_reason(error, timeout)}") from None
    finally:
        progress.ends()
    return canonical(nb), progress.worked


def _client(nb: NotebookNode, folder: Path, timeout: int, progress: _Progress) -> NotebookClient:
    progress.manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=_ThisEnvironment())
    client = NotebookClient(
        nb,
        km=progress.manager,
        timeout=timeout,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(folder)}},
        # without this, each start warns that a local kernel is not encrypted
        extra_arguments=["--IPKernelApp.log_level=40"],
        on_cell_start=progress.starts,
        on_cell_executed=progress.executed,
    )
    # what it would log is said once, by RunError
    client.log = logging.getLogger("utils.notebooks.quiet")
    client.log.disabled = True
    return client


def _reason(error: Exception, timeout: int) -> str:
    if isinstance(error, CellTimeoutError):
        return f"it was still running after {timeout} seconds"
    if isinstance(error, DeadKernelError):
        return "the kernel died"
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}".rstrip(": ")
    return f"the kernel did not start ({error})"
