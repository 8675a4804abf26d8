"""The rules for a stored notebook, and `problems`, which applies them all.

A rule is a small function: it takes a notebook, a cell or an output, and yields a sentence for each
violation. Here are those for a whole notebook and for any cell; `code_rules` and `output_rules` have more.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.validator import iter_validate

from utils.notebooks import code_rules, output_rules
from utils.notebooks.code_rules import FUNCTIONS, definitions, tags, tree
from utils.notebooks.derive import MarkerError, blocks
from utils.notebooks.form import METADATA, WIDGET_VIEW, canonical, merged, text_of

ALLOWED_TAGS = {"raises-exception", "exercise", "run-from-here", "solution-only", "optional"}
MAX_BYTES = 2_500_000
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^# ", re.MULTILINE)
EXERCISE = re.compile(r"^### Exercise (\d+\.\d+) \(★+, \d+ min\)$", re.MULTILINE)


def problems(nb: NotebookNode) -> list[str]:
    """Say everything that is wrong with a stored notebook, one sentence each; a good one gives []."""
    found = [sentence for rule in NOTEBOOK_RULES for sentence in rule(nb)]
    for cell in nb.cells:
        found += [f"cell {cell.get('id')}: {sentence}" for sentence in _cell_problems(cell)]
    # the rules name what is wrong; this makes sure that no part of the form was forgotten
    if not found and text_of(nb) != text_of(canonical(nb)):
        return ["the notebook is not in canonical form"]
    return found


def _cell_problems(cell: NotebookNode) -> Iterator[str]:
    for rule in CELL_RULES:
        yield from rule(cell)
    if cell.cell_type != "code":
        return
    try:
        blocks(cell)
    except MarkerError:
        # `markers` has told, and the rules about answers cannot be asked
        return
    for rule in (*RUN_RULES, *code_rules.RULES):
        yield from rule(cell)
    for output in cell.get("outputs", []):
        for rule in (*FORM_RULES, *output_rules.RULES):
            yield from rule(output)


def code_cells(nb: NotebookNode) -> list[NotebookNode]:
    """Return a notebook's code cells, in their order."""
    return [cell for cell in nb.cells if cell.cell_type == "code"]


# --- a whole notebook


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
    for count, cell in enumerate(code_cells(nb), start=1):
        if cell.execution_count is None:
            yield f"cell {cell.get('id')}: it was not run"
        elif cell.execution_count != count:
            yield f"cell {cell.get('id')}: its count is {cell.execution_count}, not {count}: not run in order"


def one_title(nb: NotebookNode) -> Iterator[str]:
    """A notebook has one title, and it stands first."""
    titles = [cell for cell in nb.cells for _ in TITLE.findall(_prose(cell))]
    first = next((cell for cell in nb.cells if cell.cell_type == "markdown"), None)
    if first is None or first not in titles:
        yield "the notebook's first markdown cell has no title (# …)"
    for cell in titles[1:]:
        yield f"cell {cell.get('id')}: it holds a second title (# …)"


def _prose(cell: NotebookNode) -> str:
    """Return a markdown cell's text without its code fences; nothing for other cells."""
    return FENCED.sub("", cell.source) if cell.cell_type == "markdown" else ""


def introduced(nb: NotebookNode) -> Iterator[str]:
    """One idea a cell: a sentence stands before each piece of code."""
    for before, cell in zip(nb.cells, nb.cells[1:], strict=False):
        if cell.cell_type == "code" and before.cell_type != "markdown":
            yield f"cell {cell.get('id')}: no markdown cell stands directly before this code"


def exercise_headings(nb: NotebookNode) -> Iterator[str]:
    """A student finds an exercise by its heading, with stars and minutes."""
    announced: set[str] = set()
    for cell in nb.cells:
        announced |= set(EXERCISE.findall(_prose(cell)))
        if cell.cell_type == "code" and "exercise" in tags(cell):
            for number in dict.fromkeys(code_rules.checks(cell)):
                if number not in announced:
                    yield f"cell {cell.get('id')}: no heading ### Exercise {number} (★…, K min) stands above"


def unique_answers(nb: NotebookNode) -> Iterator[str]:
    """What an exercise defines, no other cell may rebind, or its check judges something else."""
    bound = {id(cell): _bound(tree(cell)) for cell in code_cells(nb)}
    for cell in code_cells(nb):
        for name in definitions(tree(cell)) if "exercise" in tags(cell) else []:
            others = [other for other in code_cells(nb) if other is not cell and name in bound[id(other)]]
            if others or definitions(tree(cell)).count(name) > 1:
                where = f"cell {others[0].get('id')}" if others else "the same cell"
                yield f"cell {cell.get('id')}: {name} is an exercise's name, and {where} uses it again"


def _bound(node: ast.Module) -> set[str]:
    """Return the names that a cell binds at its top level."""
    names = set(definitions(node))
    for part in node.body:
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            continue
        for piece in ast.walk(part):
            if isinstance(piece, ast.Name) and isinstance(piece.ctx, ast.Store):
                names.add(piece.id)
            elif isinstance(piece, ast.alias):
                names.add((piece.asname or piece.name).split(".")[0])
    return names


def small_file(nb: NotebookNode) -> Iterator[str]:
    """A large file opens slowly."""
    size = len(text_of(nb).encode())
    if size > MAX_BYTES:
        yield f"the notebook has {size / 1e6:.1f} MB, more than {MAX_BYTES / 1e6:.1f} MB"


def different_starts(notebooks: dict[str, NotebookNode]) -> list[str]:
    """Find the notebooks whose first code cell is not that of lesson 00, the first by file name.

    `notebooks` maps paths, such as solutions/00_start_here.ipynb, to what they hold.
    """
    starts = {name: code_cells(nb)[0].source if code_cells(nb) else "" for name, nb in notebooks.items()}
    if not starts:
        return []
    first = min(starts, key=lambda name: name.rpartition("/")[2])
    differs = (name for name, source in starts.items() if source != starts[first])
    return [f"{name}: its first code cell differs from that of {first}" for name in differs]


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


NOTEBOOK_RULES = [
    valid,
    plain_metadata,
    unique_ids,
    counted,
    one_title,
    introduced,
    exercise_headings,
    unique_answers,
    small_file,
]
CELL_RULES = [known_type, only_tags, no_attachments, clean_source, markers]
RUN_RULES = [told_errors, whole_streams, result_counts]
FORM_RULES = [no_widget, no_output_metadata, short_traceback]
