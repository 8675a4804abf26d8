"""Plain text as HTML."""

import html
import re


def as_html(text: str) -> str:
    """The text escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
