"""Parts at hand: found as plain attributes, the same objects, and gone afterwards."""

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from utils.lookups import at_hand
from utils.pretrained import COURSE_MODEL, TINY_LLAMA
from utils.sampling import generate

PROMPT = torch.tensor([[1, 2, 3]])


def attributes(model):
    return [dict(vars(module)) for module in model.modules()]


@pytest.mark.parametrize("config", [COURSE_MODEL, TINY_LLAMA])
def test_parts_are_plain_attributes_inside_and_gone_afterwards(config):
    model = config.build()
    before = attributes(model)
    with at_hand(model):
        assert vars(model)["wte"] is model._modules["wte"]
        assert vars(model.lm_head)["weight"] is model.wte.weight
        assert len(list(model.parameters())) == len(list(config.build().parameters()))
    assert attributes(model) == before
    with pytest.raises(ZeroDivisionError), at_hand(model):
        _ = 1 / 0
    assert attributes(model) == before


def test_what_is_replaced_inside_stays_and_is_used():
    model = COURSE_MODEL.build().eval()
    with at_hand(model):
        model.ln_f.weight = nn.Parameter(torch.zeros(64))
        model.ln_f.bias = nn.Parameter(torch.zeros(64))
        assert not model(PROMPT).any()
    assert "weight" not in vars(model.ln_f)
    assert not model(PROMPT).any()


def test_pruned_and_parametrised_models_generate_as_before():
    model = COURSE_MODEL.build()
    prune.l1_unstructured(model.h[0].mlp.c_fc, "weight", 0.5)
    nn.utils.parametrizations.weight_norm(model.h[1].mlp.c_fc)
    before = attributes(model)
    greedy = generate(model, PROMPT, 8, temperature=0)
    logits = model.eval()(greedy[:, :-1])
    assert torch.equal(logits[0, 2:].argmax(-1), greedy[0, 3:])
    model.train()
    for ours, theirs in zip(attributes(model), before, strict=True):
        assert ours.keys() == theirs.keys()


def test_an_error_while_generating_leaves_nothing_behind():
    model = COURSE_MODEL.build()
    model.h[1].register_forward_hook(lambda *_: 1 / 0)
    before = [set(each) for each in attributes(model)]
    with pytest.raises(ZeroDivisionError):
        generate(model, PROMPT, 2)
    assert [set(each) for each in attributes(model)] == before
