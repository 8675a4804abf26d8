"""Answers to exercise 1.4: the tie."""

import copy

import torch
from torch import nn


def _tie(model):
    model.lm_head.weight = model.wte.weight


def _tie_and_return(model):
    model.lm_head.weight = model.wte.weight
    return model


def _new_head(model):
    model.lm_head = nn.Linear(4, 6, bias=False)
    model.lm_head.weight = model.wte.weight


def _by_way_of_a_new_one(model):
    table = nn.Parameter(model.wte.weight.detach().clone())
    model.wte.weight = table
    model.lm_head.weight = table


def _backwards(model):
    model.wte.weight = model.lm_head.weight


def _compared(model):
    model.lm_head.weight == model.wte.weight  # noqa: B015


def _share_memory(model):
    model.lm_head.weight.data = model.wte.weight.data


def _copy_values(model):
    with torch.no_grad():
        model.lm_head.weight.copy_(model.wte.weight)


def _another_model(model):
    twin = copy.deepcopy(model)
    twin.lm_head.weight = twin.wte.weight
    return twin


def _frozen(model):
    model.lm_head.weight = model.wte.weight
    model.wte.weight.requires_grad_(False)


def _one_layer(model):
    model.lm_head = model.wte


def _with_a_bias(model):
    model.lm_head = nn.Linear(4, 6)
    model.lm_head.weight = model.wte.weight


def _new_numbers(model):
    model.lm_head.weight = model.wte.weight = nn.Parameter(torch.randn(6, 4))


def _bare(model):
    del model.lm_head.weight
    model.lm_head.weight = model.wte.weight.data


def _without_weight(model):
    model.wte.weight = None


def _broken_forward(model):
    model.lm_head.weight = model.wte.weight
    model.forward = lambda ids: model.wte(ids) @ model.lm_head


def _not_to_be_copied(model):
    model.lm_head.weight = model.wte.weight
    model.extra = (number for number in range(3))


RIGHT = [
    _tie,
    _tie_and_return,
    _new_head,
    _by_way_of_a_new_one,
    lambda model: setattr(model.lm_head, "weight", model.wte.weight),
    lambda model: model.lm_head.register_parameter("weight", model.wte.weight),
]
WRONG = [
    ("made backwards", _backwards),
    ("two different tensors", _compared),
    ("two Parameters", _share_memory),
    ("two tables", _copy_values),
    ("another model", _another_model),
    ("what requires a gradient", _frozen),
    ("keep both layers", _one_layer),
    ("a bias now", _with_a_bias),
    ("new numbers", _new_numbers),
    ("a plain tensor now", _bare),
    ("lost its weight", _without_weight),
    ("no longer runs", _broken_forward),
    ("no longer can be copied", _not_to_be_copied),
]
