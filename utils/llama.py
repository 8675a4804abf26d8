"""Llama: the architecture on which most open models since 2023 build, as five changes to the GPT of `utils.model`.

RMSNorm for the layer norm, no biases, rotary positions for the position table, SwiGLU for the MLP, and query heads
that share keys and values. What is not here is the GPT's: the two jobs of the token table, the residual stream, the
cache, the way from ids to logits. Shapes use the model's alphabet, and G for n_kv_head.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from utils.config import ModelConfig
from utils.model import GPT, attend

__all__ = ["Llama", "LlamaBlock", "LlamaConfig", "rotate", "rotation"]


@dataclass(frozen=True)
class LlamaConfig(ModelConfig):
    """The sizes of a Llama, checked when they are given.

    vocab_size (V), n_ctx (n), n_embd (d), n_layer (L), n_head (H), n_kv_head (G), n_inner (d_ff): whole numbers from
    1; d must divide by H into heads of even width, and H by G. tied: the head shares the token table. rope_theta:
    the larger, the slower the later pairs of a head turn, 10,000 in the first Llama. rms_norm_eps: added to the square.
    Raises ValueError for a value that no model can have and TypeError for a value of the wrong type.
    """

    vocab_size: int
    n_ctx: int
    n_embd: int
    n_layer: int
    n_head: int
    n_kv_head: int
    n_inner: int
    tied: bool = True
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-5

    def __post_init__(self):
        self.check_sizes("n_kv_head", "n_inner")
        if self.n_head % self.n_kv_head:
            raise ValueError(
                f"n_kv_head={self.n_kv_head} does not divide n_head={self.n_head}; give one of its divisors, "
                "so that each key-value head serves equally many query heads."
            )
        if self.d_head % 2:
            raise ValueError(
                f"n_embd={self.n_embd} and n_head={self.n_head} make heads of width {self.d_head}, which is odd; "
                "give sizes that make it even, since rotary positions turn pairs of numbers."
            )
        self.check_positive("rope_theta", "a number above 0, 10,000 in the first Llama")
        self.check_positive("rms_norm_eps", "a small float above 0, such as 1e-5")

    @property
    def d_ff(self) -> int:
        """Width of the MLP's hidden layer: n_inner."""
        return self.n_inner

    def build(self) -> "Llama":
        """A Llama of these sizes with fresh weights."""
        return Llama(self)

    def part_counts(self) -> tuple[int, ...]:
        """Parameters of each part; see ModelConfig."""
        V, d, L, d_ff = self.vocab_size, self.n_embd, self.n_layer, self.d_ff
        shared = self.n_kv_head * self.d_head  # width of all keys of a token
        return V * d, 0, L * 2 * d * (d + shared), L * 3 * d * d_ff, L * 2 * d, d, 0 if self.tied else V * d


def speeds(d_head, theta, device=None):
    """How far each pair of a head turns in one position, in radians, float32: (d_head / 2)."""
    return theta ** -(torch.arange(0, d_head, 2, dtype=torch.float32, device=device) / d_head)  # (d_head / 2)


def rotation(past, count, d_head, theta, dtype=None, device=None):
    """cos and sin of the angles of `count` positions, which stand after `past` others -> two of (count, d_head / 2).

    Pair i turns by theta^(-2i / d_head) a position (Su et al. 2021, section 3.3). The angles are float32, whatever
    the type of the result.
    """
    places = torch.arange(past, past + count, device=device)  # (T)
    angles = torch.outer(places, speeds(d_head, theta, device))  # (T, d_head / 2)
    return angles.cos().to(dtype=dtype), angles.sin().to(dtype=dtype)  # (T, d_head / 2) twice


def rotate(x, cos, sin):
    """Turn each pair (x[i], x[i + d_head / 2]) by its position's angle: (..., T, d_head) -> (..., T, d_head).

    These are the pairs of Hugging Face's files; Su et al. 2021 and Meta's own code pair neighbours.
    """
    a, b = x.chunk(2, dim=-1)  # (..., T, d_head) -> twice (..., T, d_head / 2)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)  # (..., T, d_head)


class LlamaAttention(nn.Module):
    """Causal attention in H heads, each group of H / G sharing one head's keys and values (Ainslie et al. 2023)."""

    def __init__(self, config):
        super().__init__()
        kept = config.n_kv_head * config.d_head
        self.d_head = config.d_head
        self.q_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.k_proj = nn.Linear(config.n_embd, kept, bias=False)
        self.v_proj = nn.Linear(config.n_embd, kept, bias=False)
        self.o_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)

    def queries_keys_values(self, x, turn):
        """x (B, T, d), turn: cos and sin -> q (B, H, T, d_head), k and v (B, G, T, d_head); q and k are turned."""
        projected = self.q_proj(x), self.k_proj(x), self.v_proj(x)  # (B, T, H d_head), twice (B, T, G d_head)
        q, k, v = (
            part.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for part in projected
        )  # (B, H or G, T, d_head)
        return rotate(q, *turn), rotate(k, *turn), v  # (B, H, T, d_head) and twice (B, G, T, d_head)

    def forward(self, x, layer_cache, turn):
        """x (B, T, d) -> (B, T, d); with a LayerCache, the tokens in it are looked at too and the new ones kept."""
        y = attend(*self.queries_keys_values(x, turn), layer_cache)  # (B, H, T, d_head)
        return self.o_proj(y.transpose(1, 2).flatten(2))  # (B, T, H, d_head) -> (B, T, d)


class SwiGLU(nn.Module):
    """Every token on its own: one projection, bent by SiLU, gates another (Shazeer 2020, section 2)."""

    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.n_embd, config.d_ff, bias=False)
        self.up_proj = nn.Linear(config.n_embd, config.d_ff, bias=False)
        self.down_proj = nn.Linear(config.d_ff, config.n_embd, bias=False)

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        x = F.silu(self.gate_proj(x)) * self.up_proj(x)  # (B, T, d) -> (B, T, d_ff)
        return self.down_proj(x)  # (B, T, d_ff) -> (B, T, d)


class LlamaBlock(nn.Module):
    """Pre-norm as in GPT-2's block; the norms divide by the root mean square (Zhang and Sennrich 2019)."""

    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.RMSNorm(config.n_embd, eps=config.rms_norm_eps)
        self.attn = LlamaAttention(config)
        self.ln_2 = nn.RMSNorm(config.n_embd, eps=config.rms_norm_eps)
        self.mlp = SwiGLU(config)

    def forward(self, x, layer_cache, turn):
        """x (B, T, d) -> (B, T, d); turn: cos and sin of the positions."""
        x = x + self.attn(self.ln_1(x), layer_cache, turn)  # (B, T, d)
        return x + self.mlp(self.ln_2(x))  # (B, T, d)


class Llama(GPT):
    """A whole Llama (Touvron et al. 2023; keys and values are shared in Llama 2's larger models): a changed GPT.

    It is used as a GPT is: `model(ids)`, `model(ids, cache=cache)`, `generate(model, …)`; fresh weights are drawn as
    a GPT's. It has no position table: n_ctx bounds a sequence because a cache needs a size, not because a row is
    missing. Raises ValueError if the weights alone exceed this machine's memory.
    """

    Config = LlamaConfig
    residual = ("o_proj", "down_proj")

    def _build_middle(self, config):
        self.h = nn.ModuleList(LlamaBlock(config) for _ in range(config.n_layer))
        self.ln_f = nn.RMSNorm(config.n_embd, eps=config.rms_norm_eps)

    def hidden(self, ids, past, layers):
        """ids (B, T), which stand after `past` other tokens -> (B, T, d): what the head reads."""
        x = self.wte(ids)  # (B, T) -> (B, T, d)
        sizes = past, x.shape[1], self.config.d_head, self.config.rope_theta
        turn = rotation(*sizes, x.dtype, x.device)  # (T, d_head / 2) twice
        for block, layer_cache in zip(self.h, layers, strict=True):
            x = block(x, layer_cache, turn)  # (B, T, d)
        return self.ln_f(x)  # (B, T, d)
