"""What every panel shares: controls, one picture, one sentence, and the static form that a notebook stores."""

import html

import ipywidgets
from IPython import get_ipython

from utils.plots.style import PIXELS_PER_INCH, figure_html

WIDE = {"description_width": "9em"}
LONG = {"width": "34em"}  # a slider's length
START_ALONE = "the start mark alone"  # what an empty prompt is
RUN_IT = "<p><small>Run this cell to move the controls.</small></p>"
REPR_LENGTH = 110  # ipywidgets cuts a longer repr


def prompt(value):
    """A line for a story's words; they are not judged while they are being typed."""
    layout, empty = {"width": "52em"}, f"empty: {START_ALONE}"
    return ipywidgets.Text(
        value, description="prompt", placeholder=empty, continuous_update=False, style=WIDE, layout=layout
    )


def size_slider(sizes, value, text):
    """A slider over these whole numbers."""
    options = [(f"{size:,}", size) for size in sizes]
    return ipywidgets.SelectionSlider(options=options, value=value, description=text, style=WIDE, layout=LONG)


class Panel(ipywidgets.VBox):
    """Controls above a picture with its sentence. A subclass gives `controls` and `picture`.

    Whatever a control is set to, `sentence` says what the picture shows. An error while drawing is shown in words
    where the picture would be, in as much space, and kept in `error`; it is gone with the next good picture.
    """

    def __init__(self, controls):
        self._picture = ipywidgets.HTML()
        self.sentence, self.error = "", ""
        super().__init__([*controls, self._picture])
        close_predecessors(self)
        self._draw()
        for control in controls:
            control.observe(self._redraw, names="value")

    def picture(self):
        """-> (Figure, sentence) for the controls' present values. A subclass gives this."""
        raise NotImplementedError

    def _draw(self):
        self._figure, self.sentence = self.picture()
        self.error = ""
        self._picture.value = figure_html(self._figure, self.sentence, kind="svg")

    def _redraw(self, change):
        # while this runs, the browser keeps back all but the newest of a dragged slider's values
        try:
            self._draw()
        except Exception as fault:  # an observer's error would go to a log that no student reads
            self.error = f"{type(fault).__name__}: {fault}"
            refused = isinstance(fault, (ValueError, TypeError))  # bad input, and its sentence is for students
            self.sentence = str(fault) if refused else f"This picture could not be drawn. {self.error}"
            self._picture.value = self._alert()

    def _alert(self):
        # as high as picture and caption (2.9em in JupyterLab), so that nothing below jumps
        height = round(PIXELS_PER_INCH * self._figure.get_size_inches()[1])
        return f'<div role="alert" style="min-height:calc({height}px + 2.9em)">{html.escape(self.sentence)}</div>'

    def close(self):
        """Close the panel and everything in it."""
        close_all(self)

    def __repr__(self):
        return self.sentence if len(self.sentence) <= REPR_LENGTH else self.sentence[: REPR_LENGTH - 1] + "…"

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        paper = self._alert() if self.error else figure_html(self._figure, self.sentence) + RUN_IT
        return {**bundle, "text/plain": repr(self), "text/html": paper}


_made: dict[str, tuple[str, list]] = {}  # cell -> the run that made them, and its panels


def close_predecessors(panel):
    """Running a cell again leaves its newest panels alone: those of its last run are closed."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    run = parent.get("header", {}).get("msg_id")
    cell = parent.get("metadata", {}).get("cellId") or parent.get("content", {}).get("code")
    if run is None or cell is None:
        return  # not in a notebook
    last_run, panels = _made.get(cell, (run, []))
    if last_run != run:
        for old in panels:
            old.close()
        panels = []
    _made[cell] = (run, [*panels, panel])


def close_all(widget):
    """Close a widget, all inside it, and the layout and style that each has of its own."""
    for part in (*getattr(widget, "children", ()), getattr(widget, "layout", None), getattr(widget, "style", None)):
        if isinstance(part, ipywidgets.Widget):
            close_all(part)
    ipywidgets.Widget.close(widget)
