"""The command `python -m utils build`: run, derive, store; or `--check` what is stored."""

import argparse
from pathlib import Path

from nbformat import NotebookNode

from utils.environment import ROOT
from utils.files import replace_file
from utils.notebooks import counts, rules
from utils.notebooks.derive import MarkerError, derive, drift, leaks, source, unrun
from utils.notebooks.form import keep_stored, sanitizer, text_of, write
from utils.notebooks.reading import EDITIONS, Course, Lesson, UnreadableError, cells, documents, load, number_of
from utils.notebooks.run import RunError, run


def main(argv: list[str], root: Path = ROOT) -> int:
    """Build or check the named notebooks (all without a name); return 0 if everything is in order.

    A name may be `01`, `01_name`, or a path to either edition. `root` is the project's folder. Whatever can be said
    of the sources is said before anything runs.
    """
    options, course = _arguments(argv), Course(root)
    names, unknown = _chosen(course, options.names)
    if unknown:
        return _report([f"no notebook is called {name}" for name in unknown], "")
    found = [] if options.check else _before(course, names)
    if found:
        return _report([*found, "nothing was run, nothing was written"], "")
    sound = []
    for name in names:
        try:
            if not options.check:
                _build(course, name, options.timeout, options.fresh)
            sound.append(name)
        except RunError as error:
            found.append(f"{error}; nothing was written")
    if not options.check:
        _write_counts(course)
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


def _chosen(course: Course, names: list[str]) -> tuple[list[str], list[str]]:
    """Return the notebooks that were named, and the names that fit none."""
    wanted = [Path(name).name.removesuffix(".ipynb") for name in names]
    fits = {name: [stem for stem in course.names if name in (stem, number_of(stem))] for name in wanted}
    chosen = {stem for found in fits.values() for stem in found}
    return sorted(chosen) if names else course.names, [name for name, found in fits.items() if not found]


def _sources(course: Course, name: str) -> dict[str, NotebookNode]:
    """What is to be run: the solution as the builder writes it, and the lesson that it gives.

    Raises UnreadableError or MarkerError.
    """
    stored = load(course.root / "solutions" / f"{name}.ipynb")
    if stored is None:
        raise UnreadableError(f"lessons/{name}.ipynb: there is no solutions/{name}.ipynb to derive it from")
    try:
        written = source(_counted(stored, name, course))
        return {"solutions": written, "lessons": derive(written)}
    except MarkerError as error:
        raise MarkerError(f"solutions/{name}.ipynb, {error}") from None


def _counted(nb: NotebookNode, name: str, course: Course) -> NotebookNode:
    """The notebook with the counts in its text put right, such as "with six exercises"."""
    for cell in cells(nb, "markdown"):
        cell.source = counts.refresh(cell.source, number_of(name), course.root)
    return nb


def _write_counts(course: Course) -> None:
    """Put the counts in the course's documents right."""
    for path in documents(course.root):
        text = path.read_text(encoding="utf-8")
        if (counted := counts.refresh(text, None, course.root)) != text:
            replace_file(path, counted)
            print(f"{path.name}: written")


def _before(course: Course, names: list[str]) -> list[str]:
    """Ask the rules for sources; what a lesson has from its solution is told of the solution alone."""
    found = []
    for name in names:
        try:
            editions = _sources(course, name)
        except (UnreadableError, MarkerError) as error:
            found.append(str(error))
            continue
        told: set[str] = set()
        for edition, nb in editions.items():
            sentences = [text for text in rules.before(Lesson(nb, name, edition, course)) if text not in told]
            told |= set(sentences)
            found += [f"{edition}/{name}.ipynb: {sentence}" for sentence in sentences]
    return found + rules.whole(course)


def _build(course: Course, name: str, timeout: int, fresh: bool) -> None:
    """Run and store both editions of one notebook; say what took too long.

    Nothing is written before both have run. `fresh` also replaces outputs that nbval sees no difference in.
    Raises RunError.
    """
    notebooks = _sources(course, name)
    built = {edition: _built(course, edition, name, nb, timeout, fresh) for edition, nb in notebooks.items()}
    for edition, nb in built.items():
        if write(course.root / edition / f"{name}.ipynb", nb):
            print(f"{edition}/{name}.ipynb: written")


def _built(course: Course, edition: str, name: str, nb: NotebookNode, timeout: int, fresh: bool) -> NotebookNode:
    """Run one edition, note what took too long, and return what is to be stored."""
    folder, file = course.root / edition, f"{edition}/{name}.ipynb"
    folder.mkdir(exist_ok=True)
    new, seconds = run(unrun(nb), folder, file, timeout)
    for sentence in rules.slow(number_of(name), new, seconds):
        print(f"note: {file}: {sentence}")
    try:
        stored = load(course.root / file)
    except UnreadableError:
        stored = None
    if stored is None or fresh:
        return new
    return keep_stored(new, stored, sanitizer(course.root / "tests" / "nbval_sanitize.cfg"))


def check(root: Path = ROOT, names: list[str] | None = None) -> list[str]:
    """Say everything that is wrong with the stored notebooks, without running anything.

    Form and rules of both editions, drift between them, leaks of answers, and the course as a whole. `names` are
    those to look at, all without it.
    """
    course = Course(root)
    found = [sentence for name in (course.names if names is None else names) for sentence in _check_pair(course, name)]
    return found + rules.whole(course) + rules.whole_stored(course)


def _check_pair(course: Course, name: str) -> list[str]:
    """Check one notebook in both editions, each by itself and the lesson against the solution."""
    found, readable = [], {}
    for edition in EDITIONS:
        path, file = course.root / edition / f"{name}.ipynb", f"{edition}/{name}.ipynb"
        try:
            nb = load(path)
        except UnreadableError as error:
            found.append(str(error))
            continue
        if nb is None:
            found.append(f"{file}: it is missing, and the other edition is there")
            continue
        readable[edition] = nb
        found += [f"{file}: {sentence}" for sentence in _check_file(path, Lesson(nb, name, edition, course))]
    if len(readable) == len(EDITIONS):
        found += [f"lessons/{name}.ipynb: {sentence}" for sentence in _between(**readable)]
    return found


def _check_file(path: Path, lesson: Lesson) -> list[str]:
    """Apply the rules, and compare the file's bytes with what the builder would write."""
    found = rules.stored(lesson)
    if not found and path.read_bytes() != text_of(lesson.nb).encode("utf-8"):
        return ["the file is not written as the builder writes it (indent, key order, last line)"]
    return found


def _between(solutions: NotebookNode, lessons: NotebookNode) -> list[str]:
    """What a lesson has that its solution does not give, and what it gives away."""
    try:
        return drift(solutions, lessons) + leaks(solutions, lessons)
    except MarkerError as error:
        return [f"it cannot be derived: {error}"]
