"""One look for every picture, and the one way to show it: with a sentence that says what it shows.

A plot function takes data and returns a Figure. It never touches pyplot, so no figure stays behind.
"""

import base64
import functools
import html
import io

import matplotlib
from IPython.display import display
from matplotlib.figure import Figure

# Okabe and Ito's palette: its colours stay apart for colour-blind readers
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
DIVERGING = "PuOr"  # negative to positive, safe for colour-blind readers

PIXELS_PER_INCH = 90  # as a picture is shown, before it is fitted to a narrow window

STYLE = {
    "axes.edgecolor": "#444444",
    "axes.grid": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 13,
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "svg.fonttype": "none",  # letters stay letters: half the time and a third of the size of drawn outlines
    "svg.hashsalt": "gpt-course",  # the same ids in every run
}


def styled(plot):
    """Decorator: run a plot function under the course's style, and leave matplotlib's settings as they were."""

    @functools.wraps(plot)
    def wrapper(*args, **kwargs):
        with matplotlib.rc_context(STYLE):
            return plot(*args, **kwargs)

    return wrapper


def new_figure(width=8.0, height=3.4) -> Figure:
    """An empty figure, sizes in inches; pyplot does not know it."""
    return Figure(figsize=(width, height))


def label(text) -> str:
    """A token as a tick label: matplotlib reads `$` as mathematics, and white space would not be seen."""
    shown = {"\n": "\\n", "\t": "\\t", "\r": "\\r", " ": "\N{OPEN BOX}"}
    return "".join(shown.get(letter, letter) for letter in str(text)).replace("$", r"\$")


def figure_html(fig, sentence, kind="png") -> str:
    """The picture, with its sentence as alt text and as caption.

    kind: "png" for what a notebook stores; "svg" for a panel: faster to draw, the same bytes in every run.
    """
    text = html.escape(sentence)
    width, height = (round(PIXELS_PER_INCH * inches) for inches in fig.get_size_inches())
    # the size is given, so that nothing jumps while the next picture is decoded
    size = f'width="{width}" height="{height}" style="max-width:100%;height:auto"'
    picture = f'<img alt="{text}" src="{_uri(fig, kind)}" {size}>'
    return f'<figure style="margin:0">{picture}<figcaption>{text}</figcaption></figure>'


def _uri(fig, kind):
    mime, metadata = {"png": ("image/png", {"Software": None}), "svg": ("image/svg+xml", {"Date": None})}[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        fig.savefig(buffer, format=kind, metadata=metadata, dpi=130)
    return f"data:{mime};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def show(fig, sentence) -> None:
    """Show a figure with the sentence that says what it shows, its key numbers included.

    The sentence is the alt text, the caption, and the part that the tests compare.
    Raises ValueError for an empty sentence.
    """
    if not sentence.strip():
        raise ValueError("show was given an empty sentence; say in one sentence what the picture shows.")
    display({"text/html": figure_html(fig, sentence), "text/plain": sentence}, raw=True)
