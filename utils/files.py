"""One way to write a file: whole or not at all. Standard library only."""

import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

WEB_PAGE = "a web page and not the file that it is about; download the file itself"
# how a file begins that lies in another's place, and what to say about it
STAND_INS = {
    b"version https://git-lfs": "a Git LFS pointer, which only stands for the file; run `git lfs pull` in its folder",
    b"<!doctype html": WEB_PAGE,
    b"<html": WEB_PAGE,
}
ESCAPES = dict(zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True))
UNFINISHED = ".part"  # how the name of a file ends while it is written


def replace_file(path, write: Callable[[Path], object] | bytes | str) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of one.

    write: what the file is to hold (a str as UTF-8), or a function that writes all of it to the path that it is given.
    An error or an interrupt leaves the old file and nothing else. A link stays one: the file that it leads to is
    written. Raises OSError, for a folder or a device too.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no file, so nothing is written in its place; give the name of a file.")
    with written_beside(path, write) as temporary:
        os.replace(temporary, path)


def new_file(path: Path, data: bytes) -> bool:
    """Write a file whole; False, and nothing done, where one of that name exists. Raises OSError."""
    if os.path.lexists(path):
        return False
    with written_beside(path, data) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:  # a disk without links
            return _reserve_and_replace(temporary, path)
    return True


def _reserve_and_replace(temporary, path):
    """Do what a link does: our own empty file takes the name, then the full one takes its place."""
    try:
        path.open("xb").close()
    except FileExistsError:
        return False
    os.replace(temporary, path)
    return True


@contextmanager
def written_beside(path: Path, write: Callable[[Path], object] | bytes | str) -> Iterator[Path]:
    """Write what will become `path` under another name in the same folder; what is left under it is removed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        if callable(write):
            write(temporary)
        else:
            temporary.write_bytes(write.encode() if isinstance(write, str) else write)
        temporary.chmod(0o666 & ~_umask())  # safetensors keeps its files from everyone else
        with temporary.open("rb+") as file:  # on the disk before it has its name, also where the power fails
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _umask():
    mask = os.umask(0)  # it cannot be read without being set
    os.umask(mask)
    return mask


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed process left in a folder: unfinished files, and the empty ones that they were to fill."""
    for temporary in folder.glob(f".*.*{UNFINISHED}"):
        target = temporary.with_name(temporary.name[1:].rsplit(".", 2)[0])
        if target.is_file() and target.stat().st_size == 0:
            target.unlink()
        temporary.unlink()


def at_home(path) -> Path:
    """The path, with `~` for the home folder, as a shell has it: Python would make a folder of that name."""
    return Path(path).expanduser()


def not_there(path, what="file", otherwise="check the path") -> FileNotFoundError:
    """The error for a path at which there is nothing, with what to do.

    Of "C:\\models\\new", typed without r, Python made a line break; the sentence shows the path as it was typed.
    """
    typed = "".join(map(_as_typed, str(path)))
    if typed != str(path):
        otherwise = f'Python reads \\ and what follows it as one character, so write r"{typed}"'
    return FileNotFoundError(f"There is no {what} {typed}; {otherwise}.")


def _as_typed(letter):
    """A control character as the backslash and what follows it; those without a letter have octal digits."""
    if unicodedata.category(letter) != "Cc":
        return letter
    return "\\" + ESCAPES.get(letter, f"{ord(letter):o}")


def stand_in(path) -> ValueError | None:
    """The error for a file that holds Git LFS's note or a web page in place of its content; None for any other."""
    with open(path, "rb") as file:
        start = file.read(100).lstrip().lower()
    for begin, what in STAND_INS.items():
        if start.startswith(begin):
            return ValueError(f"{path} is {what}.")
    return None
