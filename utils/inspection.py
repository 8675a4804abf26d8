"""What a GPT computes inside: its attention weights, its residual stream, and that stream read as words.

Forward hooks listen to the model's own modules, so nothing is written a second time. No gradient flows, and the
model, its mode and its hooks are as before, also after an error.
"""

import math

import torch

from utils import validate
from utils.model import GPT


@torch.no_grad()
def _listen(model, ids, part):
    """Run the model once -> for part(block) of each block, in order: its arguments and what it made."""
    validate.instance("model", model, GPT)
    heard = []
    hooks = [part(block).register_forward_hook(lambda _, given, made: heard.append((given, made))) for block in model.h]
    try:
        model(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return heard


@torch.no_grad()
def attention_weights(model, ids) -> torch.Tensor:
    """How much each token looks at each token: ids (B, T) -> (L, B, H, T, T), rows summing to 1, the future 0.

    Row t, column s: the share of token s in what token t gathers, softmax(q k^T / sqrt(d_head)) of the layer's real
    queries and keys (Vaswani et al. 2017, section 3.2.1). Raises what model(ids) raises, TypeError if it is no GPT.
    """
    heard = _listen(model, ids, lambda block: block.attn)
    return torch.stack([_weights(block.attn, *given) for block, (given, _) in zip(model.h, heard, strict=True)])


def _weights(attn, x, _, *position):
    """x (B, T, d), no cache, and what else the model tells its attention -> (B, H, T, T)."""
    q, k, _ = attn.queries_keys_values(x, *position)  # (B, H, T, d_head), k perhaps with fewer heads
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)  # (B, H, T, d_head)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf).softmax(-1)  # (B, H, T, T)


def residual_stream(model, ids) -> torch.Tensor:
    """Each token's vector on its way: ids (B, T) -> (L + 1, B, T, d), after the two tables and after each block.

    Raises what model(ids) raises, TypeError if it is no GPT.
    """
    heard = _listen(model, ids, lambda block: block)
    return torch.stack([heard[0][0][0], *(made for _, made in heard)])  # (L + 1, B, T, d)


@torch.no_grad()
def lens(model, ids) -> torch.Tensor:
    """The stream read as words: ids (B, T) -> logits (L + 1, B, T, V), as if the model ended at each layer.

    Each state of `residual_stream` goes through the final layer norm and the head; the last one is model(ids),
    exactly. The idea is the logit lens (nostalgebraist 2020). Raises what model(ids) raises, TypeError if it is no GPT.
    """
    return torch.stack([model.lm_head(model.ln_f(x)) for x in residual_stream(model, ids)])  # (L + 1, B, T, V)
