"""Bad input becomes one sentence: what was given, what is allowed, what to do. Called before anything changes."""

import math
import sys
from numbers import Integral, Real
from pathlib import Path

import torch

TOKEN_TYPES = torch.int64, torch.int32
LARGEST_FLOAT = int(sys.float_info.max)
MOST_DIVISORS = 20  # named in one sentence: all of 768's
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")


def whole_number(name, value, low=1, otherwise=""):
    """`value` as an int (it may be NumPy's); TypeError or ValueError unless it is whole and at least `low`."""
    allowed = f"it must be a whole number from {low} up {otherwise}".strip()
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _wrong_type(name, value, allowed)
    if value < low:
        raise ValueError(f"{name}={value} is too small; {allowed}.")
    return int(value)


def number(name, value, allowed):
    """`value` must be an int or a float, and not NaN; `allowed` says in words what it may be."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong_type(name, value, f"give {allowed}")
    if isinstance(value, Integral) and abs(value) > LARGEST_FLOAT:
        raise ValueError(f"{name} is larger than any float; give {allowed}.")
    if math.isnan(value):
        raise ValueError(f"{name} is NaN; give {allowed}.")


def flag(name, value):
    """`value` must be True or False."""
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "give True or False")


def instance(name, value, kind):
    """`value` must be a `kind`."""
    if not isinstance(value, kind):
        raise _wrong_type(name, value, f"give a {kind.__name__}")


def cache(kv, config, x):
    """`kv`, a KVCache's store (L, 2, B, H, n, d_head), must fit this model and its new tokens x (B, T, d)."""
    fitting = (config.n_layer, 2, len(x), config.n_head, config.n_ctx, config.d_head)
    if kv.shape == fitting and kv.dtype == x.dtype:
        return
    layers, _, batch, heads, n_ctx, d_head = kv.shape
    if batch != len(x):
        raise ValueError(
            f"ids holds {len(x)} sequences and the cache was made for {batch}; "
            f"make it with KVCache(config, batch_size={len(x)})."
        )
    if (layers, heads, n_ctx, d_head) != (config.n_layer, config.n_head, config.n_ctx, config.d_head):
        raise ValueError(
            f"the cache was made for L={layers}, H={heads}, n_ctx={n_ctx}, d_head={d_head} and the model has "
            f"{config.n_layer}, {config.n_head}, {config.n_ctx}, {config.d_head}; make it with KVCache(model.config)."
        )
    raise ValueError(f"the cache holds {kv.dtype}, the model {x.dtype}; make it with KVCache(config, dtype={x.dtype}).")


def _wrong_type(name, value, allowed):
    shown = " ".join(repr(value).split())  # an array's repr has several lines
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return TypeError(f"{name}={shown} is of type {type(value).__name__}; {allowed}.")


def one_of(name, value, choices):
    """`value` must be one of the names in `choices`."""
    allowed = f"choose one of {', '.join(map(repr, choices))}"
    if not isinstance(value, str):
        raise _wrong_type(name, value, allowed)
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


def token_ids(ids, vocab_size, n_ctx=None, past=0):
    """`ids` must be (B, T) of int32 or int64 with 1 <= T <= n_ctx - past and values from 0 to vocab_size - 1."""
    if not isinstance(ids, torch.Tensor):
        raise TypeError(f"ids is a {type(ids).__name__}; give a tensor of shape (B, T), as torch.tensor([[1, 2, 3]]).")
    if ids.dtype not in TOKEN_TYPES:
        raise TypeError(f"ids has dtype {ids.dtype}; tokens are whole numbers, so give int64 or int32: ids.long().")
    shape, count = ids.shape, ids.numel()
    if len(shape) != 2:
        raise ValueError(f"ids has shape {tuple(shape)}; give (B, T), for one sequence ids[None, :].")
    if count == 0:
        raise ValueError(f"ids has shape {tuple(shape)} and holds no token; give at least one token.")
    if n_ctx is not None and past + shape[1] > n_ctx:
        raise ValueError(_too_long(shape[1], n_ctx, past))
    if ids.is_meta:
        return
    if count == 1:  # as when a cache is used
        low = high = int(ids)
    else:
        low, high = map(int, ids.aminmax())
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(f"ids holds {wrong}; token ids go from 0 to {vocab_size - 1} (vocab_size - 1).")


def rows(name, value, config, ignored):
    """`value` must be (m, T + 1) of int64 with 1 <= T <= n_ctx, of the model's tokens and `ignored` targets."""
    instance(name, value, torch.Tensor)
    if value.dtype != torch.int64 or value.ndim != 2:
        raise ValueError(f"{name} is {value.dtype} of shape {tuple(value.shape)}; give int64 of shape (m, T + 1).")
    if len(value) == 0 or not 2 <= value.shape[1] <= config.n_ctx + 1:
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}; give at least one row of 2 to {config.n_ctx + 1} tokens "
            "(n_ctx + 1: inputs and the last target)."
        )
    known = value[value != ignored]
    if len(known) and (known.min() < 0 or known.max() >= config.vocab_size):
        wrong = int(known.min() if known.min() < 0 else known.max())
        raise ValueError(
            f"{name} holds {wrong}, and the model's tokens go from 0 to {config.vocab_size - 1}; use the tokenizer "
            f"that the model was made for, or {ignored} for a target that is not counted."
        )
    if (value[:, 1:] == ignored).all():
        raise ValueError(f"{name} holds no target, {ignored} only; give rows with tokens to predict.")


def _too_long(new, n_ctx, past):
    if past:
        return (
            f"the cache holds {past} tokens and ids adds {new}, more than the context n_ctx={n_ctx} has room for; "
            "give only the tokens that the cache has not seen, or reset it."
        )
    return f"{new} tokens are longer than the context n_ctx={n_ctx}; keep the last {n_ctx}: ids[:, -{n_ctx}:]."


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
