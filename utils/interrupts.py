"""Ctrl-C, and JupyterLab's Interrupt, that wait until the work at hand is whole."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def interrupted():
    """`with interrupted() as asked:` an interrupt is only noted, and `asked()` tells; a second one is raised at once.

    Outside of the main thread, which no interrupt reaches, `asked()` stays False.
    """
    noted = []

    def note(signum, frame):
        if noted:
            raise KeyboardInterrupt
        noted.append(signum)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, before)
