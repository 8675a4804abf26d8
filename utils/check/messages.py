"""A plain sentence as a cell's result, readable in a terminal and in a notebook."""

from dataclasses import dataclass

from utils.markup import as_html


def boxed(text, colour):
    """HTML: the text as it is, with a bar of the given colour at its side."""
    style = f"border-left:6px solid {colour};padding:.4em .8em;white-space:pre-wrap"
    return f'<div role="status" style="{style}">{as_html(text)}</div>'


@dataclass(frozen=True)
class Message:
    """Text that a notebook shows in a box and everything else as it is."""

    text: str

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return boxed(self.text, "#0072B2")
