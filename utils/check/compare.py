"""Are two results equal, whatever they are made of: tensors, arrays, lists, numbers, or tuples of these."""

import numpy as np
import torch

TOLERANCE = {"rtol": 1e-4, "atol": 1e-6}


def as_array(value):
    """A float64 or integer array of a tensor, array, list or number; None for what is no number."""
    if isinstance(value, torch.Tensor):
        value = value.detach().to(torch.float64) if value.is_floating_point() else value.detach()
        value = value.numpy()
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        return None
    return array if array.dtype.kind in "biuf" else None


def same(a, b) -> bool:
    """Equal in structure, shape and value; NaN equals NaN."""
    if isinstance(a, (tuple, list)) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    first, second = as_array(a), as_array(b)
    if first is None or second is None:
        return first is second and type(a) is type(b) and (not isinstance(a, str) or a == b)
    return first.shape == second.shape and np.allclose(first, second, equal_nan=True, **TOLERANCE)


def differs(result, want) -> str | None:
    """How a result differs from the wanted one, as a diagnosis; None if it does not."""
    if result is None:
        return "your function returns None; is there a return in it?"
    if isinstance(want, tuple):
        return _tuple_differs(result, want)
    got, wanted = as_array(result), as_array(want)
    if got is None:
        return f"your function returns a {type(result).__name__}, and numbers are wanted."
    if got.shape != wanted.shape:
        return f"the shape is {got.shape}, and {wanted.shape} is wanted."
    if np.isnan(got.astype(float)).any() and not np.isnan(wanted.astype(float)).any():
        return "the result holds NaN, not a number."
    return None if same(result, want) else "the shape is right and the values are not."


def _tuple_differs(result, want):
    if not isinstance(result, (tuple, list)) or len(result) != len(want):
        given = f"{len(result)}" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        return f"{len(want)} results are wanted, in a tuple, and your function returns {given}."
    for place, pair in enumerate(zip(result, want, strict=True), 1):
        problem = differs(*pair)
        if problem:
            return f"result {place} of {len(want)}: {problem}"
    return None


def brief(value) -> str:
    """A value as a student reads it: small ones whole, rounded to 4 places; large ones by their shape."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(brief, value)) + ")"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        array = as_array(value)
        if array is None or array.size > 16:
            return f"{type(value).__name__} of shape {tuple(value.shape)}"
        return np.array2string(array, precision=4, suppress_small=True, separator=", ", max_line_width=10_000).replace(
            "\n", ""
        )
    if isinstance(value, float):
        return f"{value:.6g}"
    shown = repr(value)
    return shown if len(shown) <= 80 and "\n" not in shown else f"a {type(value).__name__}"
