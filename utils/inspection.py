"""What a GPT computes inside: its attention weights, its residual stream, and that stream read as words.

Forward hooks listen to the model's own modules, so nothing is written a second time. No gradient flows, and the
model, its mode and its hooks are as before, also after an error.
"""

import math

import torch

from utils import validate
from utils.model import GPT
from utils.training import IGNORED


@torch.no_grad()
def _listen(model, ids, part):
    """Run the model once -> for part(block) of each block, in order: what it was given and what it made."""
    validate.instance("model", model, GPT)
    heard = []
    hooks = [
        part(block).register_forward_hook(lambda _, given, made: heard.append((given[0], made))) for block in model.h
    ]
    try:
        model(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return heard


def attention_weights(model, ids) -> torch.Tensor:
    """How much each token looks at each token: ids (B, T) -> (L, B, H, T, T), rows summing to 1, the future 0.

    Row t, column s: the share of token s in what token t gathers, softmax(q k^T / sqrt(d_head)) of the layer's real
    queries and keys (Vaswani et al. 2017, section 3.2.1). Raises what model(ids) raises, TypeError if it is no GPT.
    """
    heard = _listen(model, ids, lambda block: block.attn.c_attn)
    return torch.stack([_weights(qkv, model.config.n_head) for _, qkv in heard])  # (L, B, H, T, T)


def _weights(qkv, n_head):
    q, k, _ = (part.unflatten(-1, (n_head, -1)).transpose(1, 2) for part in qkv.chunk(3, dim=-1))  # (B, H, T, d_head)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T)
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf).softmax(-1)  # (B, H, T, T)


def residual_stream(model, ids) -> torch.Tensor:
    """Each token's vector on its way: ids (B, T) -> (L + 1, B, T, d), after the two tables and after each block.

    Raises what model(ids) raises, TypeError if it is no GPT.
    """
    heard = _listen(model, ids, lambda block: block)
    return torch.stack([heard[0][0], *(made for _, made in heard)])  # (L + 1, B, T, d)


@torch.no_grad()
def lens(model, ids) -> torch.Tensor:
    """The stream read as words: ids (B, T) -> logits (L + 1, B, T, V), as if the model ended at each layer.

    Each state of `residual_stream` goes through the final layer norm and the head; the last one is model(ids),
    exactly. The idea is the logit lens (nostalgebraist 2020). Raises what model(ids) raises, TypeError if it is no GPT.
    """
    return torch.stack([model.lm_head(model.ln_f(x)) for x in residual_stream(model, ids)])  # (L + 1, B, T, V)


def looks_back(model, rows, places) -> torch.Tensor:
    """The attention that each head gives, before a word is repeated, to where that word stood -> (L, H), from 0 to 1.

    rows (m, T + 1) int64, as for training. places (m, T) bool: for which of the targets rows[:, 1:] to measure, such
    as `ToyLanguage.kinds(rows)["copied"]`. At each, the weights on all earlier copies of the target are added up,
    and their mean over the places is returned. Raises TypeError or ValueError for rows or places of another form.
    """
    validate.instance("model", model, GPT)
    validate.rows("rows", rows, model.config, IGNORED)
    validate.instance("places", places, torch.Tensor)
    inputs, targets = rows[:, :-1], rows[:, 1:]  # (m, T) twice
    if places.dtype != torch.bool or places.shape != targets.shape or not places.any():
        raise ValueError(
            f"places is {places.dtype} of shape {tuple(places.shape)} with {int(places.count_nonzero())} chosen; "
            f"give bool of shape {tuple(targets.shape)} with at least one True."
        )
    copies = inputs[:, None, :] == targets[:, :, None]  # (m, T, T)
    weights = attention_weights(model, inputs) * copies[:, None]  # (L, m, H, T, T)
    return weights.sum(-1).transpose(1, 2)[:, :, places].mean(-1)  # (L, H)
