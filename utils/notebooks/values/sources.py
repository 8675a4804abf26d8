"""Where a value comes from, if it is not computed."""

from collections.abc import Callable


def given(*numbers) -> Callable:
    """What a task or a question chooses freely: nothing to compute."""
    return lambda: numbers


def published(source: str, *numbers) -> Callable:
    """What a source says, and where; `source` is for the reader."""
    return lambda: numbers
