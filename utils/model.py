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
from utils.cache import KVCache, layer_caches
from utils.config import ModelConfig
from utils.tying import TiedModule

__all__ = ["GPT", "MLP", "Block", "CausalSelfAttention", "GPTConfig", "KVCache"]

ACTIVATIONS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu": F.gelu, "relu": F.relu}
INIT_STD = 0.02


@dataclass(frozen=True)
class GPTConfig(ModelConfig):
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
        self.check_sizes()
        if self.n_inner is not None:
            width = validate.whole_number("n_inner", self.n_inner, otherwise="or None, which means 4 * n_embd")
            object.__setattr__(self, "n_inner", width)
        validate.one_of("activation", self.activation, ACTIVATIONS)
        self.check_positive("layer_norm_epsilon", "a small float above 0, 1e-5 in GPT-2")

    @property
    def d_ff(self) -> int:
        """Width of the MLP's hidden layer: n_inner, or 4d."""
        return self.n_inner or 4 * self.n_embd

    @property
    def n_kv_head(self) -> int:
        """Heads whose keys and values a cache keeps: all of them."""
        return self.n_head

    def build(self) -> "GPT":
        """A GPT of these sizes with fresh weights."""
        return GPT(self)

    def part_counts(self) -> tuple[int, ...]:
        """Parameters of each part; see ModelConfig."""
        V, n, d, L, d_ff = self.vocab_size, self.n_ctx, self.n_embd, self.n_layer, self.d_ff
        head = 0 if self.tied else V * d
        return V * d, n * d, L * (4 * d * d + 4 * d), L * (2 * d * d_ff + d_ff + d), L * 4 * d, 2 * d, head


def attend(q, k, v, layer_cache=None):
    """softmax(q k^T / sqrt(d_head)) v: each of the T queries looks at itself and the tokens before it.

    q (B, H, T, d_head), k and v the same or with fewer heads, which groups of queries then share -> (B, H, T, d_head).
    With a LayerCache, the tokens in it are looked at too and the new ones kept.
    """
    if layer_cache is not None:
        k, v = layer_cache.append(k, v)  # (B, H, T, d_head) -> (B, H, S, d_head)
    T, S = q.shape[2], k.shape[2]
    # is_causal lines the first query up with the first key; the T queries are the last of S tokens
    mask = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T) if 1 < T < S else None  # (T, S)
    shared = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=T == S, enable_gqa=shared)  # (B, H, T, d_head)


class CausalSelfAttention(nn.Module):
    """Every token gathers from itself and the tokens before it: softmax(q k^T / sqrt(d_head)) v, in H heads."""

    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)

    def queries_keys_values(self, x):
        """x (B, T, d) -> q, k, v, each (B, H, T, d_head)."""
        B, T, _ = x.shape
        qkv = self.c_attn(x).view(B, T, 3, self.n_head, -1)  # (B, T, d) -> (B, T, 3d) -> (B, T, 3, H, d_head)
        return qkv.transpose(1, 3).unbind(2)  # (B, H, 3, T, d_head) -> 3 times (B, H, T, d_head)

    def forward(self, x, layer_cache=None):
        """x (B, T, d) -> (B, T, d); with a LayerCache, the tokens in it are looked at too and the new ones kept."""
        y = attend(*self.queries_keys_values(x), layer_cache)  # (B, H, T, d_head)
        return self.c_proj(y.transpose(1, 2).flatten(2))  # (B, T, H, d_head) -> (B, T, d)


class MLP(nn.Module):
    """Every token on its own: widen to d_ff, bend, narrow to d."""

    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, config.d_ff)
        self.c_proj = nn.Linear(config.d_ff, config.n_embd)
        self.activation = config.activation

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        x = ACTIVATIONS[self.activation](self.c_fc(x))  # (B, T, d) -> (B, T, d_ff)
        return self.c_proj(x)  # (B, T, d_ff) -> (B, T, d)


class Block(nn.Module):
    """Pre-norm: each half normalises what it reads and adds what it found to the residual stream."""

    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = MLP(config)

    def forward(self, x, layer_cache=None):
        """x (B, T, d) -> (B, T, d); layer_cache: see CausalSelfAttention."""
        x = x + self.attn(self.ln_1(x), layer_cache)  # (B, T, d)
        return x + self.mlp(self.ln_2(x))  # (B, T, d)


class GPT(TiedModule):
    """A whole GPT-2: one token table that works at both ends, a position table, L blocks, a final layer norm.

    Fresh weights follow Hugging Face's port of GPT-2: normal with std 0.02 (OpenAI's code draws wpe with 0.01),
    residual projections 0.02 / sqrt(2L), biases 0; they come from torch's default generator, and one seed gives the
    same table, blocks and norms whether the head is tied or not.
    With config.tied, `lm_head.weight is wte.weight` stays true through deepcopy, pickle, `to`, `to_empty` and
    `load_state_dict`, with assign=True as well. Raises ValueError if the weights alone exceed this machine's memory.
    """

    Config = GPTConfig
    residual = ("c_proj",)  # the projections that add to the stream

    def __init__(self, config):
        super().__init__()
        validate.instance("config", config, self.Config)
        validate.weights_fit(config)
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self._build_middle(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.tie()
        self._init_weights()

    def _build_middle(self, config):
        """Make what stands between the table's two jobs."""
        self.wpe = nn.Embedding(config.n_ctx, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)

    def tie(self):
        """Let the head be the token table, if config.tied."""
        if self.config.tied:
            self.lm_head.weight = self.wte.weight  # one Parameter, two jobs

    @torch.no_grad()
    def _init_weights(self):
        residual_std = INIT_STD / math.sqrt(2 * self.config.n_layer)  # two additions to the stream in each block
        for name, parameter in self.named_parameters():  # a tied head is not met a second time
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, std=residual_std if name.split(".")[-2] in self.residual else INIT_STD)

    def hidden(self, ids, past, layers):
        """ids (B, T), which stand after `past` other tokens -> (B, T, d): what the head reads."""
        x = self.wte(ids) + self.wpe.weight[past : past + ids.shape[1]]  # (B, T, d) + (T, d) -> (B, T, d)
        for block, layer_cache in zip(self.h, layers, strict=True):
            x = block(x, layer_cache)  # (B, T, d)
        return self.ln_f(x)  # (B, T, d)

    def forward(self, ids, cache=None):
        """ids (B, T), int32 or int64, each from 0 to V - 1 -> logits (B, T, V): a score per token at each position.

        With a KVCache, ids are the new tokens only: they are appended to it, and no gradient flows.
        Raises TypeError or ValueError for ids of the wrong type, shape, range or device, for more than n_ctx tokens,
        and for a cache that was made for another model or batch; the cache is then as it was.
        """
        if cache is not None and torch.is_grad_enabled():
            with torch.no_grad():
                return self.forward(ids, cache)  # (B, T, V)
        past = getattr(cache, "length", 0)  # 0 for None, and for what is no cache: that is refused below
        # what follows in a cache lies where the tokens before it lie
        validate.token_ids(ids, self.config, past, None if past else self.wte.weight.device)
        layers = layer_caches(cache, self.config, *ids.shape, self.wte.weight.dtype)
        logits = self.lm_head(self.hidden(ids, past, layers))  # (B, T) -> (B, T, d) -> (B, T, V)
        if cache is not None:
            cache.length += ids.shape[1]
        return logits
