"""Rules for the form of a notebook, of a cell and of an output: what canonical form leaves, and what was run."""

import re
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.validator import iter_validate

from utils.notebooks.derive import MarkerError, blocks
from utils.notebooks.form import METADATA, WIDGET_VIEW, merged, text_of
from utils.notebooks.reading import cells, tags, unfenced

ALLOWED_TAGS = {"raises-exception", "exercise", "run-from-here", "solution-only", "optional"}
MAX_BYTES = 2_500_000
TITLE = re.compile(r"^# ", re.MULTILINE)


def valid(nb: NotebookNode) -> Iterator[str]:
    """The format that Jupyter itself checks when it opens a file."""
    if (nb.nbformat, nb.nbformat_minor) != (4, 5):
        yield f"the notebook's format is {nb.nbformat}.{nb.nbformat_minor}, not 4.5"
    for error in iter_validate(nb, version=4, version_minor=5):
        yield f"the notebook does not fit the format's schema: {error.message[:120]}"


def plain_metadata(nb: NotebookNode) -> Iterator[str]:
    """The kernel is called python3 for everyone, and no widget state is stored."""
    if nb.metadata.get("kernelspec") != METADATA["kernelspec"]:
        yield f"the notebook's kernelspec is {dict(nb.metadata.get('kernelspec', {}))}, not python3's"
    if nb.metadata.get("language_info") != METADATA["language_info"]:
        yield "the notebook's language_info is not only the name python"
    if more := sorted(set(nb.metadata) - set(METADATA)):
        yield f"the notebook's metadata holds {', '.join(more)}"


def unique_ids(nb: NotebookNode) -> Iterator[str]:
    """Two cells with one id cannot be told apart."""
    for name, count in Counter(cell.get("id") for cell in nb.cells).items():
        if not name:
            yield f"{count} cells have no id"
        elif count > 1:
            yield f"cell {name}: {count} cells have this id"


def counted(nb: NotebookNode) -> Iterator[str]:
    """nbval passes silently over a cell that was never run."""
    for count, cell in enumerate(cells(nb, "code"), start=1):
        if cell.execution_count is None:
            yield f"cell {cell.get('id')}: it was not run"
        elif cell.execution_count != count:
            yield f"cell {cell.get('id')}: its count is {cell.execution_count}, not {count}: not run in order"


def one_title(nb: NotebookNode) -> Iterator[str]:
    """A notebook has one title, and it stands first."""
    titles = [cell for cell in nb.cells for _ in TITLE.findall(unfenced(cell))]
    first = next((cell for cell in nb.cells if cell.cell_type == "markdown"), None)
    if first is None or first not in titles:
        yield "the notebook's first markdown cell has no title (# …)"
    for cell in titles[1:]:
        yield f"cell {cell.get('id')}: it holds a second title (# …)"


def introduced(nb: NotebookNode) -> Iterator[str]:
    """One idea a cell: a sentence stands before each piece of code."""
    for before, cell in zip(nb.cells, nb.cells[1:], strict=False):
        if cell.cell_type == "code" and before.cell_type != "markdown":
            yield f"cell {cell.get('id')}: no markdown cell stands directly before this code"


def small_file(nb: NotebookNode) -> Iterator[str]:
    """A large file opens slowly."""
    size = len(text_of(nb).encode())
    if size > MAX_BYTES:
        yield f"the notebook has {size / 1e6:.1f} MB, more than {MAX_BYTES / 1e6:.1f} MB"


# --- any cell


def known_type(cell: NotebookNode) -> Iterator[str]:
    """Text or code; a raw cell is shown to nobody."""
    if cell.cell_type not in ("code", "markdown"):
        yield f"it is a {cell.cell_type} cell"


def only_tags(cell: NotebookNode) -> Iterator[str]:
    """Everything else in a cell's metadata is an editor's trace."""
    if more := sorted(set(cell.metadata) - {"tags"}):
        yield f"its metadata holds {', '.join(more)}"
    if cell.metadata.get("tags") == []:
        yield "its list of tags is empty"
    for tag in set(tags(cell)) - ALLOWED_TAGS:
        yield f"it has the tag {tag}, which is not allowed"


def no_attachments(cell: NotebookNode) -> Iterator[str]:
    """A picture is drawn from data, not pasted."""
    if "attachments" in cell:
        yield "it has attachments"


def clean_source(cell: NotebookNode) -> Iterator[str]:
    """White space that nobody sees makes differences that nobody wants."""
    if cell.source.endswith("\n") or any(line != line.rstrip() for line in cell.source.split("\n")):
        yield "its source has white space at the end of a line, or an empty last line"


def markers(cell: NotebookNode) -> Iterator[str]:
    """The solution markers pair up."""
    try:
        blocks(cell)
    except MarkerError as error:
        yield str(error)


# --- a code cell that was run


def told_errors(cell: NotebookNode) -> Iterator[str]:
    """An error stands where it is meant to, and nowhere else."""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    wanted = "raises-exception" in tags(cell)
    if errors and not wanted:
        yield f"it stores the error {errors[0].ename} without the tag raises-exception"
    if wanted and not errors:
        yield "it has the tag raises-exception, but stores no error"


def whole_streams(cell: NotebookNode) -> Iterator[str]:
    """How a stream is cut depends on the machine's speed."""
    outputs = cell.get("outputs", [])
    if len(merged(outputs)) != len(outputs):
        yield "it stores a stream in pieces"


def result_counts(cell: NotebookNode) -> Iterator[str]:
    """A result has the count of its cell."""
    for output in cell.get("outputs", []):
        if output.output_type == "execute_result" and output.execution_count != cell.execution_count:
            yield f"its result has the count {output.execution_count}, not {cell.execution_count}"


# --- the form of an output


def no_widget(output: NotebookNode) -> Iterator[str]:
    """A stored widget is the words 'model not found' to a reader."""
    if WIDGET_VIEW in output.get("data", {}):
        yield "it stores a widget view, which no reader without a kernel can see"


def no_output_metadata(output: NotebookNode) -> Iterator[str]:
    """An output's metadata is a trace of one run."""
    if output.get("metadata") or "transient" in output:
        yield "it stores metadata of an output"


def short_traceback(output: NotebookNode) -> Iterator[str]:
    """A traceback holds paths of this machine."""
    if output.output_type == "error" and output.traceback != [f"{output.ename}: {output.evalue}"]:
        yield "it stores more of a traceback than the error's type and message"
