"""One look for every picture, and the one way to show it: with a sentence that says what it shows.

A plot function takes data and returns a Figure. It never touches pyplot, so no figure stays behind, and it is drawn
under the course's settings alone, whatever a matplotlibrc or the student has set.
"""

import base64
import functools
import html
import io

import matplotlib
from IPython.display import display
from matplotlib import font_manager
from matplotlib.figure import Figure

# Okabe and Ito's palette: its colours stay apart for colour-blind readers
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
DIVERGING = "PuOr"  # negative to positive, safe for colour-blind readers

PIXELS_PER_INCH = 90  # as a picture is shown, before it is fitted to a narrow window

FONT = "DejaVu Sans"
MONOSPACED = ["monospace", FONT]  # the second writes what the first has not
STYLE = {
    **{name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"},
    "axes.edgecolor": "#444444",
    "axes.grid": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 13,
    "font.family": FONT,
    "font.size": 12,
    "svg.fonttype": "none",  # letters stay letters: half the time and a third of the size of drawn outlines
    "svg.hashsalt": "gpt-course",  # the same ids in every run
}


def in_style(function):
    """Decorator: run a function under the course's style, and leave matplotlib's settings as they were."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with matplotlib.rc_context(STYLE):
            return function(*args, **kwargs)

    return wrapper


def styled(plot):
    """Decorator of plot functions: `in_style`, and every text that one is given as the font can write it."""
    plot = in_style(plot)

    @functools.wraps(plot)
    def wrapper(*args, **kwargs):
        return plot(*map(_writable, args), **_writable(kwargs))

    return wrapper


class CourseFigure(Figure):
    """A figure that keeps the course's style whenever it is drawn: some of its parts are made only then."""

    draw = in_style(Figure.draw)
    savefig = in_style(Figure.savefig)
    get_tightbbox = in_style(Figure.get_tightbbox)


def new_figure(width=8.0, height=3.4) -> Figure:
    """An empty figure, sizes in inches; pyplot does not know it."""
    return CourseFigure(figsize=(width, height))


def label(text) -> str:
    """A token as a tick label: matplotlib reads `$` as mathematics, and white space would not be seen."""
    shown = "".join(letter if letter.isprintable() else escaped(letter) for letter in writable(str(text)))
    return shown.replace(" ", "\N{OPEN BOX}").replace("$", r"\$")


@functools.lru_cache(maxsize=100_000)
def writable(text) -> str:
    r"""A text with what the font cannot write escaped, as \u4e2d; line breaks stay."""
    return "".join(letter if letter in _letters() else escaped(letter) for letter in text)


def escaped(letter) -> str:
    """A letter as Python writes it in ASCII."""
    return letter.encode("unicode_escape").decode("ascii")


@functools.cache
def _letters():
    """The letters that the font has, upright and bold, and the line break."""
    fonts = [font_manager.FontProperties(family=FONT, weight=weight) for weight in ("normal", "bold")]
    files = map(font_manager.findfont, fonts)
    return {"\n", *map(chr, set.intersection(*(set(font_manager.get_font(file).get_charmap()) for file in files)))}


def _writable(value):
    """The same lists, tuples and dicts, with every str in them writable."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else writable(value)
    if type(value) in (list, tuple):
        return type(value)(map(_writable, value))
    if type(value) is dict:
        return {_writable(name): _writable(entry) for name, entry in value.items()}
    return value


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
