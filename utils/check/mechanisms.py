"""What can be found out of any wrong function from its results, whatever the exercise is."""

import copy

import numpy as np
import torch

from utils.check.calling import call, names_of
from utils.check.compare import differs, same
from utils.check.source import inputs_read


def cause(run, terms=None) -> str | None:
    """Why a function is wrong, if that can be found out: a term of a count, an argument that is not used.

    run: a cases.Run that holds at least one wrong result. terms: those of a counting exercise.
    """
    if terms and (found := terms.explain(run.arguments, run.results)):
        return found
    names = [name for name in unused(run) if name not in inputs_read(run.function)]
    named = " and ".join(f"`{name}`" for name in names)
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return f"{named} {verb} not used: your result does not change with {them}." if names else None


def pattern(run) -> str | None:
    """What the wrong results have in common, if that says more than one of them."""
    if found := constant(run):
        return found
    named = " and ".join(f"`{name}`" for name in unused(run))
    return f"your result does not change with {named}, and it should." if named else right_for_some(run)


def constant(run) -> str | None:
    """The diagnosis of one and the same number, or numbers, in every case."""
    first = run.results[0]
    is_number = first is not None and not isinstance(first, (str, Exception)) and differs(first, first) is None
    varies = any(not same(run.wanted[0], want) for want in run.wanted)
    if not is_number or not varies or not all(same(first, result) for result in run.results):
        return None
    return "your function gives the same result in every case; does it use what it is given?"


def unused(run) -> list[str]:
    """The names of arguments that make no difference to the result where they should.

    One argument at a time is changed, in each case where that changes the right result.
    """
    count = len(run.arguments[0])
    if any(len(args) != count for args in run.arguments):
        return []
    if all(same(run.results[0], result) for result in run.results):
        return []  # that says nothing about one of them
    idle = [place for place in range(count) if _is_idle(run, place)]
    return [names_of(run.function, count)[place] for place in idle] if len(idle) < count else []


def _is_idle(run, place):
    """Whether no change to one argument changes the result, and one of them should."""
    matters = False
    for args, result, want in zip(run.arguments, run.results, run.wanted, strict=True):
        for other in _varied(args[place]) if not isinstance(result, Exception) else ():
            changed = (*args[:place], other, *args[place + 1 :])
            try:
                if not same(call(run.function, *changed), result):
                    return False
                matters = matters or not same(run.right(*copy.deepcopy(changed)), want)
            except Exception:  # this change makes no sense here
                continue
    return matters


def _varied(value) -> tuple:
    """Other values of the same kind and shape; none for what has none that is safe to give.

    What a check makes itself may have a method for it, `varied`.
    """
    if hasattr(value, "varied"):
        return (value.varied(),)
    if isinstance(value, list) and value and all(hasattr(part, "varied") for part in value):
        return ([part.varied() for part in value],)
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return value + 1, 3 * value
    if isinstance(value, float):
        return (value * 1.5 + 0.1,)
    if isinstance(value, torch.Tensor) and value.numel():
        turned = value.flatten().roll(1)
        turned[0] = turned[-1]  # no mere change of order, to which a mean is blind
        turned = turned.reshape(value.shape)
        return (turned * 1.5 + 0.25 if value.is_floating_point() else turned,)
    return tuple(other.numpy() for other in _varied(torch.tensor(value))) if isinstance(value, np.ndarray) else ()


def right_for_some(run) -> str | None:
    """The diagnosis of a function that is right for one row, or one shape, and not for several."""
    arrays = [[a for a in args if isinstance(a, (torch.Tensor, np.ndarray)) and a.ndim] for args in run.arguments]
    shapes = [tuple(first[0].shape) if first else None for first in arrays]
    if None in shapes:
        return None
    seen = [run.seen(case) for case in range(len(shapes))]
    right = [shape for shape, text in zip(shapes, seen, strict=True) if not text]
    wrong = [shape for shape, text in zip(shapes, seen, strict=True) if text]
    problem = next(text for text in seen if text).removesuffix(".") + "."
    if not right:
        return None
    if not {len(shape) for shape in right} & {len(shape) for shape in wrong}:
        return f"right for the shape {right[0]}, and not for {wrong[0]}: {problem}"
    if all(shape[:1] == (1,) for shape in right) and all(len(shape) > 1 and shape[0] > 1 for shape in wrong):
        return f"right for one row; in a batch of {wrong[0][0]} {problem}"
    return None
