"""Answers to exercise 1.4: the tie."""

import copy

import torch
from torch import nn


def _tie(model):
    model.lm_head.weight = model.wte.weight
    return model


def _new_head(model, bias=False):
    model.lm_head = nn.Linear(4, 6, bias=bias)
    model.lm_head.weight = model.wte.weight


def _both(model, weight):
    model.wte.weight = model.lm_head.weight = weight


def _compared(model):
    model.lm_head.weight == model.wte.weight  # noqa: B015


def _bare(model):
    del model.lm_head.weight
    model.lm_head.weight = model.wte.weight.data


def _broken_forward(model):
    _tie(model).forward = lambda ids: model.wte(ids) @ model.lm_head


RIGHT = [
    _tie,
    _new_head,
    lambda model: _both(model, nn.Parameter(model.wte.weight.detach().clone())),
    lambda model: setattr(model.lm_head, "weight", model.wte.weight),
    lambda model: model.lm_head.register_parameter("weight", model.wte.weight),
]
WRONG = [
    ("made backwards", lambda model: setattr(model.wte, "weight", model.lm_head.weight)),
    ("look    line 2", _compared),
    ("two Parameters", lambda model: setattr(model.lm_head.weight, "data", model.wte.weight.data)),
    ("two tables", lambda model: model.lm_head.load_state_dict(model.wte.state_dict()) and None),
    ("another model", lambda model: _tie(copy.deepcopy(model))),
    ("what requires a gradient", lambda model: _tie(model).wte.weight.requires_grad_(False) and None),
    ("keep both layers", lambda model: setattr(model, "lm_head", model.wte)),
    ("leave the rest as it was", lambda model: _new_head(model, bias=True)),
    ("new numbers", lambda model: _both(model, nn.Parameter(torch.randn(6, 4)))),
    ("no weight that learns", _bare),
    ("no weight that learns", lambda model: setattr(model.wte, "weight", None)),
    ("no longer runs", _broken_forward),
    ("cannot be copied", lambda model: setattr(_tie(model), "extra", (n for n in "ab"))),
]
