"""A place to run a changed program in: few lines, little time and memory, no files, no output."""

import contextlib
import functools
import io
import sys
import threading
import time

LINES = 30_000  # that a changed program may execute
MEMORY = 1_500_000_000  # bytes above what the process has, where the system can limit it
NAME = "<a changed answer>"
FORBIDDEN = ("open", "os.", "shutil.", "subprocess.", "socket.", "tempfile.", "webbrowser.", "pty.", "ctypes.dlopen")
_guard = threading.local()


class Stopped(BaseException):
    """A changed program has run too long, or reaches for a file or another process."""


class Clock:
    """An end after so many seconds of this thread's own work, which a busy machine does not shorten.

    Half as much again by the clock on the wall ends it too.
    """

    def __init__(self, seconds):
        self.worked, self.passed = time.thread_time() + seconds, time.perf_counter() + 1.5 * seconds

    def is_over(self):
        """Whether the end is reached."""
        return time.thread_time() > self.worked or time.perf_counter() > self.passed


@contextlib.contextmanager
def limits(clock):
    """Lines, time, memory and files are limited inside, and nothing is printed."""
    before, _guard.on = sys.gettrace(), True
    _audit()
    sys.settrace(_counter(clock))
    try:
        with _less_memory(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        sys.settrace(before)
        _guard.on = False


def _counter(clock):
    """A trace function that stops a changed program after so many lines, on any system."""
    left = LINES

    def count(frame, event, arg):
        nonlocal left
        left -= 1
        if left < 0 or (left % 100 == 0 and clock.is_over()):
            raise Stopped
        return count

    return lambda frame, event, arg: count if frame.f_code.co_filename == NAME else None


@contextlib.contextmanager
def _less_memory():
    try:
        import resource

        import psutil

        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + MEMORY, before[1]))
    except (ImportError, ValueError, OSError):  # Windows, or a limit that may not be changed
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@functools.cache  # a hook is added once, and never taken away
def _audit():
    """Let nothing be opened for writing, removed or started while a changed program runs."""
    sys.addaudithook(_refuse)


def _refuse(event, args):
    if not getattr(_guard, "on", False):
        return
    reads = event == "open" and isinstance(args[1], str) and not set(args[1]) & set("wax+")
    harmless = event in ("os.listdir", "os.scandir", "os.putenv") or reads or not event.startswith(FORBIDDEN)
    if not harmless and not _is_importing():
        raise Stopped


def _is_importing():
    """Whether a module is being imported: stopped half-way, it would be broken for the rest of the kernel's life."""
    frame = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None
