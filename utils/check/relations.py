"""What relates wrong results to the wanted ones, whatever the exercise is: a factor, an order, a part, a step too many.

A relation is told only if it holds in every case in which the function gave a result.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from utils.check.calling import names_of
from utils.check.compare import as_array, same
from utils.check.terms import SCALES


def relation(run) -> str | None:
    """What the results of a cases.Run are in terms of the wanted ones; None if they are nothing simple."""
    cases = _given(run)
    if isinstance(run.wanted[0], tuple) and cases and (found := _of_several(run, cases)):
        return found
    name, arrays = wrong_part(run)
    if not arrays:
        return None
    shapes = [(got.shape, want.shape) for _, got, want in arrays if got.shape != want.shape]
    if shapes and all(same(got.ravel(), want.ravel()) for _, got, want in arrays):
        return f"{name}the right numbers in the shape {shapes[0][0]}; {shapes[0][1] or 'a single number'} is wanted."
    with np.errstate(all="ignore"):
        found = _scaled(run, arrays)
        found = found or next((text for text, is_so in _changed(arrays[0][2].ndim) if _hold(is_so, arrays)), None)
    return found and name + found


def _given(run):
    """(arguments, result, wanted result) of each case in which the function gave a result."""
    cases = zip(run.arguments, run.results, run.wanted, strict=True)
    return [case for case in cases if case[1] is not None and not isinstance(case[1], Exception)]


def _of_several(run, cases):
    """Several results of which some are missing, or stand in another order."""
    count = len(cases[0][2])
    names = run.names or [f"result {place} of {count}" for place in range(1, count + 1)]
    for place, name in enumerate(names):
        if all(same(result, want[place]) for _, result, want in cases):
            rest = [other for other in names if other != name]
            return f"this is {name} alone; missing: {', '.join(rest)}."
    if not all(isinstance(result, (tuple, list)) for _, result, _ in cases):
        return None
    length = min(len(result) for _, result, _ in cases)
    for kept in itertools.combinations(range(count), length) if length < count else ():
        if all(same(list(result), [want[place] for place in kept]) for _, result, want in cases):
            return f"right as far as it goes; missing: {', '.join(n for p, n in enumerate(names) if p not in kept)}."
    for order in list(itertools.permutations(range(count)))[1:] if length == count else ():
        if all(same([result[place] for place in order], list(want)) for _, result, want in cases):
            return "the right results in another order."
    return None


def wrong_part(run) -> tuple[str, list]:
    """The name of the first of several results that is wrong, and (arguments, result, wanted) of each case, as arrays.

    "" where there is one result; an empty list where nothing is wrong, or something is no number.
    """
    cases, name = _given(run), ""
    if isinstance(run.wanted[0], tuple):
        count = len(run.wanted[0])
        cases = [case for case in cases if isinstance(case[1], (tuple, list)) and len(case[1]) == count]
        wrong = [place for place in range(count) if any(not same(case[1][place], case[2][place]) for case in cases)]
        if not wrong:
            return "", []
        alone = " alone" if len(wrong) < count else ""
        name = f"{(run.names or [f'result {place} of {count}' for place in range(1, count + 1)])[wrong[0]]}{alone}: "
        cases = [(args, result[wrong[0]], want[wrong[0]]) for args, result, want in cases]
    arrays = [(args, as_array(result), as_array(want)) for args, result, want in cases]
    if all(same(got, want) for _, got, want in arrays) or any(got is None or want is None for _, got, want in arrays):
        return "", []
    arrays = [(args, got.astype(float), want.astype(float)) for args, got, want in arrays]
    return ("", []) if all(same(got, want) for _, got, want in arrays) else (name, arrays)  # or nearly right


def _hold(is_so, arrays):
    """Whether a predicate of yours and wanted is true in each case, None apart, which says nothing."""
    try:
        told = [is_so(got, want) for _, got, want in arrays]
    except (ValueError, IndexError):  # shapes in which it makes no sense
        return False
    return any(told) and all(each is None or each for each in told)


def _softmax(x, log=False):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True)) if log else np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def _shares(x):
    return x / x.sum(-1, keepdims=True)


_OF_WANTED = {  # what it does to the wanted numbers -> the sentence
    "this is 1 minus what is wanted.": lambda x: 1 - x,
    "this is the logarithm of what is wanted.": np.log,
    "this is the exponential of what is wanted.": np.exp,
    "this is the square of what is wanted.": np.square,
    "this is the root of what is wanted.": np.sqrt,
    "this is 1 divided by what is wanted.": lambda x: 1 / x,
    "what is behind the point is dropped; `/` keeps it, and `//`, `int` and `round` do not.": np.floor,
    "the numbers are rounded to whole ones; leave them their digits.": np.round,
    "the numbers are rounded up; leave them their digits.": np.ceil,
    "every number here is 0.": np.zeros_like,
    "a softmax is taken where none is wanted.": _softmax,
    "a log-softmax is taken where none is wanted.": lambda x: _softmax(x, log=True),
    "this is divided by its sum, where that is not wanted.": _shares,
    "this adds up along the way, as `cumsum` does, where that is not wanted.": lambda x: x.cumsum(-1),
    "the right numbers, sorted; each belongs in its own place.": lambda x: -np.sort(-x),
    "these are the right numbers, sorted upwards; each belongs in its own place.": np.sort,
    "this says where something is; the numbers themselves are wanted.": lambda x: (x != 0) & (x > -np.inf),
}
_OF_YOURS = {  # what makes the student's numbers right -> the sentence
    "a softmax along the last dimension is still missing.": _softmax,
    "this is not yet divided by its sum along the last dimension.": _shares,
    "these are right but for their signs.": np.abs,
}
_REDUCTIONS = {
    "sum": np.sum,
    "product": np.prod,
    "mean": np.mean,
    "largest": np.max,
    "smallest": np.min,
    "place of the largest": np.argmax,
}


def _changed(ndim) -> Iterator:
    """(sentence, predicate of yours and wanted): one is the other after some operation."""
    for text, change in _OF_WANTED.items():
        yield text, lambda got, want, change=change: same(got, change(want))
    for text, change in _OF_YOURS.items():
        yield text, lambda got, want, change=change: same(change(got), want)
    for order in list(itertools.permutations(range(ndim)))[1:]:
        moved = [axis for axis in range(ndim) if order[axis] != axis]
        text = "the dimensions {} and {} are exchanged." if len(moved) == 2 else "the dimensions stand in the order {}."
        text = text.format(*moved if len(moved) == 2 else [order]) if ndim > 2 else "rows and columns are exchanged."
        yield text, lambda got, want, order=order: same(got, want.transpose(order))
    for axis in range(ndim):
        yield from _along(axis, ndim)
    for name, reduce in _REDUCTIONS.items():
        for axis, along in ((None, ""), (-1, " along the last dimension"), (0, " along the first dimension")):
            is_so = lambda less, more, reduce=reduce, axis=axis: same(less, reduce(more, axis))  # noqa: E731
            yield f"this is the {name}{along} of what is wanted.", is_so
            yield f"the {name} of this{along} is wanted.", lambda got, want, is_so=is_so: is_so(want, got)


def _along(axis, ndim) -> Iterator:
    """The same for one dimension: a part of it, its order, its place."""
    where = f" along dimension {axis}" if ndim > 1 else ""
    for place, name in ((0, "first"), (-1, "last")):
        part = lambda x, place=place: np.take(x, [place], axis)  # noqa: E731
        yield (
            f"this is the {name} of what is wanted{where}, alone.",
            lambda got, want, part=part: got.shape != want.shape and same(got.ravel(), part(want).ravel()),
        )
        yield (
            f"the {name} of this{where} is wanted, alone.",
            lambda got, want, part=part: got.shape != want.shape and same(part(got).ravel(), want.ravel()),
        )
        every = lambda got, want, part=part: same(got, np.broadcast_to(part(want), want.shape))  # noqa: E731
        yield f"all{where} is as the {name} should be.", every
    for end, verb in ((slice(None), "begins"), (slice(None, None, -1), "ends")):
        longer = lambda less, more, end=end: _is_start(less, more, axis, end)  # noqa: E731
        yield f"what is wanted {verb} with this{where}, and has more.", longer
        yield f"this {verb} with what is wanted{where}, and has more.", lambda got, want, f=longer: f(want, got)
    yield f"the order{where} is turned round.", lambda got, want: same(got, np.flip(want, axis))
    for step, when in ((1, "late"), (-1, "early")):
        yield f"all{where} stands one place too {when}.", lambda got, want, step=step: _is_moved(got, want, axis, step)


def _is_start(less, more, axis, end):
    """Whether an array is the start of another along one dimension, or with `end` turned round its end."""
    less, more = np.moveaxis(less, axis, 0)[end], np.moveaxis(more, axis, 0)[end]
    return same(less, more[: len(less)])


def _is_moved(got, want, axis, step):
    if got.shape != want.shape:
        return False
    if want.shape[axis] < 2:
        return None
    here, there = (slice(1, None), slice(-1)) if step > 0 else (slice(-1), slice(1, None))
    return same(np.moveaxis(got, axis, 0)[here], np.moveaxis(want, axis, 0)[there])


_FACTORS = {
    "the logarithm has the base 2; the natural one is wanted.": 1 / np.log(2),
    "the logarithm has the base 10; the natural one is wanted.": 1 / np.log(10),
} | {text: factor for text, factor in SCALES.items() if factor}


def _scaled(run, given) -> str | None:
    """The relation by one factor, or one term, in each case: of a known meaning, of an input, or without a name."""
    if any(got.shape != want.shape for _, got, want in given):
        return None
    inputs = _inputs(run, [args for args, _, _ in given])
    factors = [_one_number(got / want, got - want, want != 0) for _, got, want in given]
    terms = [_one_number(got - want, got - want, np.isfinite(want)) for _, got, want in given]
    is_sure = len({want.tobytes() for _, _, want in given}) > 1 or given[0][2].size > 2
    if None not in factors and is_sure and not np.allclose(factors, 1, rtol=1e-4):
        if np.ptp(factors) < 1e-4 * abs(factors[0]):
            named = (text for text, factor in _FACTORS.items() if abs(factors[0] / factor - 1) < 1e-4)
            root = math.sqrt(abs(factors[0])) if abs(factors[0]) >= 1 else 1 / math.sqrt(abs(factors[0]) or 1)
            twice = f", {root:.0f} times {root:.0f}: is {root:.0f} on the wrong side of a fraction"
            twice = twice if root > 12 and abs(root - round(root)) < 1e-3 else ""
            return next(named, f"this is {factors[0]:.6g} times what is wanted, in every case{twice}.")
        for name, values in inputs.items():
            for how, power in (("{} times what is wanted", 1), ("what is wanted, divided by {}", -1)):
                if _are_alike(factors, values**power):
                    return f"this is {how.format(name)}."
    if None not in terms and is_sure:
        if np.ptp(terms) < 1e-6 * abs(terms[0]):
            return f"this is {abs(terms[0]):.6g} too {'much' if terms[0] > 0 else 'little'}, in every case."
        for name, values in inputs.items():
            times = np.array(terms) / values
            if np.ptp(times) < 1e-6 * abs(times[0]) and abs(times[0]) <= 100 and 4 * times[0] % 1 == 0:
                count = "" if abs(times[0]) == 1 else f"{abs(times[0]):g} times "
                return f"this is {count}{name} too {'much' if times[0] > 0 else 'little'}."
    if None not in factors and 0 not in factors and max(got.size for _, got, _ in given) > 2:
        return "in each case all numbers are right but for one factor."
    return None


def _one_number(values, apart, sure):
    """The number that all of these are where they are sure; None if they differ, or what is not sure is wrong."""
    values, apart = values[sure], np.nan_to_num(apart[~sure])
    if not values.size or apart.any() or not np.isfinite(values).all():
        return None
    return values.flat[0] if np.ptp(values) <= 1e-4 * abs(values.flat[0]) else None


def _are_alike(numbers, others):
    return np.ptp(others) > 0 and np.allclose(numbers, others, rtol=1e-4)


def _inputs(run, arguments) -> dict[str, np.ndarray]:
    """Each number among the inputs, each size of a tensor, and products of two -> its value in each case."""
    names = names_of(run.function, len(arguments[0]))
    tables = [dict(pair for each in zip(names, args, strict=False) for pair in _numbers(*each)) for args in arguments]
    common = [name for name in tables[0] if all(name in table for table in tables)]
    inputs = {name: np.array([float(table[name]) for table in tables]) for name in common}
    inputs = {name: values for name, values in inputs.items() if (values > 0).all()}
    pairs = itertools.combinations_with_replacement(inputs.items(), 2)
    return inputs | {f"{one} times {other}": values * more for (one, values), (other, more) in pairs}


def _numbers(name, value) -> Iterator[tuple[str, float]]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield f"`{name}`", value
    elif isinstance(value, dict):
        yield from ((f"`{key}`", part) for key, part in value.items() if type(part) in (int, float))
    elif hasattr(value, "shape"):
        if len(value.shape) > 1:
            yield from ((f"the size of dimension {axis} of `{name}`", size) for axis, size in enumerate(value.shape))
        yield f"the number of numbers in `{name}`", math.prod(value.shape)
