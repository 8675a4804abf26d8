"""From scores to a token: the filters, the probabilities, one draw, and the generation loop."""

import math

import torch

from utils import validate
from utils.cache import KVCache
from utils.lookups import at_hand
from utils.modes import in_mode
from utils.unwrap import unwrapped

# a set of tokens reaches top_p if it comes within this of it: probabilities of float32 logits are no more exact
REACHED = 1e-6


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Probabilities of the next token from its scores: temperature, then top-k, then top-p, renormalised.

    logits (..., V), any float type -> (..., V), float32 (float64 for float64), each row summing to 1. Rows are
    independent and logits are not modified. -inf forbids a token.
    temperature: from 0; 0 is greedy, the whole probability on the highest score (the lowest id if several tie).
    top_k: keep exactly k tokens, lower ids first among equal scores; None or k >= V keeps all.
    top_p: of those, keep the smallest set of likeliest tokens whose probability reaches p, at least one, lower ids
    first among equals; it reaches p if it comes within 1e-6. None or 1.0 keeps all (nucleus sampling, Holtzman et
    al. 2020). Removed tokens get exactly 0.
    Raises TypeError or ValueError for other values, for NaN or +inf, and for a row that forbids every token.
    """
    _require_filters(temperature, top_k, top_p)
    _require_logits(logits)
    return _probs(logits, temperature, top_k, top_p)  # (..., V)


def _probs(logits, temperature, top_k, top_p):
    """What next_token_probs returns; only whether the scores can be used is checked."""
    scores = logits
    if top_k is not None and top_k < scores.shape[-1]:
        # stable, so lower ids come first among equals
        removed = scores.sort(descending=True, stable=True).indices[..., top_k:]
        scores = scores.scatter(-1, removed, -math.inf)  # (..., V), exactly k left
    probs = _softmax(scores, temperature or 1)  # (..., V); for 0 it shows only whether the scores can be used
    if math.isnan(probs.sum()):
        raise ValueError(_unusable(scores))
    if temperature == 0:
        probs = torch.zeros_like(probs).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)
    if top_p is not None and top_p < 1:
        probs = probs.masked_fill(~_top_p(probs, scores, top_p), 0.0)
        probs = probs / probs.sum(-1, keepdim=True)
    return probs.to(logits.dtype if logits.dtype == torch.float64 else torch.float32)  # (..., V)


def _softmax(scores, temperature):
    """(..., V) -> (..., V), float64; a row that holds NaN or +inf, or nothing but -inf, becomes NaN."""
    if temperature != 1:
        # the highest score becomes 0, so a tiny temperature overflows to -inf and never to NaN
        scores = (scores.double() - scores.amax(-1, keepdim=True)) / temperature
    return scores.softmax(-1, dtype=torch.float64)


def _top_p(probs, scores, p):
    """(..., V) twice -> bool (..., V): the likeliest tokens, as long as those before them have not reached p."""
    # ranked by score: at a huge temperature different scores have equal probabilities
    order = scores.sort(descending=True, stable=True).indices  # (..., V)
    sorted_probs = probs.gather(-1, order)  # (..., V)
    before = sorted_probs.cumsum(-1) - sorted_probs  # (..., V), probability of all likelier tokens
    needed = before < p - REACHED
    needed[..., 0] = True
    return torch.zeros_like(needed).scatter(-1, order, needed)


def draw(probs, generator=None):
    """One token from each row: the first whose cumulative probability exceeds a uniform random number.

    probs (B, V), rows summing to 1 -> ids (B, 1), int64. A token of probability 0 is never drawn.
    One random number is used for each row, from `generator` or from PyTorch's own.
    """
    cumulative = probs.cumsum(-1, dtype=torch.float64)  # (B, V), ends in 1, but for rounding
    u = torch.rand(
        probs.shape[0], 1, dtype=torch.float64, generator=generator, device=probs.device
    )  # (B, 1), from 0 up to below 1
    # u is at most 1 - 2**-53, so its product with the whole stays below the whole, in float64 too
    return torch.searchsorted(cumulative, u * cumulative[:, -1:], right=True)  # (B, 1)


def generate(
    model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None, stop_token=None, use_cache=True
):
    """Predict, draw, append, repeat.

    ids (B, T), T >= 1 -> (B, T + new), int64: the prompt and at most max_new_tokens more. The model sees the last
    n_ctx tokens only, because it has no position for more; when the context is full, every further token is
    predicted from a fresh pass over the last n_ctx, with a cache too, so both ways give the same tokens.
    Filters: see next_token_probs. generator: a torch.Generator; the same seed gives the same tokens.
    stop_token: a row that has drawn it is filled up with it, and generation ends when all rows have.
    No graph is built, and each part of the model has its own mode again, also after an error.
    Raises TypeError or ValueError for bad input before anything is generated.
    """
    _require_filters(temperature, top_k, top_p)
    model = unwrapped(model)  # not compiled: each pass has another length
    _require_run(model, ids, max_new_tokens, generator, stop_token)
    validate.flag("use_cache", use_cache)
    # no graph, and less bookkeeping for each tensor
    with in_mode(model, training=False), at_hand(model), torch.inference_mode():
        filters = temperature, top_k, top_p
        ids = _loop(model, ids.to(torch.int64), max_new_tokens, filters, generator, stop_token, use_cache)
    return ids.clone()  # made out here, so that it can be changed and trained on like any tensor


def _loop(model, ids, max_new_tokens, filters, generator, stop_token, use_cache):
    n_ctx, dtype = model.config.n_ctx, next(model.parameters()).dtype
    cache = KVCache(model.config, len(ids), dtype, ids.device) if use_cache and max_new_tokens else None
    done = torch.zeros(len(ids), 1, dtype=torch.bool, device=ids.device)  # (B, 1)
    pieces, new = [ids], ids  # the text, joined where the whole is needed, and what the model has not seen of it
    for _ in range(max_new_tokens):
        if cache is None or cache.length + new.shape[1] > n_ctx:
            pieces = [torch.cat(pieces, dim=1)]  # (B, T)
            new = pieces[0][:, -n_ctx:]  # (B, T), at most n_ctx
            if cache is not None:
                cache.reset()  # every kept token has moved to another position, so its keys and values are stale
        logits = model(new, cache=cache)[:, -1]  # (B, V)
        new = draw(_probs(logits, *filters), generator)  # (B, 1)
        if stop_token is not None:
            new = new.masked_fill(done, stop_token)
            done = new == stop_token  # (B, 1), so what is done stays done
        pieces.append(new)
        if stop_token is not None and done.all():
            break
    return torch.cat(pieces, dim=1)  # (B, T + new)


def _require_filters(temperature, top_k, top_p):
    allowed = "a finite number from 0 (greedy) up"
    validate.number("temperature", temperature, allowed, lambda value: 0 <= value < math.inf)
    if top_k is not None:
        validate.whole_number("top_k", top_k, otherwise="or None, which keeps all tokens")
    if top_p is not None:
        allowed = "a number above 0 and up to 1, or None, which keeps all tokens"
        validate.number("top_p", top_p, allowed, lambda value: 0 < value <= 1)


def _require_logits(logits):
    if not isinstance(logits, torch.Tensor) or not logits.is_floating_point():
        given = f"dtype {logits.dtype}" if isinstance(logits, torch.Tensor) else f"a {type(logits).__name__}"
        raise TypeError(f"logits is {given}; give a float tensor of shape (..., V).")
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; give (..., V) with at least one score a row.")


def _unusable(scores):
    if (scores.isnan() | (scores == math.inf)).any():
        return "logits holds NaN or +inf; scores must be finite, or -inf for a forbidden token."
    return "logits holds a row of -inf only, which forbids every token; leave at least one finite."


def _require_run(model, ids, max_new_tokens, generator, stop_token):
    validate.whole_number("max_new_tokens", max_new_tokens, low=0)
    validate.token_ids(ids, model.config, past=None, device=next(model.parameters()).device)
    if generator is not None and not isinstance(generator, torch.Generator):
        raise TypeError(
            f"generator is a {type(generator).__name__}; give a torch.Generator, as torch.Generator().manual_seed(0)."
        )
    if stop_token is not None:
        validate.whole_number("stop_token", stop_token, low=0, high=model.config.vocab_size - 1)
