"""The one definition of the model: GPT-2's architecture, small enough to read in one sitting.

Shapes in comments use one alphabet: B batch, T tokens in this call, V vocab_size, n n_ctx, d n_embd, H n_head,
d_head = d / H, d_ff, L n_layer, and S = tokens seen so far, those in the cache included; 2: keys, values.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from utils import validate

ACTIVATIONS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu": F.gelu, "relu": F.relu}
INIT_STD = 0.02


@dataclass(frozen=True)
class GPTConfig:
    """The sizes of a GPT, checked when they are given.

    vocab_size (V), n_ctx (n), n_embd (d), n_layer (L), n_head (H): whole numbers from 1; d must divide by H.
    tied: the head shares the token table. n_inner: the MLP's width d_ff, 4d if None. activation: one of
    "gelu_tanh" (GPT-2's), "gelu", "relu". layer_norm_epsilon: added to the variance, 1e-5 in GPT-2.
    Raises ValueError for a value that no model can have and TypeError for a value of the wrong type.
    """

    vocab_size: int
    n_ctx: int
    n_embd: int
    n_layer: int
    n_head: int
    tied: bool = True
    n_inner: int | None = None
    activation: str = "gelu_tanh"
    layer_norm_epsilon: float = 1e-5

    def __post_init__(self):
        for name in ("vocab_size", "n_ctx", "n_embd", "n_layer", "n_head"):
            size = validate.whole_number(name, getattr(self, name))
            object.__setattr__(self, name, size)  # an int in place of NumPy's, which can overflow
        if self.n_inner is not None:
            width = validate.whole_number("n_inner", self.n_inner, otherwise="or None, which means 4 * n_embd")
            object.__setattr__(self, "n_inner", width)
        validate.divides(self.n_embd, self.n_head, self.n_layer)
        validate.flag("tied", self.tied)
        validate.one_of("activation", self.activation, ACTIVATIONS)
        validate.number("layer_norm_epsilon", self.layer_norm_epsilon, "a small float above 0, 1e-5 in GPT-2")
        if not 0 < self.layer_norm_epsilon < math.inf:
            raise ValueError(
                f"layer_norm_epsilon={self.layer_norm_epsilon} must be above 0 and finite; GPT-2 uses 1e-5."
            )

    @property
    def d_head(self) -> int:
        """Width of one head: d / H."""
        return self.n_embd // self.n_head

    @property
    def d_ff(self) -> int:
        """Width of the MLP's hidden layer: n_inner, or 4d."""
        return self.n_inner or 4 * self.n_embd


class KVCache:
    """Room for the keys and values of all layers, filled as the model reads: `model(ids, cache=cache)`.

    config: the model's. batch_size: sequences side by side (B). dtype, device: the model's. The memory is taken
    at once, for n_ctx tokens; what k and v hold past `length` has no meaning. Raises ValueError or TypeError for a
    batch size below 1, of another type or too large for this machine's memory.
    """

    def __init__(self, config, batch_size=1, dtype=torch.float32, device=None):
        validate.instance("config", config, GPTConfig)
        batch_size = validate.whole_number("batch_size", batch_size)
        validate.instance("dtype", dtype, torch.dtype)
        shape = (config.n_layer, 2, batch_size, config.n_head, config.n_ctx, config.d_head)
        validate.memory(math.prod(shape) * dtype.itemsize, f"A KVCache with batch_size={batch_size}", device)
        self.kv = torch.empty(shape, dtype=dtype, device=device)  # (L, 2, B, H, n, d_head)
        self.length = 0

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
        twin = object.__new__(KVCache)
        twin.kv, twin.length = self.kv.clone(), self.length
        return twin

    def layers(self, new):
        """A view of (2, B, H, S, d_head) for each layer: what is held, and behind it room for `new` tokens.

        The layers fill that room; `length` moves only when the model has passed all of them.
        """
        return self.kv[..., : self.length + new, :].unbind()  # L times (2, B, H, S, d_head)


class Linear(nn.Linear):
    """PyTorch's, by the shortest way to its parameters: a detour is felt when a small model generates."""

    def forward(self, x):
        """x (..., in_features) -> (..., out_features)."""
        return F.linear(x, **self._parameters)  # (B, T, out_features)


class LayerNorm(nn.LayerNorm):
    """PyTorch's, by the shortest way, as Linear."""

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        return torch.layer_norm(x, self.normalized_shape, **self._parameters, eps=self.eps)  # (B, T, d)


class CausalSelfAttention(nn.Module):
    """Every token gathers from itself and the tokens before it: softmax(q k^T / sqrt(d_head)) v, in H heads."""

    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = Linear(config.n_embd, config.n_embd)

    def forward(self, x, held=None):
        """x (B, T, d) -> (B, T, d); held, one of KVCache.layers: look at it too, after writing to its last T places."""
        qkv = self.c_attn(x).view(*x.shape[:2], 3, self.n_head, -1).permute(2, 0, 3, 1, 4)  # (3, B, H, T, d_head)
        q, kv = qkv[0], qkv[1:]  # (B, H, T, d_head) and (2, B, H, T, d_head)
        if held is not None:
            held[..., -x.shape[1] :, :] = kv  # (2, B, H, T, d_head)
            kv = held  # (2, B, H, S, d_head)
        # one token alone is the newest, which may look at everything
        causal = _causal(x.shape[1], kv.shape[3], x.device) if x.shape[1] > 1 else {}  # holds a mask (T, S), or nothing
        y = F.scaled_dot_product_attention(q, *kv, **causal)  # (B, H, T, d_head)
        y = y.transpose(1, 2).flatten(2)  # (B, H, T, d_head) -> (B, T, H, d_head) -> (B, T, d)
        return self.c_proj(y)  # (B, T, d)


def _causal(n_queries, n_keys, device):
    """How each of the last n_queries tokens is kept from looking ahead, as arguments of PyTorch's attention."""
    if n_queries == n_keys:
        return {"is_causal": True}
    # is_causal would line the mask up with the first key, but the queries are the last tokens
    mask = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(n_keys - n_queries)  # (T, S)
    return {"attn_mask": mask}


class MLP(nn.Module):
    """Every token on its own: widen to d_ff, bend, narrow to d."""

    def __init__(self, config):
        super().__init__()
        self.c_fc = Linear(config.n_embd, config.d_ff)
        self.c_proj = Linear(config.d_ff, config.n_embd)
        self.activation = config.activation

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        x = ACTIVATIONS[self.activation](self.c_fc(x))  # (B, T, d) -> (B, T, d_ff)
        return self.c_proj(x)  # (B, T, d_ff) -> (B, T, d)


class Block(nn.Module):
    """Pre-norm: each half normalises what it reads and adds what it found to the residual stream."""

    def __init__(self, config):
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = MLP(config)

    def forward(self, x, held=None):
        """x (B, T, d) -> (B, T, d); held: see CausalSelfAttention."""
        x = x + self.attn(self.ln_1(x), held)  # (B, T, d)
        return x + self.mlp(self.ln_2(x))  # (B, T, d)


class GPT(nn.Module):
    """A whole GPT-2: one token table that works at both ends, a position table, L blocks, a final layer norm.

    Fresh weights follow Hugging Face's port of GPT-2: normal with std 0.02 (OpenAI's code draws wpe with 0.01),
    residual projections 0.02 / sqrt(2L), biases 0; they come from torch's default generator, and one seed gives the
    same table, blocks and norms whether the head is tied or not.
    With config.tied, `lm_head.weight is wte.weight` stays true through deepcopy, pickle, `to`, `to_empty` and
    `load_state_dict`, with assign=True as well. Raises ValueError if the weights alone exceed this machine's memory.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        validate.instance("config", config, GPTConfig)
        validate.memory(_weight_bytes(config), f"A GPT with n_embd={config.n_embd}, n_layer={config.n_layer}")
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_ctx, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.lm_head = Linear(config.n_embd, config.vocab_size, bias=False)
        self._tie()
        self._init_weights()
        self.register_load_state_dict_pre_hook(_share_head)
        self.register_load_state_dict_post_hook(GPT._tie)

    def forward(self, ids, cache=None):
        """ids (B, T), int32 or int64, each from 0 to V - 1 -> logits (B, T, V): a score per token at each place.

        With a KVCache, ids are the new tokens only: they are appended to it, and no gradient flows.
        Raises TypeError or ValueError for ids of the wrong type, shape or range, for more than n_ctx tokens,
        and for a cache that was made for another model or batch; the cache is then as it was.
        """
        if cache is not None and torch.is_grad_enabled():
            with torch.no_grad():
                return self.forward(ids, cache)  # (B, T, V)
        past = getattr(cache, "length", 0)  # 0 for None, and for what is no cache: that is refused below
        validate.token_ids(ids, self.config.vocab_size, self.config.n_ctx, past)
        x = self.wte(ids) + self.wpe.weight[past : past + ids.shape[1]]  # (B, T, d) + (T, d) -> (B, T, d)
        for block, held in zip(self.h, self._layers(cache, x), strict=True):
            x = block(x, held)  # (B, T, d)
        logits = self.lm_head(self.ln_f(x))  # (B, T, d) -> (B, T, V)
        if cache is not None:
            cache.length += ids.shape[1]
        return logits

    def _layers(self, cache, x):
        if cache is None:
            return [None] * len(self.h)
        if not isinstance(cache, KVCache):
            raise TypeError(f"cache is a {type(cache).__name__}; give a KVCache(model.config) or None.")
        validate.cache(cache.kv, self.config, x)
        return cache.layers(x.shape[1])

    def _tie(self, *_):
        # after loading, too: assign=True has put a separate Parameter under each of the two names
        if self.config.tied:
            self.lm_head.weight = self.wte.weight  # one Parameter, two jobs

    @torch.no_grad()
    def _init_weights(self):
        residual_std = INIT_STD / math.sqrt(2 * self.config.n_layer)  # two additions to the stream in each block
        for name, parameter in self.named_parameters():  # a tied head is not met a second time
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, std=residual_std if "c_proj" in name else INIT_STD)

    def _apply(self, fn, recurse=True):
        # `to`, `half`, `to_empty` … all pass here; some of them make a new Parameter for each name
        super()._apply(fn, recurse)
        self._tie()
        return self


def _share_head(model, state, prefix, *_):
    """Before loading: let one entry serve both names of a tied table, and refuse two that differ."""
    if not model.config.tied:
        return
    table, head = prefix + "wte.weight", prefix + "lm_head.weight"
    if table in state and head in state:
        if not _same(state[table], state[head]):
            raise ValueError(
                f"{table} and {head} differ, but this model shares one table for both; "
                "load them into a model with tied=False, or drop one of the two entries."
            )
    elif table in state or head in state:
        state.setdefault(table, state.get(head))
        state.setdefault(head, state[table])


def _same(a, b):
    alike = (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)
    # is_set_to: one tensor under two names is the same, even when it holds NaN
    return alike and (a.is_meta or a.is_set_to(b) or torch.equal(a, b))


def _weight_bytes(c):
    matrices = c.n_layer * c.n_embd * (4 * c.n_embd + 2 * c.d_ff)
    tables = c.n_embd * (c.n_ctx + c.vocab_size * (1 if c.tied else 2))
    return (matrices + tables) * torch.get_default_dtype().itemsize  # biases and norms are too small to matter here
