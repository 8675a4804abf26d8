"""What can be found out of any wrong function from its results, whatever the exercise is."""

import copy
import dataclasses
import math

import numpy as np
import torch

from utils.check.calling import call, names_of
from utils.check.compare import differs, same
from utils.check.others import in_other_terms
from utils.check.places import right_places, where_wrong
from utils.check.relations import relation, wrong_part
from utils.check.source import data_read, inputs_read, names_used


def cause(run, terms=None) -> str | None:
    """Why a function is wrong, if that can be found out: chance, or a term of a count.

    run: a cases.Run that holds at least one wrong result. terms: those of a counting exercise.
    """
    if any(_changes_its_mind(run, case) for case in range(len(run.arguments))):
        return "your function gives another result for the same input the second time; is something drawn, or kept?"
    return terms.explain(run.arguments, run.results) if terms else None


def not_read(run) -> str | None:
    """The inputs that a function does not read where it should, and what of the notebook it reads instead."""
    names = [name for name in unused(run) if name not in inputs_read(run.function)]
    named = " and ".join(f"`{name}`" for name in names)
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    instead = " and ".join(f"`{name}`" for name in sorted(data_read(run.function))[:3])
    instead = instead and f"; the notebook's {instead} stands in its place"
    return f"{named} {verb} not used: your result does not change with {them}{instead}." if names else None


def _changes_its_mind(run, case):
    """Whether a function gives another result for the same input when it is called again."""
    first = run.results[case]
    if first is None or isinstance(first, Exception):
        return False
    try:
        return not same(call(run.function, *run.arguments[case]), first)
    except Exception:
        return True


BARE = ("the shape is right and the values are not.", "the number is not the right one.")


def pattern(run, seen) -> str | None:
    """What the wrong results have in common, if that says more than what is seen of the first of them."""
    try:
        return _pattern(run, seen)
    except Exception:  # an object of the student's that fails when it is looked at
        return None


def _pattern(run, seen):
    if found := constant(run) or relation(run):
        return found
    if named := " and ".join(f"`{name}`" for name in unused(run)):
        return f"your result does not change with {named}, and it should."
    if found := in_other_terms(run) or right_for_some(run):
        return found
    if where := where_wrong(run, seen):
        return f"right except where {where}{'.' if seen.endswith(BARE) else ': ' + seen}"
    right = sum(run.seen(case) is None for case in range(len(run.results)))
    name = next((seen.removesuffix(text) for text in BARE if seen.endswith(text)), "")
    some = f"{name}right in {right} of {len(run.results)} cases, and {_too(run) or 'not in this one'}."
    return right_places(run) or (some if right and seen.endswith(BARE) else None)


def _too(run):
    """In which direction all wrong numbers are wrong; None if they go both ways, or are no single numbers."""
    _, arrays = wrong_part(run)
    apart = {np.sign(got - want).item() for _, got, want in arrays if got.size == want.size == 1} - {0}
    if len(apart) != 1 or any(got.size != 1 for _, got, _ in arrays):
        return None
    name, size = ("max", "large") if apart == {1} else ("min", "small")
    why = f": `{name}` takes the {'larger' if apart == {1} else 'smaller'} of two, whichever should count"
    return f"too {size} in the others{why if name in names_used(run.function) else ''}"


def constant(run) -> str | None:
    """The diagnosis of one and the same number, or numbers, in every case."""
    first = run.results[0]
    may_be_one = isinstance(run.wanted[0], str) or not (first is None or isinstance(first, str))
    is_number = may_be_one and not isinstance(first, Exception) and differs(first, first) is None
    varies = any(not same(run.wanted[0], want) for want in run.wanted)
    if not is_number or not varies or not all(same(first, result) for result in run.results):
        return None
    if read := " and ".join(f"`{name}`" for name in sorted(data_read(run.function))[:3]):
        return f"your function works with the notebook's {read}, and so with the same numbers in every case."
    if not inputs_read(run.function):
        return "your function reads none of its inputs, so it gives the same result in every case."
    return "your function gives the same result in every case; does it use what it is given?"


def unused(run) -> list[str]:
    """The names of arguments that make no difference to the result where they should.

    One argument at a time is changed, in each case where that changes the right result.
    """
    count = max(map(len, run.arguments))
    if all(same(run.results[0], result) for result in run.results):
        return []  # that says nothing about one of them
    idle = [place for place in range(count) if _is_idle(run, place)]
    return [names_of(run.function, count)[place] for place in idle] if len(idle) < count else []


def _is_idle(run, place):
    """Whether no change to one argument changes the result, and one of them should."""
    matters = False
    for args, result, want in zip(run.arguments, run.results, run.wanted, strict=True):
        for other in _varied(args[place]) if place < len(args) and not isinstance(result, Exception) else ():
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
    if dataclasses.is_dataclass(value):
        return tuple(filter(None, (_with_field(value, field.name) for field in dataclasses.fields(value))))
    if isinstance(value, dict):
        return tuple(value | {key: other} for key, part in value.items() for other in _varied(part))
    if isinstance(value, torch.Generator):
        return (torch.Generator().manual_seed(value.initial_seed() + 1),)
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


def _with_field(value, name):
    """A dataclass with another value of one field; None where that may not be."""
    try:
        return dataclasses.replace(value, **{name: _varied(getattr(value, name))[-1]})
    except Exception:
        return None


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
    if not right or all(math.prod(shape) == 1 for shape in right):
        return None
    if not {len(shape) for shape in right} & {len(shape) for shape in wrong}:
        return f"right for the shape {right[0]}, and not for {wrong[0]}: {problem}"
    if all(shape[:1] == (1,) for shape in right) and all(len(shape) > 1 and shape[0] > 1 for shape in wrong):
        return f"right for one row; in a batch of {wrong[0][0]} {problem}"
    return None
