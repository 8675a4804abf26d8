"""The products of training against float64, and a model that is as it was afterwards."""

import copy
import platform

import pytest
import torch
from tiny_runs import data, fit, make, weights
from torch import nn

from utils.products import by_onednn


@pytest.mark.parametrize("shape", [(7,), (5, 7), (3, 5, 7), (2, 3, 5, 7), (1, 1, 7)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients_are_those_of_float64(shape, bias):
    torch.manual_seed(0)
    layer, x = nn.Linear(7, 4, bias=bias), torch.randn(shape)
    exact = copy.deepcopy(layer).double()
    mine, theirs = x.clone().requires_grad_(), x.double().requires_grad_()
    with by_onednn(layer):
        found = layer(mine)
    wanted = exact(theirs)
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() < 1e-6
    for one in (found, wanted):
        one.square().sum().backward()
    for one, other in zip((mine, *layer.parameters()), (theirs, *exact.parameters()), strict=True):
        assert (one.grad - other.grad).abs().max() < 1e-5


def replaced(model):
    return any("forward" in vars(part) for part in model.modules() if isinstance(part, nn.Linear))


def test_it_is_in_use_inside_and_gone_outside():
    model = make()
    with by_onednn(model):
        assert replaced(model) == (platform.machine() in ("x86_64", "AMD64"))
        twin = copy.deepcopy(model)
        twin.lm_head.weight.data.zero_()
        assert not twin(data()[:, :-1]).any()  # a copy multiplies by its own weights
    assert not replaced(model)
    assert model.lm_head.weight.any()
    with pytest.raises(ZeroDivisionError), by_onednn(model):
        _ = 1 / 0
    assert not replaced(model)


@pytest.mark.parametrize(
    "change", [nn.Module.double, lambda m: m.to("meta"), lambda m: torch.compile(m, backend="eager")]
)
def test_what_it_is_not_made_for_is_left_alone(change):
    model = change(make())
    with by_onednn(model):
        assert not replaced(model)


def test_a_part_without_gradients_gets_none():
    model = make(n_layer=2)
    for frozen in (model.h[0], model.wte):
        frozen.requires_grad_(False)
    before = weights(model)
    fit(model, data(), steps=3)
    assert model.h[0].mlp.c_fc.weight.grad is None
    still = {name for name, tensor in model.state_dict().items() if torch.equal(tensor, before[name])}
    assert still == {"wte.weight", "lm_head.weight", *(f"h.0.{name}" for name, _ in model.h[0].named_parameters())}
