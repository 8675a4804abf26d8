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


def _by_way_of_a_new_one(model):
    model.wte.weight = model.lm_head.weight = nn.Parameter(model.wte.weight.detach().clone())


def _backwards(model):
    model.wte.weight = model.lm_head.weight


def _compared(model):
    model.lm_head.weight == model.wte.weight  # noqa: B015


def _share_memory(model):
    model.lm_head.weight.data = model.wte.weight.data


def _copy_values(model):
    with torch.no_grad():
        model.lm_head.weight.copy_(model.wte.weight)


def _one_layer(model):
    model.lm_head = model.wte


def _new_numbers(model):
    model.lm_head.weight = model.wte.weight = nn.Parameter(torch.randn(6, 4))


def _bare(model):
    del model.lm_head.weight
    model.lm_head.weight = model.wte.weight.data


def _broken_forward(model):
    _tie(model).forward = lambda ids: model.wte(ids) @ model.lm_head


RIGHT = [
    _tie,
    _new_head,
    _by_way_of_a_new_one,
    lambda model: setattr(model.lm_head, "weight", model.wte.weight),
    lambda model: model.lm_head.register_parameter("weight", model.wte.weight),
]
WRONG = [
    ("made backwards", _backwards),
    ("look    line 2", _compared),
    ("two Parameters", _share_memory),
    ("two tables", _copy_values),
    ("another model", lambda model: _tie(copy.deepcopy(model))),
    ("what requires a gradient", lambda model: _tie(model).wte.weight.requires_grad_(False) and None),
    ("keep both layers", _one_layer),
    ("leave the rest as it was", lambda model: _new_head(model, bias=True)),
    ("new numbers", _new_numbers),
    ("no weight that learns", _bare),
    ("no weight that learns", lambda model: setattr(model.wte, "weight", None)),
    ("no longer runs", _broken_forward),
    ("cannot be copied", lambda model: setattr(_tie(model), "extra", (n for n in "ab"))),
]
