"""Answers to exercise 4.1: the scores after the last token."""

import torch


def _last(model, ids):
    with torch.no_grad():
        logits = model(ids[:, -model.config.n_ctx :])
    return logits[:, -1, :]


def _row_by_row(model, ids):
    with torch.inference_mode():
        return torch.stack([model(row[-model.config.n_ctx :][None])[0][-1] for row in ids])


def _last_but_one(model, ids):
    recent = ids[:, -model.config.n_ctx :]
    return model(recent)[:, -2]


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
    _row_by_row,
    lambda model, ids: _last(model.train(), ids),
    lambda model, ids: model(ids[:, -model.config.n_ctx :])[:, -1].detach().numpy(),
]
WRONG = [
    ("look    line 3", _last_but_one),
    ("look    line 4", _along_the_vocabulary),
    ("leaves gradients switched off", _switches_off),
    ("require a gradient", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, -1]),
    ("raised AttributeError", lambda m, ids: m(ids[:, -m.n_ctx :])[:, -1]),
    ("changes `ids` in place", lambda model, ids: _last(model, ids.zero_())),
]
