"""GPT-2 as one writes it first in plain PyTorch, in nanoGPT's manner: what the course's model is measured against.

Written anew for this comparison: torch.nn's own layers, exact GELU, split and merged heads, a tied head; and AdamW as
nanoGPT sets it up on a CPU: two groups, not fused.
"""

import torch
import torch.nn.functional as F
from torch import nn


class PlainAttention(nn.Module):
    """Causal self-attention over all heads."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.into, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        B, T, d = x.size()
        q, k, v = self.into(x).split(d, dim=2)
        q, k, v = (part.view(B, T, self.heads, d // self.heads).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, d))


class PlainBlock(nn.Module):
    """Attention and MLP, each after a layer norm."""

    def __init__(self, d, heads):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = PlainAttention(d, heads)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        """x (B, T, d) -> (B, T, d)."""
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class PlainGPT(nn.Module):
    """ids (B, T) -> logits (B, T, V)."""

    def __init__(self, c):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(c.vocab_size, c.n_embd), nn.Embedding(c.n_ctx, c.n_embd)
        self.blocks = nn.ModuleList(PlainBlock(c.n_embd, c.n_head) for _ in range(c.n_layer))
        self.norm = nn.LayerNorm(c.n_embd)
        self.head = nn.Linear(c.n_embd, c.vocab_size, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids):
        """ids (B, T) -> logits (B, T, V)."""
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def plain_adamw(model, lr=3e-3):
    """AdamW in two groups: what has two dimensions decays."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))
