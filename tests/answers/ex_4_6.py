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


def _cumulated(probs, generator):
    u = torch.rand(len(probs), 1, generator=generator)
    return (probs.cumsum(-1) <= u).sum(-1, keepdim=True).clamp(max=probs.shape[-1] - 1)


def _gumbel(probs, generator):
    waits = torch.empty_like(probs).exponential_(generator=generator)
    return (probs / waits).argmax(-1, keepdim=True)


def _into_room(model, ids, max_new_tokens, temperature, generator):
    rows, length = ids.shape
    whole = torch.zeros(rows, length + max_new_tokens, dtype=ids.dtype)
    whole[:, :length] = ids
    for end in range(length, length + max_new_tokens):
        logits = model(whole[:, max(0, end - model.config.n_ctx) : end])[:, -1]
        whole[:, end : end + 1] = _multinomial(_probs(logits, temperature), generator)
    return whole


def _in_lists(model, ids, max_new_tokens, temperature, generator):
    texts = ids.tolist()
    for _ in range(max_new_tokens):
        for text in texts:
            logits = model(torch.tensor([text[-model.config.n_ctx :]]))[0, -1]
            text.append(_multinomial(_probs(logits, temperature), generator).item())
    return texts


def _returns_too_deep(model, ids, max_new_tokens, temperature, generator):  # noqa: RET503
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.config.n_ctx :])[:, -1]
        ids = torch.cat([ids, _multinomial(_probs(logits, temperature), generator)], dim=1)
        return ids  # noqa: RET504


def _one_too_many(model, ids, max_new_tokens, temperature, generator):
    for _ in range(max_new_tokens + 1):
        logits = model(ids[:, -model.config.n_ctx :])[:, -1]
        ids = torch.cat([ids, _multinomial(_probs(logits, temperature), generator)], dim=1)
    return ids


def _below_the_text(model, ids, max_new_tokens, temperature, generator):
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.config.n_ctx :])[:, -1]
        ids = torch.cat([ids, _multinomial(_probs(logits, temperature), generator)], dim=0)
    return ids


def _seeds_each_step(probs, generator):
    return torch.multinomial(probs, 1, generator=torch.Generator().manual_seed(generator.initial_seed()))


def _seeds_torch(model, ids, max_new_tokens, temperature, generator):
    torch.manual_seed(generator.initial_seed())
    return _loop()(model, ids, max_new_tokens, temperature, None)


RIGHT = [
    _loop(),
    _loop(_cumulated),
    _loop(_gumbel),
    _loop(lambda probs, g: torch.stack([torch.multinomial(row, 1, generator=g) for row in probs])),
    _loop(probs=lambda logits, t: _probs(logits - logits.amax(-1, keepdim=True), t)),
    _into_room,
    _in_lists,
]
WRONG = [
    ("how far in the `return` stands", _returns_too_deep),
    ("look    line 2", _one_too_many),
    ("a row of its own", _below_the_text),
    ("is a softmax missing", _loop(probs=lambda logits, t: logits / t)),
    ("along the vocabulary", _loop(probs=lambda logits, t: (logits / t).softmax(0))),
    ("likeliest token is taken", _loop(lambda probs, generator: probs.argmax(-1, keepdim=True))),
    ("once and for all", _loop(_seeds_each_step)),
    ("all rows draw the same", _loop(lambda p, g: (p.cumsum(-1) < torch.rand(1, generator=g)).sum(-1, keepdim=True))),
    ("other tokens the second time", _loop(lambda probs, generator: torch.multinomial(probs, 1))),
    ("every seed gives the same", lambda *args: _loop()(*args[:-1], torch.Generator().manual_seed(1))),
    ("PyTorch's own generator", _seeds_torch),
    ("no effect", _loop(probs=lambda logits, t: logits.softmax(-1))),
    ("high temperature sharpens", _loop(probs=lambda logits, t: (logits * t).softmax(-1))),
    ("twice", _loop(probs=lambda logits, t: (logits / t / t).softmax(-1))),
    ("as often as they should", _loop(probs=lambda logits, t: (logits / t**3).softmax(-1))),
    ("as floats", lambda *args: _loop()(*args).float()),
    ("the course's own `generate`", generate),
    ("the course's own `generate`", lambda m, ids, new, t, g: generate(m, ids, new, t, generator=g)),
]
