"""Canonical form: the one way in which a notebook is written to a file."""

import copy
import hashlib
import itertools
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from utils.files import replace_file

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# as a terminal does: what stands before a carriage return is overwritten
OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)


def read(path: Path) -> NotebookNode:
    """Read a notebook as it is stored, without the repairs that `nbformat.read` makes.

    A repeated cell id, for example, stays repeated, so that it can be found.
    """
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))


def text_of(nb: NotebookNode) -> str:
    """Return the text of a notebook's file: JSON with an indent of 1, keys sorted, letters not escaped."""
    text = nbformat.v4.writes(copy.deepcopy(nb), indent=1, ensure_ascii=False, sort_keys=True)
    return text.rstrip("\n") + "\n"


def write(path: Path, nb: NotebookNode) -> bool:
    """Write a notebook if its bytes differ from the file's, in one step; return whether they did."""
    data = text_of(nb).encode("utf-8")
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(exist_ok=True)
    replace_file(path, data)
    return True


def canonical(nb: NotebookNode) -> NotebookNode:
    """Return a copy in canonical form; what was run stays run, what was not stays without a count."""
    cells = [_cell(cell) for cell in nb.cells]
    _number(cells)
    for cell, name in zip(cells, _ids(nb.cells), strict=True):
        cell["id"] = name
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": copy.deepcopy(METADATA), "cells": cells}
    return nbformat.from_dict(whole)


def _cell(cell: NotebookNode) -> dict:
    """Rebuild one cell from the parts that are kept, so that nothing else can come along."""
    tags = cell.metadata.get("tags")
    kept = {
        "cell_type": cell.cell_type,
        "metadata": {"tags": list(tags)} if tags else {},
        "source": "\n".join(line.rstrip() for line in cell.source.rstrip().split("\n")),
    }
    if cell.cell_type == "code":
        kept["execution_count"] = cell.get("execution_count")
        kept["outputs"] = merged(filter(None, map(_output, cell.get("outputs", []))))
    return kept


def _number(cells: list[dict]) -> None:
    """Count the cells that were run from 1, in their order, and their results with them."""
    ran = (cell for cell in cells if cell.get("execution_count") is not None)
    for count, cell in enumerate(ran, start=1):
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count


def _output(output: NotebookNode) -> dict | None:
    """Rebuild one output; None if nothing of it is kept."""
    kind = output.output_type
    if kind == "stream":
        return {"output_type": kind, "name": output.name, "text": output.text} if output.text else None
    if kind == "error":
        summary = f"{output.ename}: {output.evalue}"
        # a traceback holds paths of this machine; nbval does not compare it
        return {"output_type": kind, "ename": output.ename, "evalue": output.evalue, "traceback": [summary]}
    data = {mime: copy.deepcopy(value) for mime, value in output.data.items() if mime != WIDGET_VIEW}
    kept = {"output_type": kind, "data": data, "metadata": {}}
    if kind == "execute_result":
        kept["execution_count"] = output.get("execution_count")
    return kept if data else None


def merged(outputs) -> list[dict]:
    """Join neighbouring outputs of one stream: how the kernel cuts them depends on the machine's speed."""
    result = []
    for name, group in itertools.groupby(outputs, key=_stream):
        pieces = list(group)
        if name:
            text = OVERWRITTEN.sub("", "".join(piece["text"] for piece in pieces))
            pieces = [{"output_type": "stream", "name": name, "text": text}]
        result += pieces
    return result


def _stream(output: dict) -> str | None:
    return output["name"] if output["output_type"] == "stream" else None


def _ids(cells: list[NotebookNode]) -> list[str]:
    """Keep each cell's id; a missing or repeated one is made from the cell's text, so it is stable too."""
    ids = []
    for cell in cells:
        name, attempt = cell.get("id"), 0
        while not name or name in ids:
            name = hashlib.sha256(f"{attempt}{cell.cell_type}{cell.source}".encode()).hexdigest()[:8]
            attempt += 1
        ids.append(name)
    return ids


def keep_stored(new: NotebookNode, stored: NotebookNode, patterns: list[tuple[str, str]]) -> NotebookNode:
    """Return `new` (canonical) with the stored outputs wherever nbval would see no difference.

    So a picture whose pixels moved is not a change, and building twice changes no byte. A cell whose source
    was edited always gets its new outputs.
    """
    before = {cell.id: cell for cell in canonical(stored).cells if cell.cell_type == "code"}
    kept = copy.deepcopy(new)
    for cell in kept.cells:
        old = before.get(cell.id) if cell.cell_type == "code" else None
        if old and old.source == cell.source and _seen(old, patterns) == _seen(cell, patterns):
            cell.outputs = old.outputs
    # the counts of kept results may have moved
    return canonical(kept)


def sanitizer(path: Path) -> list[tuple[str, str]]:
    """Read the pairs (regex, replacement) of nbval's sanitizing file, in the way that nbval does."""
    pairs = r"^regex: (.*)$\n^replace: (.*)$"
    return re.findall(pairs, path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def sanitized(value, patterns: list[tuple[str, str]]):
    """Apply the pairs to each string in a JSON value."""
    if isinstance(value, str):
        for regex, replacement in patterns:
            value = re.sub(regex, replacement, value)
        return value
    if isinstance(value, list):
        return [sanitized(item, patterns) for item in value]
    if isinstance(value, dict):
        return {key: sanitized(item, patterns) for key, item in value.items()}
    return value


def _seen(cell: NotebookNode, patterns: list[tuple[str, str]]) -> list:
    """Return a cell's outputs as far as they are compared: sanitized, without counts."""
    outputs = [{key: value for key, value in o.items() if key != "execution_count"} for o in cell.outputs]
    return sanitized(outputs, patterns)
