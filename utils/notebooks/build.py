"""The command `python -m utils build`: run, derive, store; or `--check` what is stored."""

import argparse
import json
from pathlib import Path

from nbformat import NotebookNode

from utils.environment import ROOT
from utils.notebooks.derive import MarkerError, derive, drift, leaks, unrun
from utils.notebooks.form import canonical, keep_stored, read, sanitizer, text_of, write
from utils.notebooks.rules import different_starts, problems
from utils.notebooks.run import RunError, run
from utils.notebooks.timing import late

EDITIONS = ("solutions", "lessons")


class UnreadableError(ValueError):
    """A file is not a notebook."""


def main(argv: list[str], root: Path = ROOT) -> int:
    """Build or check the named notebooks (all without a name); return 0 if everything is in order.

    A name may be `01`, `01_name`, or a path to either edition. `root` is the project's folder.
    """
    options = _arguments(argv)
    names, unknown = _chosen(root, options.names)
    if unknown:
        return _report([f"no notebook is called {name}" for name in unknown], "")
    found, sound = [], []
    for name in names:
        try:
            found += [] if options.check else _build(root, name, options.timeout, options.fresh)
            sound.append(name)
        except (UnreadableError, MarkerError, RunError) as error:
            found.append(f"{error}; nothing was written")
    found += check(root, sound)
    return _report(found, f"in order: {len(names)} notebook{'s' * (len(names) != 1)}")


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m utils build", description="Run, derive, store.")
    parser.add_argument("names", nargs="*", metavar="name", help="a notebook, such as 01; all without it")
    parser.add_argument("--check", action="store_true", help="judge what is stored, run nothing")
    parser.add_argument("--fresh", action="store_true", help="take new pictures even if no number changed")
    parser.add_argument("--timeout", type=int, default=120, metavar="S", help="seconds for a cell (120)")
    return parser.parse_args(argv)


def _report(found: list[str], good: str) -> int:
    print("\n".join(found) if found else good)
    return 1 if found else 0


def _stems(root: Path) -> list[str]:
    """Return the names of all notebooks in either folder, without their ending."""
    return sorted({path.stem for edition in EDITIONS for path in (root / edition).glob("*.ipynb")})


def _chosen(root: Path, names: list[str]) -> tuple[list[str], list[str]]:
    """Return the notebooks that were named, and the names that fit none."""
    stems, wanted = _stems(root), [Path(name).name.removesuffix(".ipynb") for name in names]
    fits = {name: [stem for stem in stems if stem == name or stem.split("_")[0] == name] for name in wanted}
    chosen = {stem for found in fits.values() for stem in found}
    return sorted(chosen) if names else stems, [name for name, found in fits.items() if not found]


def _load(root: Path, edition: str, name: str) -> NotebookNode | None:
    """Read one edition of a notebook; None if there is no such file. Raises UnreadableError."""
    path = root / edition / f"{name}.ipynb"
    if not path.exists():
        return None
    try:
        nb = read(path)
        # touches what every function here relies on
        _ = [(cell.cell_type, cell.source, cell.metadata) for cell in nb.cells]
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError, KeyError) as error:
        raise UnreadableError(f"{edition}/{name}.ipynb: not a notebook ({error})") from None
    return nb


def _build(root: Path, name: str, timeout: int, fresh: bool) -> list[str]:
    """Run and store both editions of one notebook; say what took too long.

    Nothing is written before both have run. `fresh` also replaces outputs that nbval sees no difference in.
    Raises UnreadableError, MarkerError or RunError.
    """
    source = _load(root, "solutions", name)
    if source is None:
        raise UnreadableError(f"lessons/{name}.ipynb: there is no solutions/{name}.ipynb to derive it from")
    notebooks = {"solutions": canonical(source), "lessons": _derived(name, source)}
    built = {edition: _built(root, edition, name, nb, timeout, fresh) for edition, nb in notebooks.items()}
    for edition, (nb, _) in built.items():
        if write(root / edition / f"{name}.ipynb", nb):
            print(f"{edition}/{name}.ipynb: written")
    return [sentence for _, slow in built.values() for sentence in slow]


def _derived(name: str, source: NotebookNode) -> NotebookNode:
    try:
        return derive(source)
    except MarkerError as error:
        raise MarkerError(f"solutions/{name}.ipynb, {error}") from None


def _built(
    root: Path, edition: str, name: str, nb: NotebookNode, timeout: int, fresh: bool
) -> tuple[NotebookNode, list[str]]:
    """Run one edition; return what is to be stored, and what took too long."""
    folder, file = root / edition, f"{edition}/{name}.ipynb"
    folder.mkdir(exist_ok=True)
    new, seconds = run(unrun(nb), folder, file, timeout)
    slow = [f"{file}: {sentence}" for sentence in late(name, new, seconds)]
    try:
        stored = _load(root, edition, name)
    except UnreadableError:
        stored = None
    if stored is None or fresh:
        return new, slow
    return keep_stored(new, stored, sanitizer(root / "tests" / "nbval_sanitize.cfg")), slow


def check(root: Path = ROOT, names: list[str] | None = None) -> list[str]:
    """Say everything that is wrong with the stored notebooks, without running anything.

    Form and rules of both editions, drift between them, leaks of answers, and the common first cell.
    """
    found, notebooks = [], {}
    for name in _stems(root):
        for edition in EDITIONS:
            try:
                notebooks[edition, name] = _load(root, edition, name)
            except UnreadableError as error:
                found.append(str(error))
    for name in _stems(root) if names is None else names:
        found += _check_pair(root, name, notebooks.get(("solutions", name)), notebooks.get(("lessons", name)))
    readable = {f"{edition}/{name}.ipynb": nb for (edition, name), nb in notebooks.items() if nb}
    return found + different_starts(readable)


def _check_pair(root: Path, name: str, solution: NotebookNode | None, lesson: NotebookNode | None) -> list[str]:
    """Check one notebook in both editions, each by itself and the lesson against the solution."""
    found = []
    for edition, nb in zip(EDITIONS, (solution, lesson), strict=True):
        path = root / edition / f"{name}.ipynb"
        if not path.exists():
            found.append(f"{edition}/{name}.ipynb: it is missing, and the other edition is there")
        elif nb is not None:
            found += [f"{edition}/{name}.ipynb: {sentence}" for sentence in _check_file(path, nb)]
    if solution is None or lesson is None:
        return found
    try:
        between = drift(solution, lesson) + leaks(solution, lesson)
    except MarkerError as error:
        between = [f"it cannot be derived: {error}"]
    return found + [f"lessons/{name}.ipynb: {sentence}" for sentence in between]


def _check_file(path: Path, nb: NotebookNode) -> list[str]:
    """Apply the rules, and compare the file's bytes with what the builder would write."""
    found = problems(nb)
    if not found and path.read_bytes() != text_of(nb).encode("utf-8"):
        return ["the file is not written as the builder writes it (indent, key order, last line)"]
    return found
