"""Bad input becomes one sentence: what was given, what is allowed, what to do. Called before anything changes."""

import math
import re
import sys
from numbers import Integral, Real
from pathlib import Path

import torch

TOKEN_TYPES = torch.int64, torch.int32
LARGEST_FLOAT = int(sys.float_info.max)
PIECE = 2**20  # numbers that are looked at in one go
MOST_DIVISORS = 20  # named in one sentence: all of 768's
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")


def whole_number(name, value, low=1, otherwise="", high=math.inf):
    """`value` as an int (it may be NumPy's); TypeError or ValueError unless it is whole and from `low` to `high`."""
    allowed = f"it must be a whole number from {low} {'up' if high == math.inf else f'to {high}'} {otherwise}".strip()
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong_type(name, value, allowed)
    if not low <= value <= high:
        raise ValueError(f"{name}={value} is too {'small' if value < low else 'large'}; {allowed}.")
    return int(value)


def number(name, value, allowed, in_range=lambda value: True):
    """`value` must be an int or a float, not NaN, and in_range(value); `allowed` says in words what it may be."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong_type(name, value, f"give {allowed}")
    if isinstance(value, Integral) and abs(value) > LARGEST_FLOAT:
        raise ValueError(f"{name} is larger than any float; give {allowed}.")
    if math.isnan(value):
        raise ValueError(f"{name} is NaN; give {allowed}.")
    if not in_range(value):
        raise ValueError(f"{name}={value} is out of range; give {allowed}.")


def flag(name, value):
    """`value` must be True or False."""
    if not isinstance(value, bool):
        raise wrong_type(name, value, "give True or False")


def instance(name, value, kind):
    """`value` must be a `kind`."""
    if not isinstance(value, kind):
        raise wrong_type(name, value, f"give a {kind.__name__}")


def wrong_type(name, value, allowed) -> TypeError:
    """The error that shows the value, its type and what is allowed.

    A class of the course that is refused under its own name was loaded twice, by `importlib.reload` or `%autoreload`.
    """
    kind = type(value)
    if kind.__module__.startswith("utils.") and re.search(rf"\b{kind.__name__}\b", allowed):
        return TypeError(
            f"{name} is a {kind.__name__}, but {kind.__module__} was loaded again, and other modules still have its "
            "old one; restart the kernel and run the notebook from its top."
        )
    shown = " ".join(repr(value).split())  # an array's repr has several lines
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return TypeError(f"{name}={shown} is of type {type(value).__name__}; {allowed}.")


def one_of(name, value, choices):
    """`value` must be one of the names in `choices`."""
    allowed = f"choose one of {', '.join(map(repr, choices))}"
    if not isinstance(value, str):
        raise wrong_type(name, value, allowed)
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; {allowed}.")


def divides(n_embd, n_head, n_layer):
    """n_embd must be a multiple of n_head; the sentence lists what would do and knows the usual mix-up."""
    if n_embd % n_head == 0:
        return
    divisors = [h for h in range(1, min(n_embd, 10_000) + 1) if n_embd % h == 0]
    nearest = sorted(sorted(divisors, key=lambda h: abs(h - n_head))[:MOST_DIVISORS])
    swapped = n_layer > 1 and n_embd % n_layer == 0
    hint = f"; n_layer={n_layer} would divide it, so n_layer and n_head may be swapped" if swapped else ""
    raise ValueError(
        f"n_embd={n_embd} does not divide by n_head={n_head} (remainder {n_embd % n_head}); "
        f"give n_head one of {', '.join(map(str, nearest))}{hint}."
    )


def token_ids(ids, config, past=0, device=None):
    """`ids` must be (B, T) of int32 or int64 with 1 <= T <= n_ctx - past and values from 0 to vocab_size - 1.

    past: tokens before these, None where only the last n_ctx are read. device: the model's, which must be that of ids
    too, or None. Compiled code leaves the values to PyTorch.
    """
    if not isinstance(ids, torch.Tensor):
        raise TypeError(f"ids is a {type(ids).__name__}; give a tensor of shape (B, T), as torch.tensor([[1, 2, 3]]).")
    if ids.dtype not in TOKEN_TYPES:
        raise TypeError(f"ids has dtype {ids.dtype}; tokens are whole numbers, so give int64 or int32: ids.long().")
    shape, count = ids.shape, ids.numel()
    if len(shape) != 2:
        raise ValueError(f"ids has shape {tuple(shape)}; give (B, T), for one sequence ids[None, :].")
    if count == 0:
        raise ValueError(f"ids has shape {tuple(shape)} and holds no token; give at least one token.")
    if past is not None and past + shape[1] > config.n_ctx:
        raise ValueError(_too_long(shape[1], config.n_ctx, past))
    if device is not None and ids.device != device:
        raise _elsewhere("ids", ids, device)
    if not ids.is_meta and not torch.compiler.is_compiling():
        in_vocabulary("ids", ids, config.vocab_size)


def in_vocabulary(name, ids, vocab_size, otherwise="(vocab_size - 1)"):
    """`ids`, a tensor with at least one number, must hold numbers from 0 to vocab_size - 1."""
    # one alone, as when a cache is used, is read fast
    low, high = map(int, ids.aminmax()) if ids.numel() > 1 else (int(ids),) * 2
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} holds {wrong}; token ids go from 0 to {vocab_size - 1} {otherwise}.")


def rows(name, value, config, ignored, device):
    """`value` must be (m, T + 1) of int64 with 1 <= T <= n_ctx, of the model's tokens and `ignored` targets.

    Overlapping windows of one text are read as that text, a piece at a time.
    """
    instance(name, value, torch.Tensor)
    if value.dtype != torch.int64 or value.ndim != 2:
        raise ValueError(f"{name} is {value.dtype} of shape {tuple(value.shape)}; give int64 of shape (m, T + 1).")
    if len(value) == 0 or not 2 <= value.shape[1] <= config.n_ctx + 1:
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}; give at least one row of 2 to {config.n_ctx + 1} tokens "
            "(n_ctx + 1: inputs and the last target)."
        )
    if value.device != device:
        raise _elsewhere(name, value, device)
    otherwise = f"for the tokenizer that the model was made for, or are {ignored} for a target that is not counted"
    for piece in pieces(value):
        known = piece[piece != ignored]
        if len(known):
            in_vocabulary(name, known, config.vocab_size, otherwise)
    if all((piece == ignored).all() for piece in pieces(value[:, 1:])):
        raise ValueError(f"{name} holds no target, {ignored} only; give rows with tokens to predict.")


def pieces(rows):
    """All numbers of rows (m, w) in pieces of about a million, in order; where rows overlap, each number once."""
    (m, width), (step, stride) = rows.shape, rows.stride()
    if stride and step % stride == 0 and step <= width * stride:  # one text, as in those that `windows` makes
        rows = rows.as_strided(((m - 1) * (step // stride) + width, 1), (stride, 1))
    return rows.split(max(1, PIECE // rows.shape[1]))


def _elsewhere(name, value, device):
    return ValueError(
        f"{name} is on the device {value.device} and the model on {device}; move one of them, as {name}.to('{device}')."
    )


def _too_long(new, n_ctx, past):
    if past:
        return (
            f"the cache holds {past} tokens and ids adds {new}, more than the context n_ctx={n_ctx} has room for; "
            "give only the tokens that the cache has not seen, or reset it."
        )
    return f"{new} tokens are longer than the context n_ctx={n_ctx}; keep the last {n_ctx}: ids[:, -{n_ctx}:]."


def weights_fit(config):
    """The weights of a model with this config must fit into this machine's memory."""
    needed = sum(config.part_counts()) * torch.get_default_dtype().itemsize
    memory(needed, f"A model with n_embd={config.n_embd}, n_layer={config.n_layer}")


def memory(needed, what, device=None):
    """`needed` bytes must fit into this machine's memory, unless the device (by default the default one) is another."""
    if torch.device(device or torch.get_default_device()).type != "cpu":
        return
    total = _total_memory()
    if needed > total:
        raise ValueError(
            f"{what} needs {needed / 1e9:,.1f} GB and this machine has {total / 1e9:,.1f} GB; "
            "choose smaller sizes, or build it under torch.device('meta'), which counts without memory."
        )


def _total_memory():
    """Bytes of memory that this machine, or the container around this process, has."""
    import psutil  # here, so that the model itself needs torch alone

    total = psutil.virtual_memory().total
    try:
        return min(total, int(MEMORY_LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no limit here, or "max"
        return total
