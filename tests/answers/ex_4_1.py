"""Answers to exercise 4.1: the scores after the last token."""

import torch


@torch.no_grad()
def _last(model, ids):
    return model(ids[:, -model.config.n_ctx :])[:, -1]


def _with_a_with(model, ids):
    n_ctx = model.config.n_ctx
    if ids.shape[1] > n_ctx:
        ids = ids[:, ids.shape[1] - n_ctx :]
    with torch.no_grad():
        logits = model(ids)
    return logits[:, ids.shape[1] - 1, :]


def _row_by_row(model, ids):
    with torch.inference_mode():
        return torch.stack([model(row[-model.config.n_ctx :][None])[0][-1] for row in ids])


def _in_train_mode(model, ids):
    model.train()
    with torch.set_grad_enabled(False):
        return model.forward(ids[..., -model.config.n_ctx :]).select(1, -1)


def _cut_too_short(model, ids):
    with torch.no_grad():
        recent = ids[:, 1 - model.config.n_ctx :]
        return model(recent)[:, -1]


def _last_but_one(model, ids):
    recent = ids[:, -model.config.n_ctx :]
    return model(recent)[:, -2]


def _one_row_too_flat(model, ids):
    with torch.no_grad():
        scores = model(ids[:, -model.config.n_ctx :])
        return scores[:, -1].squeeze()


def _along_the_vocabulary(model, ids):
    with torch.no_grad():
        scores = model(ids[:, -model.config.n_ctx :])
    return scores[:, :, -1]


def _switches_off(model, ids):
    torch.set_grad_enabled(False)
    return model(ids[:, -model.config.n_ctx :])[:, -1]


RIGHT = [
    _last,
    torch.inference_mode()(lambda model, ids: model(ids[:, -4:])[:, -1, :]),
    _with_a_with,
    _row_by_row,
    _in_train_mode,
    lambda model, ids: model(ids[:, -model.config.n_ctx :])[:, -1].detach(),
    lambda model, ids: _last(model, ids).numpy(),
]
WRONG = [
    ("look    line 3", _cut_too_short),
    ("look    line 3", _last_but_one),
    ("look    line 4", _one_row_too_flat),
    ("look    line 4", _along_the_vocabulary),
    ("leaves gradients switched off", _switches_off),
    ("require a gradient", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, -1]),
    ("longer than the context stops", lambda m, ids: m(ids[:, -32:])[:, -1]),
    ("raised AttributeError", lambda m, ids: m(ids[:, -m.n_ctx :])[:, -1]),
    ("changes `ids` in place", lambda model, ids: _last(model, ids.zero_())),
]
