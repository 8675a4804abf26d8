"""The KV cache: the keys and values of the tokens that a model has read, so that it reads none of them twice.

Shapes use the model's alphabet; S = tokens seen so far, the new ones included.
"""

import copy
import math
from typing import NamedTuple

import torch

from utils import validate
from utils.config import ModelConfig


class LayerCache(NamedTuple):
    """One layer's part of a KVCache during one pass: keys and values of all S tokens, the T new ones last, as views."""

    k: torch.Tensor  # (B, H, S, d_head)
    v: torch.Tensor  # (B, H, S, d_head)

    def append(self, k, v):
        """Keep the new tokens' keys and values, (B, H, T, d_head) each -> those of all tokens, (B, H, S, d_head)."""
        T = k.shape[2]
        self.k[:, :, -T:] = k  # (B, H, T, d_head)
        self.v[:, :, -T:] = v  # (B, H, T, d_head)
        return self.k, self.v  # (B, H, S, d_head) twice


class KVCache:
    """Room for the keys and values of all layers, filled as the model reads: `model(ids, cache=cache)`.

    config: the model's. batch_size: sequences side by side (B). dtype, device: the model's. The memory is taken
    at once, for n_ctx tokens; what k and v hold past `length` has no meaning. Raises ValueError or TypeError for a
    batch size below 1, of another type or too large for this machine's memory.
    """

    def __init__(self, config, batch_size=1, dtype=torch.float32, device=None):
        batch_size = validate.whole_number("batch_size", batch_size)
        validate.instance("dtype", dtype, torch.dtype)
        shape = _shape(config, batch_size)
        validate.memory(math.prod(shape) * dtype.itemsize, f"A KVCache with batch_size={batch_size}", device)
        self.kv = torch.empty(shape, dtype=dtype, device=device)  # (L, 2, B, H, n, d_head)
        self.length, self.made_for = 0, (config, batch_size, dtype)

    def __repr__(self):
        n_layer, _, batch, _, n_ctx, _ = self.kv.shape
        return f"KVCache({self.length} of {n_ctx} tokens, batch {batch}, {n_layer} layers, {self.nbytes:,} bytes)"

    @property
    def k(self) -> torch.Tensor:
        """The keys, (L, B, H, n, d_head), a view."""
        return self.kv[:, 0]  # (L, B, H, n, d_head)

    @property
    def v(self) -> torch.Tensor:
        """The values, (L, B, H, n, d_head), a view."""
        return self.kv[:, 1]  # (L, B, H, n, d_head)

    @property
    def nbytes(self) -> int:
        """Bytes allocated: 2 * L * B * n * d times the bytes of one number, however many tokens are held."""
        return self.kv.nbytes

    def reset(self):
        """Forget every token and keep the memory."""
        self.length = 0

    def copy(self) -> "KVCache":
        """A second cache with the same tokens, so that one prompt can be continued in several ways."""
        twin = copy.copy(self)
        twin.kv = self.kv.clone()  # (L, 2, B, H, n, d_head)
        return twin

    def layers(self, count) -> list[LayerCache]:
        """What each layer works on while the model reads `count` tokens more.

        `length` moves only when the model has passed all layers.
        """
        seen = self.kv.narrow(4, 0, self.length + count)  # (L, 2, B, H, S, d_head)
        parts = seen.flatten(0, 1).unbind()  # k, v, k, v …, each (B, H, S, d_head)
        return list(map(LayerCache, parts[::2], parts[1::2]))  # (B, H, S, d_head) twice for each layer


def layer_caches(cache, config, batch_size, count, dtype) -> list[LayerCache] | list[None]:
    """A cache's LayerCaches for `count` new tokens of a model with this config; None for each layer without a cache.

    Raises TypeError or ValueError for what is no KVCache, or was made for another model or batch.
    """
    if cache is None:
        return [None] * config.n_layer
    if not isinstance(cache, KVCache):
        raise TypeError(f"cache is a {type(cache).__name__}; give a KVCache(model.config) or None.")
    if cache.made_for != (config, batch_size, dtype):  # for the same config at once
        fitting = _shape(config, batch_size)
        if cache.kv.shape != fitting or cache.kv.dtype != dtype:
            raise ValueError(_misfit(tuple(cache.kv.shape), fitting, cache.kv.dtype, dtype))
    return cache.layers(count)


def _shape(config, batch_size):
    if not isinstance(config, ModelConfig):
        raise validate.wrong_type("config", config, "give a GPTConfig, as model.config is")
    # fewer heads where several share keys and values
    return config.n_layer, 2, batch_size, config.n_kv_head, config.n_ctx, config.d_head


def _misfit(given, fitting, dtype, wanted):
    if given == fitting:
        return f"the cache holds {dtype}, the model {wanted}; make it with KVCache(config, dtype={wanted})."
    if given[2] != fitting[2]:
        return (
            f"ids holds {fitting[2]} sequences and the cache was made for {given[2]}; "
            f"make it with KVCache(config, batch_size={fitting[2]})."
        )
    layers, _, _, heads, n_ctx, d_head = given
    return (
        f"the cache was made for L={layers}, H={heads}, n_ctx={n_ctx}, d_head={d_head} and the model has "
        f"{fitting[0]}, {fitting[3]}, {fitting[4]}, {fitting[5]}; make it with KVCache(model.config)."
    )
