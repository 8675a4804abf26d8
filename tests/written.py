"""Answers as a student writes them in a cell: functions whose source is at hand."""

import linecache


def written(body, arguments="*args", **space):
    """The function `answer` with this body, whose first line is line 2, and these names around it."""
    source = f"def answer({arguments}):\n    " + body.replace("\n", "\n    ") + "\n"
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), space)
    return space["answer"]
