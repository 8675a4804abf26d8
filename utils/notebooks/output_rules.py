"""Rules for one stored output: each takes the output and yields a sentence for each violation."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from nbformat import NotebookNode

MAX_BYTES = 400_000
PICTURE = re.compile(r"data:image/[\w+.-]+;base64,[A-Za-z0-9+/=\s]+")
# a path begins here, not in the middle of an address, a closing tag or a fraction
PATH = re.compile(r"(?<![\w/<.:-])/(home|Users|tmp|root|work|private|var|usr|opt|mnt)/|\b[A-Z]:\\{1,2}(?!n)\w{2,}")
ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")
KERNEL_FILE = re.compile(r"ipykernel|<ipython-input")


class _Tags(HTMLParser):
    """Collects the start tags of a piece of HTML."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))


def _texts(output: NotebookNode) -> list[str]:
    """Return the texts that an output shows, image data taken away."""
    data = output.get("data", {})
    shown = [value for mime, value in data.items() if mime.startswith("text/") and isinstance(value, str)]
    shown += [output[key] for key in ("text", "evalue") if key in output]
    return [PICTURE.sub("", text) for text in shown]


def _html(output: NotebookNode) -> list[tuple[str, dict]]:
    text = output.get("data", {}).get("text/html", "")
    return _Tags(text).found if isinstance(text, str) else []


def no_address(output: NotebookNode) -> Iterator[str]:
    """An address differs in every run."""
    if any(ADDRESS.search(text) for text in _texts(output)):
        yield "it stores a memory address (at 0x…)"


def no_path(output: NotebookNode) -> Iterator[str]:
    """A path of this machine exists on no other."""
    for match in filter(None, map(PATH.search, _texts(output))):
        yield f"it stores an absolute path ({match[0]}…)"


def no_kernel_file(output: NotebookNode) -> Iterator[str]:
    """A name that the kernel gives to a cell differs in every run."""
    if any(KERNEL_FILE.search(text) for text in _texts(output)):
        yield "it stores a file name of the kernel"


def no_warning(output: NotebookNode) -> Iterator[str]:
    """Nobody is greeted by a warning, and many differ between versions."""
    if output.output_type == "stream" and output.get("name") == "stderr":
        lines = output.text.strip().splitlines()
        yield f"it stores a warning or other text on stderr ({lines[0][:60] if lines else ''})"


def no_bare_picture(output: NotebookNode) -> Iterator[str]:
    """nbval never compares a bare picture, and it has no alt text."""
    for mime in output.get("data", {}):
        if mime.startswith("image/"):
            yield f"it stores a bare {mime}; show(figure, sentence) stores it with its sentence"


def has_text(output: NotebookNode) -> Iterator[str]:
    """nbval compares the text, and a reader without pictures reads it."""
    data = output.get("data", {})
    if data and not data.get("text/plain"):
        yield "it stores a display without text/plain"


def alt_text(output: NotebookNode) -> Iterator[str]:
    """Who cannot see a picture hears its sentence."""
    for tag, attributes in _html(output):
        if tag == "img" and not (attributes.get("alt") or "").strip():
            yield "it stores an <img> without alt text"


def no_script(output: NotebookNode) -> Iterator[str]:
    """JupyterLab takes scripts out of a notebook that it does not trust."""
    scripts = "application/javascript" in output.get("data", {})
    if scripts or any(tag == "script" for tag, _ in _html(output)):
        yield "it stores a script, which an untrusted notebook does not run"


def small(output: NotebookNode) -> Iterator[str]:
    """An output that is too large slows down the browser."""
    size = len(json.dumps(output, ensure_ascii=False).encode())
    if size > MAX_BYTES:
        yield f"it stores an output of {size // 1000} KB, more than {MAX_BYTES // 1000} KB"


RULES = [
    no_address,
    no_path,
    no_kernel_file,
    no_warning,
    no_bare_picture,
    has_text,
    alt_text,
    no_script,
    small,
]
