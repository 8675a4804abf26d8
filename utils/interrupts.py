"""Ctrl-C, and JupyterLab's Interrupt, that wait until the work at hand is whole."""

import signal
from contextlib import contextmanager


@contextmanager
def held_back():
    """`with held_back() as asked:` an interrupt is only noted, and `asked()` tells; a second one is raised at once.

    Outside of the main thread, which no interrupt reaches, `asked()` stays False.
    """
    noted = []

    def note(signum, frame):
        if noted:
            raise KeyboardInterrupt
        noted.append(signum)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread
        yield lambda: False
        return
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, before)
