"""Run a student's function safely: on copies, with every error told in words."""

import copy
import inspect
import linecache
import os
import re
import traceback
from pathlib import Path

import torch

from utils.check.compare import brief, same

# the course, Python and its packages; every other line is the student's, in this cell or in another
FOLDERS = Path(__file__).parents[1], Path(os.__file__).parent, Path(torch.__file__).parents[1]
NOT_THE_STUDENTS = tuple(os.path.realpath(folder) + os.sep for folder in FOLDERS)


class Wrong(Exception):
    """Raised inside a check: its message is the diagnosis that the student reads."""


class Unclear(Wrong):
    """A wrong answer whose place is not known yet: what is seen of it, and the example that shows it.

    is_told: what is seen says much already, so that a short search for the place will do.
    """

    def __init__(self, seen, example="", is_told=False):
        super().__init__(seen + example)
        self.seen, self.example, self.is_told = seen, example, is_told


class Nearly(Wrong):
    """The results are right, and something else about them is not: the kind of number, or what hangs on them."""


def call(function, *args, in_place=False):
    """The student's function on copies of args, or with in_place on args themselves, which it is to change.

    Wrong if it raises, if it changes what it was given without being asked to, or if it has yet to run.
    """
    given = args if in_place else copy.deepcopy(args)
    tensors = _tensors(given)  # those of now: a tie takes one of them away
    before = _state(given, tensors)
    try:
        result = function(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # exit() too
        meaning = next((f"; {meaning}" for said, meaning in SAID.items() if said in str(reason(error))), "")
        line, values = _students_line(error)
        where = (f"\n  line    {line}" if line else "") + (f"\n  there   {values}" if values else "")
        where += f"\n  input   {shown_inputs(args)}"
        raise Unclear(f"your function raised {reason(error)}{meaning}", where) from None
    if inspect.iscoroutine(result):
        result.close()  # or Python warns that it was never awaited
        raise Wrong("your function is an `async def`, so calling it does not run it; write a plain `def`.")
    if inspect.isgenerator(result):
        raise Wrong("your function gives a generator, which has not run yet; return the results themselves.")
    left = [text for text, was, now in zip(LEFT_BEHIND, before, _state(given, tensors), strict=True) if was != now]
    if left:
        raise Wrong(left[0])
    for name, now, was in zip(names_of(function, len(args)), given, args, strict=True):
        if not same(now, was):
            how = "in place, as `x += …` does and `x = x + …` does not; leave it as it was."
            raise Wrong(f"your function changes `{name}` {how}")
    return result


SAID = {  # in an error -> what it means here
    "probability tensor": "the draw is given numbers that are no probabilities; is a softmax missing?",
    "prob_dist must be 1 or 2": "the draw is given the scores after every token; the next one comes after the last.",
    "not require grad": "the loss hangs on no weight: are the scores made under `no_grad`, cut off, or made into ids?",
    "Expected target size": "cross_entropy takes the second dimension of the scores for the vocabulary; flatten both.",
    "to Python scalars": "one number is wanted there, and a tensor holds several: PyTorch's own functions take those.",
    "is ambiguous": "a condition is one True or False, and a tensor holds several: `torch.where`, `&`, `|` take them.",
    "cannot be multiplied": "in `A @ B` A's last size is B's last but one.",
    "must match the size": "sizes meet from the last dimension on, and are equal there, or 1.",
    "is out of bounds": "places are counted from 0, so the last is the size less 1.",
    "index out of range": "the list is shorter than this place: places are counted from 0.",
    "Dimension out of range": "counted from the end, as -1 and -2, a dimension is right for any number of others.",
    "is invalid for input of size": "the sizes of a shape, multiplied, are the number of numbers; take them from `x`.",
    "as an integer": "a float is given where whole numbers alone will do.",
    "KeyError": "there is no such key in this dict; its `get` gives None for one that is missing.",
    "not subscriptable": "square brackets read an entry, and round ones call.",
    "'NoneType'": "None stands where a number is wanted.",
}
LEFT_BEHIND = (
    "your function leaves gradients switched off, or on, for all that comes after it; `with torch.no_grad():` ends.",
    "your function seeds PyTorch's own generator, so all chance after it is the same each time; leave it alone.",
    "your function changes what requires a gradient among the tensors that it was given; leave that as it was.",
    "your function seeds the generator that it was given, which comes seeded; draw with it as it is.",
)


def _tensors(given):
    tensors = [value for value in given if isinstance(value, torch.Tensor)]
    return tensors + [part for value in given if isinstance(value, torch.nn.Module) for part in value.parameters()]


def _state(given, tensors):
    """What a function may not leave changed, in the order of LEFT_BEHIND."""
    seeds = [value.initial_seed() for value in given if isinstance(value, torch.Generator)]
    return torch.is_grad_enabled(), torch.initial_seed(), [tensor.requires_grad for tensor in tensors], seeds


def names_of(function, count) -> list[str]:
    """The names of a function's first arguments, as many as it is called with."""
    try:
        names = list(inspect.signature(function).parameters)[:count]
    except (TypeError, ValueError):  # no signature, as some functions of torch
        names = []
    return [*names, *(f"argument {number}" for number in range(len(names) + 1, count + 1))]


def reason(error) -> str:
    """An error's type and the start of its message, the same each time."""
    try:
        said = re.sub(r" at 0x[0-9a-fA-F]+", "", str(error).strip().splitlines()[0])
    except Exception:  # it says nothing, or its own __str__ fails
        said = "without a message"
    return f"{type(error).__name__}: {said if len(said) <= 160 else said[:160] + ' ...'}"


def _students_line(error):
    """The last line of the student's own code on the way to an error, and what its names stand for; "" for none."""
    line, values = "", ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not os.path.realpath(file).startswith(NOT_THE_STUDENTS):
            line = linecache.getline(file, number).strip() or line
            names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", line)) if line else ()
            known = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
            values = ", ".join(f"`{name}` {_size(value)}" for name, value in list(known.items())[:4])
    return line, values


def _size(value):
    """The shape of a tensor, the keys of a dict, and of the rest what a student reads."""
    if isinstance(value, torch.Tensor) and value.numel() > 1:
        return f"of shape {tuple(value.shape)}"
    return f"with the keys {', '.join(map(str, value))}"[:80] if isinstance(value, dict) else f"= {brief(value)}"


def shown_inputs(args) -> str:
    """What a function was given, as a student reads it."""
    return ", ".join(brief(value) for value in args)
