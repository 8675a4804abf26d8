"""What wrong results are in terms of something else: another result, an input, a power, a factor for each vector."""

import numpy as np

from utils.check.compare import as_array, same
from utils.check.relations import wrong_part


def in_other_terms(run) -> str | None:
    """What the wrong results of a cases.Run are: another result, an input, a power, the wanted vectors but for factors.

    Only if that holds in every case; None if none of these does.
    """
    name, arrays = wrong_part(run)
    if not arrays:
        return None
    with np.errstate(all="ignore"):
        found = _of_another(run, arrays) or _of_an_input(arrays) or _to_a_power(arrays) or _by_vectors(arrays)
    return found and name + found


def _of_another(run, arrays):
    count = len(run.wanted[0]) if isinstance(run.wanted[0], tuple) else 0
    wanted = [[as_array(part) for part in want] for want in run.wanted] if count > 1 else []
    alike = all(part is not None and part.shape == case[0].shape for case in wanted for part in case)
    if not wanted or not alike or len(arrays) < len(wanted):
        return None
    names = run.names or [f"result {place} of {count}" for place in range(1, count + 1)]
    others = {f"this is the same as {name}.": [case[at] for case in wanted] for at, name in enumerate(names)}
    others |= {f"this is 1 minus {name}.": [1 - case[at] for case in wanted] for at, name in enumerate(names)}
    others["this is the sum of all that is wanted."] = [sum(case) for case in wanted]
    got = [each for _, each, _ in arrays]
    return next((text for text, other in others.items() if all(map(same, got, other))), None)


def _of_an_input(arrays):
    inputs = [[as_array(value) for value in args if getattr(value, "ndim", 0)] for args, _, _ in arrays]
    if not all(inputs) or all(got.size < 2 or same(got, got.round()) for _, got, _ in arrays):
        return None
    yours, wanted = (
        all(any(np.isin(part, value).all() for value in values) for part, values in zip(parts, inputs, strict=True))
        for parts in ([got for _, got, _ in arrays], [want for *_, want in arrays])
    )
    return "these are numbers of the input, as they came." if yours and not wanted else None


def _to_a_power(arrays):
    if len(arrays) < 2 or not all(want.size == got.size == 1 and want > 1 and got > 0 for _, got, want in arrays):
        return None
    powers = [np.log(got.item()) / np.log(want.item()) for _, got, want in arrays]
    return f"this is what is wanted, to the power {powers[0]:.3g}." if np.ptp(powers) < 1e-3 else None


def _by_vectors(arrays):
    if any(got.ndim < 2 or got.shape != want.shape or not np.isfinite(got).all() for _, got, want in arrays):
        return None
    for _, got, want in arrays:
        share = (got * want).sum(-1, keepdims=True) / (want * want).sum(-1, keepdims=True)
        if got.shape[-1] < 2 or not np.allclose(got, share * want, rtol=1e-3, atol=1e-9) or not (share > 0).all():
            return None
    return "each vector is right but for a factor of its own."


def kept(arrays) -> str | None:
    """Whether too few numbers are kept, or too many, where the others become 0 or minus infinity."""
    are_counts = any(same(want, want.round()) and want.max(initial=0) > 1 for *_, want in arrays)
    for gone in (-np.inf,) if are_counts else (0, -np.inf):
        cases = [(got != gone, want != gone) for _, got, want in arrays]
        both = [one & other for one, other in cases]
        stay = [(got[at], want[at]) for (_, got, want), at in zip(arrays, both, strict=True)]
        are_shares = all(same(got.sum(-1), want.sum(-1)) for _, got, want in arrays)
        if not are_shares and not all(same(*pair) for pair in stay):
            continue
        share = np.concatenate([want.ravel() for _, want in cases]).mean()
        if share > 0.8 or all(same(got, want) for got, want in cases):  # a single 0 is one by chance
            continue
        if all((got <= want).all() for got, want in cases):
            return f"too few numbers are kept, and too many are {gone:g}."
        if all((got >= want).all() for got, want in cases):
            return f"too many numbers are kept, and too few are {gone:g}."
        if all(same(got.sum(-1), want.sum(-1)) for got, want in cases):
            return "as many numbers are kept as should be, and other ones."
    return None
