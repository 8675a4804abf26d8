"""Where a function is wrong: in which of a check's cases, told by their inputs, and at which places of a result."""

from collections.abc import Iterator

import numpy as np

from utils.check.calling import names_of
from utils.check.compare import as_array, same
from utils.check.others import kept
from utils.check.relations import wrong_part


def where_wrong(run, seen) -> str | None:
    """What is so in each case of a cases.Run that is wrong, and in none that is right; None if nothing simple is.

    seen: what is wrong there; a condition of what it names comes first, and two of other inputs say nothing.
    """
    wrong = [bool(run.seen(case)) for case in range(len(run.arguments))]
    if all(wrong):
        return None
    tables = [dict(_conditions(run, args)) for args in run.arguments]
    texts = dict.fromkeys(text for table in tables for text in table if not ("raised" in seen and "than once" in text))
    found = {}
    for text in texts:
        if [table.get(text, False) for table in tables] == wrong:
            found.setdefault(text.split("`")[1], text)
    named = [text for name, text in found.items() if f"'{name}'" in seen]
    return named[0] if named else next(iter(found.values())) if len(found) == 1 else None


def _conditions(run, args) -> Iterator[tuple[str, bool]]:
    longest = max(map(len, run.arguments))
    for name in names_of(run.function, longest)[len(args) :]:
        yield f"`{name}` is left to its default", True
    sizes = [value.shape[-1] for value in args if getattr(value, "ndim", 0)]
    for name, value in zip(names_of(run.function, len(args)), args, strict=True):
        if isinstance(value, dict):
            yield from _of_dict(value, {key for case in run.arguments for key in case[0]})
        elif isinstance(value, (int, float)):
            yield f"`{name}` is 0", value == 0
            yield f"`{name}` is 1", value == 1
            yield f"`{name}` is not 1", value != 1
            yield f"`{name}` is below 1", value < 1
            yield f"`{name}` is above 1", value > 1
            if sizes:
                yield f"`{name}` is larger than the last dimension", value > sizes[0]
        elif (array := as_array(value)) is not None and array.ndim:
            yield from _of_array(f"`{name}`", array)


def _of_dict(given, keys):
    for key in sorted(keys):
        value = given.get(key)
        yield f"`{key}` is given", value is not None
        yield f"`{key}` is missing", key not in given
        yield f"`{key}` is None", key in given and value is None
        yield f"`{key}` is missing or None", value is None
        yield f"`{key}` is True", value is True
        yield f"`{key}` is False", value is False


def _of_array(name, array):
    rows = np.sort(array.reshape(-1, array.shape[-1]), -1)
    yield f"a number comes more than once in a row of {name}", bool((rows[:, 1:] == rows[:, :-1]).any())
    for axis, size in enumerate(array.shape if array.ndim > 1 else ()):
        sizes = range(1, 5 if array.dtype.kind in "iu" else 2)  # ids are read one by one
        yield from ((f"dimension {axis} of {name} is larger than {least}", size > least) for least in sizes)
    finite = array[np.isfinite(array)]
    yield f"{name} holds numbers of some hundreds, or more", bool((abs(finite) > 100).any())
    yield f"{name} holds minus infinity", finite.size < array.size
    yield f"all of {name} is below 0", bool((finite < 0).all())


def right_places(run) -> str | None:
    """Which places of the results of a cases.Run are right in every case; None if none are, or no simple ones."""
    name, arrays = wrong_part(run)
    if not arrays or any((np.isnan(got) | (got == np.inf)).any() for _, got, _ in arrays):
        return None
    is_shaped = all(got.shape == want.shape for _, got, want in arrays)
    if all(got.size == want.size and same(np.sort(got.ravel()), np.sort(want.ravel())) for _, got, want in arrays):
        return name + f"the right numbers in another order{'' if is_shaped else ', and in another shape'}."
    if not is_shaped:
        return None
    if all((want == 0).any() and same(got == 0, want == 0) for _, got, want in arrays):
        return name + "the zeros stand where they should, and the other numbers are not right."
    for text, places, varied in _places():
        chosen = [(got[marks], want[marks]) for _, got, want in arrays if (marks := places(want)).shape]
        wrong = [not same(got, want) for _, got, want in arrays]
        if len(chosen) < len(arrays) or not all(same(got, want) for got, want in chosen):
            continue
        if not all(want.size for (_, want), is_wrong in zip(chosen, wrong, strict=True) if is_wrong):
            continue  # nothing there is right
        if any(want.size and (not varied or np.ptp(want) > 0) for _, want in chosen):
            return name + text
    return (text := kept(arrays)) and name + text


def _places():
    """(sentence, wanted result -> where it is so, whether the numbers there have to differ to say anything)."""
    yield "all is right but what should be 0.", _not_zero, False
    yield "all is right but what should be -inf.", lambda want: want != -np.inf, False
    parts = [
        (f"{name} {what}", lambda want, axis=axis, part=part: _marked(want, axis, part))
        for axis, what in ((0, "row"), (1, "column"), (-1, "number in the last dimension"))
        for name, part in (("first", slice(1)), ("last", slice(-1, None)))
    ]
    yield from ((f"right but for the {name}.", lambda want, at=at: ~at(want), True) for name, at in parts)
    yield from ((f"right in the {name} alone.", at, True) for name, at in parts)


def _not_zero(want):
    """The numbers that are not 0; none where 0 is one of several counts, as in ids."""
    return np.zeros(want.shape, bool) if same(want, want.round()) and want.max(initial=0) > 1 else want != 0


def _marked(want, axis, part):
    if want.ndim <= axis or not want.ndim:
        return np.False_
    marks = np.zeros(want.shape, bool)
    np.moveaxis(marks, axis, 0)[part] = True
    return marks
