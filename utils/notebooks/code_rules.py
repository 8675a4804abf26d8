"""Rules for the source of one code cell: each takes the cell and yields a sentence for each violation."""

import ast
import re
import tokenize
import warnings
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from pathlib import Path

from nbformat import NotebookNode

from utils.notebooks.reading import tags

UTILS = Path(__file__).parents[1]
MAX_LINES = 25
MAX_WIDTH = 98  # what a laptop shows without scrolling
MAGIC = re.compile(r"^\s*(%|!|\?)|^\s*[\w.]+\?+\s*$|=\s*[%!]\w", re.MULTILINE)
HISTORY = re.compile(r"_\d+|_{1,3}|_i+\d*|_ih|_oh|_dh|In|Out")
DEVICE = re.compile(r"(cuda|mps)(:\d+)?")
NBVAL_COMMENT = re.compile(r"^\s*#+\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE)
# names that a lesson does not use, and why
FORBIDDEN = {
    "interact": "it fails strict nbval; use a panel of utils.widgets",
    "interactive": "it fails strict nbval; use a panel of utils.widgets",
    "interactive_output": "it fails strict nbval; use a panel of utils.widgets",
    "interact_manual": "it fails strict nbval; use a panel of utils.widgets",
    "Output": "an Output widget hides errors and fails strict nbval",
    "clear_output": "it fails strict nbval",
    "display_id": "an updated output fails strict nbval",
    "update_display": "an updated output fails strict nbval",
    "sleep": "no cell waits",
    "num_workers": "worker processes start badly from a notebook",
    "cuda": "every lesson runs on the CPU",
    "mps": "every lesson runs on the CPU",
    "get_ipython": "magics and shell escapes are not plain Python",
    "exit": "it ends the kernel",
    "quit": "it ends the kernel",
    "_exit": "it ends the kernel",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MODE = re.compile(r"[rwxabt+]+")
ENCODING_AT = {"open": 3, "fdopen": 3, "read_text": 0, "write_text": 1}  # its place among the arguments


@lru_cache(maxsize=4096)
def parse(source: str) -> ast.Module:
    """Parse a cell as Jupyter runs it (`await` may stand at the top). Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(source, "<cell>", "exec", flags=flags)


def tree(cell: NotebookNode) -> ast.Module:
    """Parse a cell; what does not parse is as good as empty, since `parses` has told about it."""
    try:
        return parse(cell.source)
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def parses(cell: NotebookNode) -> Iterator[str]:
    """Plain Python only: no magics, no shell escapes, no `?`."""
    try:
        parse(cell.source)
    except (SyntaxError, ValueError) as error:
        magic = MAGIC.search(cell.source)
        if magic:
            yield "it holds a magic, a shell escape or a help line"
        yield f"it does not parse as Python ({error})"


def not_empty(cell: NotebookNode) -> Iterator[str]:
    """An empty cell is a slip of the editor."""
    if not cell.source.strip():
        yield "it is empty"


def short(cell: NotebookNode) -> Iterator[str]:
    """One idea a cell."""
    lines = len(cell.source.splitlines())
    if lines > MAX_LINES:
        yield f"it has {lines} lines, more than {MAX_LINES}"


def narrow(cell: NotebookNode) -> Iterator[str]:
    """Nobody scrolls sideways to read code."""
    widest = max(map(len, cell.source.splitlines()), default=0)
    if widest > MAX_WIDTH:
        yield f"it has a line of {widest} characters, more than {MAX_WIDTH}"


def shows_its_value(cell: NotebookNode) -> Iterator[str]:
    """A `;` at the end hides the value, from the reader and from nbval."""
    try:
        tokens = list(tokenize.generate_tokens(StringIO(cell.source).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    # without comments, line ends and dedents
    visible = [token.string for token in tokens if token.type != tokenize.COMMENT and token.string.strip()]
    if visible and visible[-1] == ";":
        yield "its last line ends in ;"


def words(node: ast.AST) -> Iterator[str]:
    """Yield each identifier that a piece of code uses: names, attributes, keywords, imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.keyword) and part.arg:
            yield part.arg
        elif isinstance(part, ast.alias):
            yield from part.name.split(".")


def forbidden_names(cell: NotebookNode) -> Iterator[str]:
    """What fails strict nbval, ends the kernel, or needs another machine."""
    used = set(words(tree(cell)))
    yield from (f"it uses {name}: {why}" for name, why in FORBIDDEN.items() if name in used)


def history(cell: NotebookNode) -> Iterator[str]:
    """`Out[3]` and `_3` depend on the order in which cells were run."""
    names = [node for node in ast.walk(tree(cell)) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for name in sorted({node.id for node in names} - own):
        if HISTORY.fullmatch(name):
            yield f"it uses {name}: a reference to the history of runs"


def device(cell: NotebookNode) -> Iterator[str]:
    """Every lesson runs on the CPU, so that it runs everywhere."""
    texts = (node.value for node in ast.walk(tree(cell)) if isinstance(node, ast.Constant))
    if any(isinstance(text, str) and DEVICE.fullmatch(text) for text in texts):
        yield "it chooses a device other than the CPU"


def compared(cell: NotebookNode) -> Iterator[str]:
    """A comment can take a cell out of nbval's comparison just as a tag can."""
    for comment in NBVAL_COMMENT.findall(cell.source):
        yield f"the comment {comment} switches the comparison of its output"


def encoded(cell: NotebookNode) -> Iterator[str]:
    """Text is read and written in one encoding on every machine."""
    for line in without_encoding(tree(cell)):
        yield f"line {line} reads or writes text without encoding=, which differs between machines"


def without_encoding(code: ast.AST) -> Iterator[int]:
    """The lines of calls that read or write text in whatever encoding the machine prefers."""
    for call in [node for node in ast.walk(code) if isinstance(node, ast.Call)]:
        method = isinstance(call.func, ast.Attribute)
        name = call.func.attr if method else getattr(call.func, "id", "")
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        as_text = any(getattr(named.get(word), "value", False) is True for word in ("text", "universal_newlines"))
        if "encoding" not in named and (as_text or _opens_text(name, method, call.args, named)):
            yield call.lineno


def _opens_text(name, method, arguments, named):
    """Whether a call without `encoding=` opens, reads or writes a text file: `open(f)`, `path.open("w")`, …"""
    if name not in ENCODING_AT:
        return False
    before = 1 if method and name == "open" else 0  # the file is no argument of path.open
    if len(arguments) > ENCODING_AT[name] - before:
        return False
    mode = [named["mode"]] if "mode" in named else arguments[1 - before : 2 - before] * ("open" in name)
    mode = getattr(mode[0], "value", None) if mode else "r"
    other = before and not (isinstance(mode, str) and MODE.fullmatch(mode))  # as in webbrowser.open(address)
    return not other and "b" not in str(mode)


def definitions(node: ast.Module) -> list[str]:
    """Return the names of the functions and classes that a module or cell defines at its top level."""
    return [part.name for part in node.body if isinstance(part, (*FUNCTIONS, ast.ClassDef))]


@lru_cache(maxsize=1)
def library() -> dict[str, str]:
    """Map each public function or class of utils/ to its file; its tools and its exercises are left out."""
    names = {}
    for path in sorted(UTILS.rglob("*.py")):
        where = path.relative_to(UTILS)
        if where.parts[0] not in ("__main__.py", "notebooks") and not where.match("check/lesson_*/*"):
            found = definitions(ast.parse(path.read_text(encoding="utf-8")))
            names |= {name: where.as_posix() for name in found if not name.startswith("_")}
    return names


def not_in_library(cell: NotebookNode) -> Iterator[str]:
    """A lesson imports what utils/ has; exercises and artefacts shown whole are exempt."""
    if "exercise" in tags(cell):
        return
    for name in definitions(tree(cell)):
        if name in library() and not name.startswith(("Plain", "plain_")):
            yield f"it defines {name}, which utils/{library()[name]} has"


RULES = [
    parses,
    not_empty,
    short,
    narrow,
    shows_its_value,
    forbidden_names,
    history,
    device,
    compared,
    not_in_library,
    encoded,
]
