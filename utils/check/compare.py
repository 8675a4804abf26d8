"""Are two results equal, whatever they are made of: tensors, arrays, lists, numbers, or tuples of these."""

import dataclasses
import inspect
import numbers
import re

import numpy as np
import torch

TOLERANCE = {"rtol": 1e-4, "atol": 1e-6}
EXACT = {"rtol": 1e-9, "atol": 0}  # for whole numbers: one that float32 has rounded is another one


def as_array(value):
    """A float64 or integer array of a tensor, array, list or number; None for what is no number."""
    try:
        array = _to_numpy(value)
    except Exception:  # a ragged list, or an object that converts in its own way and fails
        return None
    return array if array.dtype.kind in "biuf" else None


def _to_numpy(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().to_dense().resolve_neg()
        return (value.double() if value.is_floating_point() else value).numpy()
    if isinstance(value, (tuple, list)):  # one by one, since NumPy takes no tensor that requires a gradient
        return np.array([_to_numpy(part) for part in value])
    array = np.asarray(value)
    is_exact = array.dtype.kind == "O" and isinstance(value, numbers.Number)  # a Fraction or a Decimal
    return np.asarray(float(value)) if is_exact else array


def same(a, b) -> bool:
    """Equal in structure, shape and value; NaN equals NaN."""
    if type(a) in (int, float) and type(b) in (int, float) and a == b:
        return True
    first, second = as_array(a), as_array(b)
    if first is not None and second is not None:
        tolerance = TOLERANCE if first.shape else TOLERANCE | {"atol": 0}  # a small number is not no number
        tolerance = EXACT if {first.dtype.kind, second.dtype.kind} & {*"iu"} else tolerance
        return first.shape == second.shape and np.allclose(first, second, equal_nan=True, **tolerance)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, str) and isinstance(b, str):  # NumPy's strings too
        return str(a) == str(b)
    return first is second and type(a) is type(b)


def differs(result, want) -> str | None:
    """How a result differs from the wanted one, as a diagnosis; None if it does not."""
    if type(result) is type(want) is int and result == want:  # quickly, since a search asks a thousand times
        return None
    if want is None or isinstance(want, str):
        return _name_differs(result, want)
    if result is None:
        return "your function returns None; is there a return in it?"
    if result is Ellipsis:
        return "your function returns the three dots; put your result in their place."
    if isinstance(want, tuple):
        return _tuple_differs(result, want)
    if inspect.isroutine(result):
        return "your function returns a function and not its result; are the brackets of a call missing?"
    if isinstance(result, str):
        return "your function returns a text; return the number itself, as it is."
    got, wanted = as_array(result), as_array(want)
    if got is None:
        return f"your function returns {a_kind(result)}, and real numbers are wanted."
    if same(got, wanted):
        return None
    return _array_differs(got.astype(float), wanted.astype(float)) or (
        "the number is nearly right: float32 rounds after seven digits, and Python's whole numbers are exact."
    )


def _name_differs(result, want):
    if same(result, want):
        return None
    if result is None:
        return "your function returns None, and there is a name to return."
    if not isinstance(result, str):
        return f"your function returns {a_kind(result)}, and {'None' if want is None else 'a name'} is wanted."
    return "this is not the right name." if want else "a name is returned, and None is wanted."


def _tuple_differs(result, want):
    if isinstance(result, (torch.Tensor, np.ndarray)) and same(result, want):
        return None  # it is unpacked as a tuple is
    if not isinstance(result, (tuple, list)) or len(result) != len(want):
        given = f"{len(result)}" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        return f"{len(want)} results are wanted, in a tuple, and your function returns {given}."
    for place, (part, wanted) in enumerate(zip(result, want, strict=True), 1):
        problem = "it is None." if part is None else differs(part, wanted)
        if problem:
            return f"result {place} of {len(want)}: {problem}"
    return None


def _array_differs(got, wanted):
    if got.shape != wanted.shape:
        given = f"the shape is {got.shape}" if got.shape else "the result is a single number"
        return f"{given}, and {wanted.shape or 'a single number'} is wanted."
    for test, name in ((np.isnan, "NaN, not a number"), (np.isinf, "infinity")):
        if test(got).any() and not test(wanted).any():
            return f"the result holds {name}."
    if same(got, wanted):
        return None
    if got.size and not ((wanted - got) % 2**32).any():
        return "the number is too large for 32 bits, so it starts again from the smallest; Python's own have no end."
    # two places at least: whole numbers are more often another mistake than a rounding
    if got.any() and any(np.allclose(got, wanted.round(places), rtol=1e-6, atol=0) for places in range(2, 6)):
        return "the values are rounded; leave them all their digits."
    return "the shape is right and the values are not." if got.shape else "the number is not the right one."


def first_difference(result, want):
    """(position, number there, wanted number there) of the first numbers that differ in two arrays of one shape."""
    got, wanted = as_array(result), as_array(want)
    if got is None or wanted is None or got.shape != wanted.shape or not got.shape:
        return None
    apart = np.argwhere(~np.isclose(got, wanted, equal_nan=True, **TOLERANCE))
    if not len(apart):
        return None
    place = tuple(apart[0].tolist())
    return list(place), got[place].item(), wanted[place].item()


def a_kind(value) -> str:
    """A value's type with its article, such as "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


OF_SHAPE = " of shape "  # stands in what `brief` says of a large array


def brief(value, places=4) -> str:
    """A value as a student reads it: small ones whole, rounded to 4 places; large ones by their kind or shape."""
    try:
        return _shown(value, places)
    except Exception:  # a student's own __repr__, or a list that holds itself
        return a_kind(value)


def _shown(value, places):
    if isinstance(value, (tuple, list)) and len(value) <= 4:
        inside = ", ".join(_shown(part, places) for part in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return _brief_array(value, places)
    if isinstance(value, bytes):
        return f'bytes.fromhex("{value.hex(" ")}")'
    if isinstance(value, (set, frozenset)):  # in another order each time
        return a_kind(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.{places + 2}g}"
    shown = repr(value)
    if len(shown) > 80 and dataclasses.is_dataclass(value):  # a GPTConfig: without the settings that are as usual
        told = [field.name for field in dataclasses.fields(value) if getattr(value, field.name) != field.default]
        shown = f"{type(value).__name__}({', '.join(f'{name}={getattr(value, name)!r}' for name in told)})"
    # an address in memory would make each verdict another one
    longest = 100 if isinstance(value, dict) else 80  # a config.json of five settings
    return shown if len(shown) <= longest and "\n" not in shown and " at 0x" not in shown else a_kind(value)


def _brief_array(value, places):
    array = as_array(value)
    if array is None or array.size > 16:
        return f"{type(value).__name__}{OF_SHAPE}{tuple(value.shape)}"
    is_tiny = array.any() and abs(array).max() < 10.0**-places  # or all of it would read as 0
    text = np.array2string(array, precision=places, suppress_small=not is_tiny, separator=", ", max_line_width=10_000)
    return re.sub(r"(?<=[\[ ]) +|\s+(?=[],])|\n", "", text)
