"""Which line of a wrong answer to look at, found by changing it a little.

When no known mistake explains a wrong answer, small changes to the student's own source are tried, one at a time
(changes.py), until one makes the answer right. Its line and its kind are told, the change itself is not.
"""

import ast
import copy
import inspect
import textwrap

from utils.check.calling import Nearly
from utils.check.repair.changes import changes
from utils.check.repair.limits import NAME, Clock, Stopped, limits
from utils.check.source import VALUES, plain

SECONDS = 1.6  # of work, for the whole search


def hint_at_change(probe, answers, share=1.0) -> str:
    """A line of a verdict on where one small change makes the answers right; "" if none is found.

    probe: raises Wrong for wrong answers. answers: the student's functions, of which one is changed. share: of
    the time that a search has. Nothing outside of the changed copies is touched, and what they print is dropped.
    """
    clock = Clock(share * SECONDS)
    for place, answer in enumerate(answers):
        found, far = {}, 2
        for how_far, line, what, changed in _programs(answer, clock):
            if how_far > far or len(found) == 2:
                break
            if _passes(probe, (*answers[:place], changed, *answers[place + 1 :]), clock):
                found.setdefault(line, what)
                far = how_far
        if found:
            where = f" of `{answer.__name__}`" if len(answers) > 1 else ""
            lines = [f"line {line}{where}, `{_line(answer, line)}`: {what}" for line, what in sorted(found.items())]
            return f"\n  look    {' -- or '.join(lines)}"
    return ""


def _programs(answer, clock):
    """What `changes` yields of a function, each change made a function, as long as there is time."""
    try:
        tree, space = _parsed(answer)
    except Exception:  # no source to be had, or none that stands alone
        return
    for how_far, line, what, changed in changes(tree):
        if clock.is_over():
            return
        made = dict(space)
        try:
            exec(compile(ast.Module([changed], []), NAME, "exec"), made)
            yield how_far, line, what, made[tree.name]
        except Exception:  # no program at all
            continue


def _parsed(answer):
    """The tree of a function's source, and a copy of the names that it can see."""
    function = plain(answer)
    if function is not inspect.unwrap(answer):
        raise TypeError("not a plain function")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError("a lambda, or a class")
    tree.decorator_list = []
    space = dict(function.__globals__)
    bound = set(function.__code__.co_varnames)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & space.keys() - bound
    data = (*VALUES, list, dict, set)
    space |= {name: copy.deepcopy(space[name]) for name in read if isinstance(space[name], data)}
    return tree, space | inspect.getclosurevars(function).nonlocals


def _line(answer, number):
    return inspect.getsource(plain(answer)).splitlines()[number - 1].strip()


def _passes(probe, answers, clock):
    agrees = getattr(probe, "agrees", None)
    try:
        with limits(clock):
            if agrees is not None and not agrees(*answers):
                return False
            probe(*answers)
    except KeyboardInterrupt:
        raise
    except Nearly:  # the results are right, and one thing is told at a time
        return True
    except (Exception, Stopped, SystemExit, GeneratorExit, MemoryError):
        return False
    return True
