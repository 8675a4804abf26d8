"""Answers to exercise 4.6: the loop."""

import torch

from utils.sampling import generate


def _probs(logits, temperature):
    return (logits / temperature).softmax(-1)


def _multinomial(probs, generator):
    return torch.multinomial(probs, 1, generator=generator)


def _loop(draw=_multinomial, probs=_probs):
    @torch.no_grad()
    def generate_tokens(model, ids, max_new_tokens, temperature, generator):
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.config.n_ctx :])[:, -1]
            ids = torch.cat([ids, draw(probs(logits, temperature), generator)], dim=1)
        return ids

    return generate_tokens


def _gumbel(probs, generator):
    waits = torch.empty_like(probs).exponential_(generator=generator)
    return (probs / waits).argmax(-1, keepdim=True)


def _into_room(model, ids, max_new_tokens, temperature, generator):
    rows, length = ids.shape
    whole = torch.cat([ids, torch.zeros(rows, max_new_tokens, dtype=ids.dtype)], dim=1)
    for end in range(length, length + max_new_tokens):
        logits = model(whole[:, max(0, end - model.config.n_ctx) : end])[:, -1]
        whole[:, end : end + 1] = _multinomial(_probs(logits, temperature), generator)
    return whole


def _returns_too_deep(model, ids, max_new_tokens, temperature, generator):  # noqa: RET503
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.config.n_ctx :])[:, -1]
        ids = torch.cat([ids, _multinomial(_probs(logits, temperature), generator)], dim=1)
        return ids  # noqa: RET504


def _softmax_of_rows(model, ids, max_new_tokens, temperature, generator):
    for _ in range(max_new_tokens):
        probs = (model(ids[:, -model.config.n_ctx :])[:, -1] / temperature).softmax(0)
        ids = torch.cat([ids, _multinomial(probs, generator)], dim=1)
    return ids


def _seeds_each_step(probs, generator):
    return torch.multinomial(probs, 1, generator=torch.Generator().manual_seed(generator.initial_seed()))


RIGHT = [
    _loop(),
    _loop(_gumbel),
    _loop(lambda probs, g: torch.stack([torch.multinomial(row, 1, generator=g) for row in probs])),
    _into_room,
    lambda *args: _loop()(*args).tolist(),
]
WRONG = [
    ("how far in the `return` stands", _returns_too_deep),
    ("look    line 3", _softmax_of_rows),
    ("is a softmax missing", _loop(probs=lambda logits, t: logits / t)),
    ("likeliest token is taken", _loop(lambda probs, generator: probs.argmax(-1, keepdim=True))),
    ("once and for all", _loop(_seeds_each_step)),
    ("all rows draw the same", _loop(lambda p, g: (p.cumsum(-1) < torch.rand(1, generator=g)).sum(-1, keepdim=True))),
    ("other tokens the second time", _loop(lambda probs, generator: torch.multinomial(probs, 1))),
    ("every seed gives the same", lambda *args: _loop()(*args[:-1], torch.Generator().manual_seed(1))),
    ("no effect", _loop(probs=lambda logits, t: logits.softmax(-1))),
    ("high temperature sharpens", _loop(probs=lambda logits, t: (logits * t).softmax(-1))),
    ("twice", _loop(probs=lambda logits, t: (logits / t / t).softmax(-1))),
    ("as often as they should", _loop(probs=lambda logits, t: (logits / t**3).softmax(-1))),
    ("as floats", lambda *args: _loop()(*args).float()),
    ("the course's own `generate`", generate),
    ("the course's own `generate`", lambda m, ids, new, t, g: generate(m, ids, new, t, generator=g)),
]
