"""Three generation loops with a cache and one fault each, for exercise 6.5; what they share is right."""

import torch
import torch.nn.functional as F

from utils.model import KVCache


@torch.no_grad()
def plain_step(model, new, cache, positions, is_causal):
    """The model's pass over new tokens (B, T), with all that a cache changes left to the caller.

    positions (T,): where the new tokens stand. is_causal: whether PyTorch's mask is put on;
    it lines up with the first key.
    Returns the scores after the last token, (B, V); the cache then holds the new tokens too.
    """
    x, heads = model.wte(new) + model.wpe(positions), model.config.n_head  # (B, T, d)
    for block, layer_cache in zip(model.h, cache.layers(new.shape[1]), strict=True):
        parts = block.attn.c_attn(block.ln_1(x)).chunk(3, dim=-1)  # three of (B, T, d)
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
        k, v = layer_cache.append(k, v)  # (B, H, T, d_head) -> (B, H, S, d_head)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        x = x + block.attn.c_proj(y.transpose(1, 2).flatten(2))  # (B, T, d)
        x = x + block.mlp(block.ln_2(x))  # (B, T, d)
    cache.length += new.shape[1]
    return model.lm_head(model.ln_f(x))[:, -1]  # (B, V)


def cached_loop_a(model, ids, n):
    """Loop A: ids (B, T) -> (B, T + n), greedy, one row after another."""
    rows = []
    for row in ids.split(1):
        cache, new = KVCache(model.config), row
        for _ in range(n):
            positions = torch.arange(cache.length, cache.length + new.shape[1])
            logits = plain_step(model, new, cache, positions, is_causal=True)
            new = logits.argmax(-1, keepdim=True)
            row = torch.cat([row, new], dim=1)
        rows.append(row)
    return torch.cat(rows)


def cached_loop_b(model, ids, n):
    """Loop B: ids (B, T) -> (B, T + n), greedy, one row after another."""
    rows, cache = [], KVCache(model.config)
    for row in ids.split(1):
        new = row
        for _ in range(n):
            positions = torch.arange(cache.length, cache.length + new.shape[1])
            logits = plain_step(model, new, cache, positions, is_causal=new.shape[1] > 1)
            new = logits.argmax(-1, keepdim=True)
            row = torch.cat([row, new], dim=1)
        rows.append(row)
    return torch.cat(rows)


def cached_loop_c(model, ids, n):
    """Loop C: ids (B, T) -> (B, T + n), greedy, one row after another."""
    rows = []
    for row in ids.split(1):
        cache, new = KVCache(model.config), row
        for _ in range(n):
            positions = torch.arange(new.shape[1])
            logits = plain_step(model, new, cache, positions, is_causal=new.shape[1] > 1)
            new = logits.argmax(-1, keepdim=True)
            row = torch.cat([row, new], dim=1)
        rows.append(row)
    return torch.cat(rows)
