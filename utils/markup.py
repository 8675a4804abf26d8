"""Plain text and source code as HTML."""

import html
import inspect
import re

from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


def as_html(text: str) -> str:
    """The text escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


def show_source(thing) -> None:
    """Show the source of a function, a method or a class of the course, as it stands in its file.

    Raises TypeError for what has no Python source, such as a number or a function of torch written in C.
    """
    source = inspect.getsource(thing).rstrip()
    # every style is written into its tag, so that a notebook shows the colours before anything is run
    page = highlight(source, PythonLexer(), HtmlFormatter(noclasses=True, style="tango"))
    display({"text/html": page, "text/plain": source}, raw=True)
