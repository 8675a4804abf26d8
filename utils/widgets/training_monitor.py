"""Lesson 05's panel: the loss while a model trains. A busy kernel hears no button, so it has none to stop with."""

import time

import ipywidgets

from utils.plots.training import losses
from utils.training import History
from utils.widgets.panel import LONG, WIDE, Panel

REDRAW_EVERY = 0.5  # seconds: a picture takes a twentieth of one


class TrainingMonitor(Panel):
    """Show it, then train with `watch=monitor.update`. To stop a run, use JupyterLab's Interrupt.

    floor: the lowest loss there can be, drawn as a line, or None. Control: smoothing, the steps that are averaged.
    """

    def __init__(self, floor=None):
        self._floor, self._history, self._drawn_at = floor, History(), 0.0
        self.smoothing = ipywidgets.IntSlider(1, 1, 50, description="smoothing", style=WIDE, layout=LONG)
        super().__init__([self.smoothing])

    def update(self, history):
        """Take in a History; redraw if the last picture is half a second old."""
        self._history = history
        if time.monotonic() - self._drawn_at > REDRAW_EVERY:
            self._redraw(None)
            self._drawn_at = time.monotonic()

    def finish(self, history):
        """Draw the last state of a run, whenever the last picture was."""
        self._history = history
        self._redraw(None)

    def picture(self):
        """-> (Figure, sentence) for the History so far."""
        history = self._history
        if not history.train_loss:
            return losses(history, self._floor), "Training has not begun: the loss will be drawn here."
        last = history.train_loss[-1]
        valid = f", held out {history.valid_loss[-1]:.2f}" if history.valid_loss else ""
        return (
            losses(history, self._floor, self.smoothing.value),
            f"Step {len(history.train_loss)}: training loss {last:.2f}{valid}.",
        )
