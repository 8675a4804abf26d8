"""What is refused: one sentence that names the value and what is allowed, before anything is made or changed."""

import dataclasses
import math
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torch

from utils import validate
from utils.environment import ROOT
from utils.model import GPT, GPTConfig, KVCache
from utils.sampling import generate, next_token_probs

SIZES = ("vocab_size", "n_ctx", "n_embd", "n_layer", "n_head")
NO_SIZE = [
    (0, ValueError, "=0 is too small"),
    (-1, ValueError, "=-1 is too small"),
    (2.0, TypeError, "=2.0 is of type float"),
    ("2", TypeError, "='2' is of type str"),
    (True, TypeError, "=True is of type bool"),
    (None, TypeError, "=None is of type NoneType"),
    (torch.ones(3, 3), TypeError, "is of type Tensor"),
    (np.ones((40, 40)), TypeError, "is of type ndarray"),
]
BAD_CONFIGS = [
    ({"n_embd": 30}, ValueError, ["n_embd=30", "n_head=4", "remainder 2", "1, 2, 3, 5, 6, 10, 15, 30"]),
    (
        {"n_embd": 1600, "n_head": 48, "n_layer": 25},
        ValueError,
        ["n_embd=1600", "n_head=48", "remainder 16", "1, 2, 4, 5, 8, 10, 16, 20, 25,", "n_layer=25", "swapped"],
    ),
    ({"n_embd": 30, "n_layer": 1}, ValueError, ["remainder 2", "10, 15, 30."]),  # every width divides by 1: no mix-up
    ({"n_head": 128}, ValueError, ["n_embd=64", "n_head=128", "remainder 64"]),
    ({"n_embd": 10**12 + 39, "n_head": 2}, ValueError, ["n_head=2", "remainder 1", "one of 1."]),
    ({"n_embd": 720_720, "n_head": 11_111}, ValueError, ["remainder 9616", "5005, 5040, ", "9240, 9360;"]),
    *[({"n_inner": width}, ValueError, [f"n_inner={width}", "from 1 up", "None"]) for width in (0, -4)],
    ({"n_inner": 256.0}, TypeError, ["n_inner=256.0", "float", "None"]),
    ({"tied": 1}, TypeError, ["tied=1", "int", "True or False"]),
    ({"tied": None}, TypeError, ["tied=None", "True or False"]),
    ({"activation": "gelu_new"}, ValueError, ["activation='gelu_new'", "'gelu_tanh', 'gelu', 'relu'"]),
    *[({"activation": no}, TypeError, [f"activation={no}", "'gelu_tanh', 'gelu', 'relu'"]) for no in (None, ["relu"])],
    ({"layer_norm_epsilon": 0}, ValueError, ["layer_norm_epsilon=0", "above 0"]),
    ({"layer_norm_epsilon": -1e-5}, ValueError, ["layer_norm_epsilon=-1e-05", "above 0"]),
    ({"layer_norm_epsilon": math.inf}, ValueError, ["layer_norm_epsilon=inf", "finite"]),
    ({"layer_norm_epsilon": math.nan}, ValueError, ["layer_norm_epsilon", "NaN", "above 0"]),
    ({"layer_norm_epsilon": 10**400}, ValueError, ["layer_norm_epsilon", "larger than any float", "above 0"]),
    ({"layer_norm_epsilon": "1e-5"}, TypeError, ["layer_norm_epsilon='1e-5'", "str", "above 0"]),
    *[({name: no}, kind, [name, words, "whole number from 1 up"]) for name in SIZES for no, kind, words in NO_SIZE],
]


@pytest.mark.parametrize(("changes", "kind", "words"), BAD_CONFIGS, ids=lambda value: str(value)[:30])
def test_a_bad_configuration(course, refused, changes, kind, words):
    with refused(kind, *words):
        dataclasses.replace(course, **changes)


def test_a_configuration_is_frozen_and_knows_its_widths(course):
    with pytest.raises(dataclasses.FrozenInstanceError):
        course.n_embd = 128
    defaults = (course.tied, course.n_inner, course.activation, course.layer_norm_epsilon)
    assert defaults == (True, None, "gelu_tanh", 1e-5)
    assert (course.d_head, course.d_ff) == (16, 256)
    assert dataclasses.replace(course, n_inner=100, n_head=1).d_ff == 100
    assert GPTConfig(n_head=4, n_layer=2, n_embd=64, n_ctx=32, vocab_size=200) == course


@pytest.mark.parametrize("kind", [GPT, KVCache])
@pytest.mark.parametrize("config", [{"n_embd": 64}, None, SimpleNamespace(n_embd=64), GPTConfig], ids=str)
def test_only_a_gptconfig_makes_a_model_or_a_cache(refused, kind, config):
    with refused(TypeError, "config=", type(config).__name__, "GPTConfig"):
        kind(config)


# ---- ids

BAD_IDS = {
    "V": (torch.tensor([[1, 200]]), ValueError, ["ids holds 200", "from 0 to 199"]),
    "V + 5": (torch.tensor([[205], [0]]), ValueError, ["ids holds 205", "from 0 to 199"]),
    "-1": (torch.tensor([[3, -1, 4]]), ValueError, ["ids holds -1", "from 0 to 199"]),
    "-100": (torch.tensor([[3, -100]], dtype=torch.int32), ValueError, ["ids holds -100", "from 0 to 199"]),
    "float": (torch.tensor([[1.0, 2.0]]), TypeError, ["float32", "int64", "int32"]),
    "bool": (torch.tensor([[True, False]]), TypeError, ["bool", "int64", "int32"]),
    "uint8": (torch.tensor([[1, 2]], dtype=torch.uint8), TypeError, ["uint8", "int64", "int32"]),
    "0-D": (torch.tensor(1), ValueError, ["()", "(B, T)"]),
    "1-D": (torch.tensor([1, 2, 3]), ValueError, ["(3,)", "(B, T)", "ids[None, :]"]),
    "3-D": (torch.ones(1, 2, 3, dtype=torch.long), ValueError, ["(1, 2, 3)", "(B, T)"]),
    "one-hot": (torch.eye(200)[None, :3], TypeError, ["float32"]),
    "list": ([[1, 2, 3]], TypeError, ["list", "(B, T)"]),
    "array": (np.array([[1, 2, 3]]), TypeError, ["ndarray", "(B, T)"]),
    "text": ("The cat sat", TypeError, ["str", "(B, T)"]),
    "None": (None, TypeError, ["NoneType", "(B, T)"]),
    "no token": (torch.zeros(1, 0, dtype=torch.long), ValueError, ["(1, 0)", "at least one token"]),
    "no row": (torch.zeros(0, 4, dtype=torch.long), ValueError, ["(0, 4)", "at least one"]),
    "33 tokens": (torch.zeros(1, 33, dtype=torch.long), ValueError, ["33 tokens", "n_ctx=32", "ids[:, -32:]"]),
}


@pytest.mark.parametrize(("ids", "kind", "words"), BAD_IDS.values(), ids=BAD_IDS)
@pytest.mark.parametrize("cached", [False, True])
def test_bad_ids(course, refused, ids, kind, words, cached):
    with refused(kind, *words):
        GPT(course)(ids, cache=KVCache(course) if cached else None)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_ids_from_0_to_the_last_token_work_in_both_widths(course, dtype):
    model, ids = GPT(course), torch.tensor([[0, 199, 7]] * 2)
    assert torch.equal(model(ids.to(dtype)), model(ids))
    assert model(torch.zeros(3, 32, dtype=dtype)).shape == (3, 32, 200)


# ---- memory


@pytest.mark.parametrize("make", [GPT, lambda config: KVCache(config, batch_size=2**20)], ids=["model", "cache"])
def test_what_no_machine_holds_is_refused_at_once(refused, memory_growth, make):
    start = time.perf_counter()
    with refused(ValueError, "GB", "this machine has", "smaller", "meta"):
        make(GPTConfig(50_257, 2**14, 2**20, 96, 16))
    assert time.perf_counter() - start < 1
    assert memory_growth() < 20


@pytest.mark.parametrize("n_inner", [None, 100])
def test_the_estimate_is_the_weights_size_and_a_containers_limit_counts(
    monkeypatch, tmp_path, refused, course, n_inner
):
    course = dataclasses.replace(course, n_inner=n_inner)
    weights, limit = sum(p.nbytes for p in GPT(course).parameters()), tmp_path / "memory.max"
    monkeypatch.setattr(validate, "MEMORY_LIMIT", limit)

    def machine(total, container="max\n"):
        monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=total))
        limit.write_text(container, encoding="utf-8")

    machine(weights)
    GPT(course)
    limit.unlink()  # outside of a container
    GPT(course)
    for less in (weights - 1, 10**12), (10**12, weights - 1):
        machine(less[0], f"{less[1]:.0f}\n")
        with refused(ValueError, "n_embd=64, n_layer=2", "0.0 GB"):
            GPT(course)
    machine(10**9)
    with refused(ValueError, "n_embd=8192, n_layer=48", "158.0 GB", "1.0 GB"):
        GPT(GPTConfig(50_257, 1024, 8192, 48, 64, tied=False))
    with torch.device("meta"):
        assert GPT(GPTConfig(200, 32, 8192, 48, 64)).wte.weight.is_meta
    machine(KVCache(course, device="meta").nbytes)
    KVCache(course)
    with refused(ValueError, "batch_size=2"):
        KVCache(course, batch_size=2)


# ---- sampling

BAD_FILTERS = [
    *[("temperature", value, ValueError, "greedy") for value in (-1, -1e-9, math.inf, -math.inf, math.nan)],
    *[("temperature", value, TypeError, "greedy") for value in ("0.7", True, None, [1.0], torch.ones(3, 3))],
    *[("top_k", value, ValueError, "from 1 up or None") for value in (0, -1)],
    *[("top_k", value, TypeError, "from 1 up or None") for value in (2.0, "5", True)],
    *[("top_p", value, ValueError, "above 0 and up to 1") for value in (0, -0.1, 1.5, 2, math.inf, math.nan)],
    *[("top_p", value, TypeError, "above 0 and up to 1") for value in ("0.9", True)],
]


@pytest.mark.parametrize(("name", "value", "kind", "allowed"), BAD_FILTERS, ids=lambda v: str(v)[:10])
@pytest.mark.parametrize("others", [{}, {"temperature": 0}, {"top_k": 2, "top_p": 0.5}], ids=str)
def test_bad_filters(course, refused, name, value, kind, allowed, others):
    shown = "Tensor" if isinstance(value, torch.Tensor) else "NaN" if value is math.nan else repr(value)
    ids = torch.tensor([[1, 2]])
    for run in (partial(next_token_probs, torch.zeros(2, 4)), partial(generate, GPT(course), ids, 4)):
        with refused(kind, name, shown, allowed):
            run(**others | {name: value})


BAD_LOGITS = [  # bad scores: see test_sampling.py
    (torch.zeros(2, 0), ValueError, ["(2, 0)", "(..., V)"]),
    (torch.tensor(1.0), ValueError, ["()", "(..., V)"]),
    (torch.tensor([1, 2]), TypeError, ["int64", "float"]),
    ([1.0, 2.0], TypeError, ["list", "float tensor"]),
    (np.zeros(3), TypeError, ["ndarray", "float tensor"]),
]


@pytest.mark.parametrize(("logits", "kind", "words"), BAD_LOGITS, ids=str)
@pytest.mark.parametrize("filters", [{}, {"temperature": 0}, {"top_k": 1}, {"top_p": 0.5}], ids=str)
def test_bad_logits(refused, logits, kind, words, filters):
    with refused(kind, *words):
        next_token_probs(logits, **filters)


BAD_RUNS = [
    ({"max_new_tokens": -3}, ValueError, ["max_new_tokens=-3", "from 0 up"]),
    ({"max_new_tokens": 1.5}, TypeError, ["max_new_tokens=1.5", "from 0 up"]),
    ({"max_new_tokens": True}, TypeError, ["max_new_tokens=True", "from 0 up"]),
    ({"ids": torch.zeros(1, 0, dtype=torch.long)}, ValueError, ["(1, 0)", "at least one token"]),
    ({"ids": torch.tensor([1, 2])}, ValueError, ["(2,)", "(B, T)"]),
    ({"ids": torch.tensor([[200] + [1] * 50])}, ValueError, ["ids holds 200", "0 to 199"]),  # outside the last n_ctx
    ({"ids": torch.tensor([[0.5]])}, TypeError, ["float32"]),
    ({"ids": "once"}, TypeError, ["str", "(B, T)"]),
    ({"generator": 42}, TypeError, ["generator", "int", "torch.Generator"]),
    ({"stop_token": 200}, ValueError, ["stop_token=200", "0 to 199"]),
    ({"stop_token": -1}, ValueError, ["stop_token=-1", "from 0 to 199"]),
    ({"stop_token": "."}, TypeError, ["stop_token='.'", "whole number"]),
    ({"use_cache": "no"}, TypeError, ["use_cache='no'", "True or False"]),
    ({"model": torch.nn.Linear(2, 2)}, TypeError, ["model", "Linear", "GPT"]),
    ({"model": None}, TypeError, ["model", "NoneType", "GPT"]),
]


@pytest.mark.parametrize(("changes", "kind", "words"), BAD_RUNS, ids=str)
def test_bad_runs_are_refused_before_anything_runs(course, refused, changes, kind, words):
    model, state = GPT(course), torch.get_rng_state()
    model.register_forward_pre_hook(lambda *_: pytest.fail("the model was run"))
    with refused(kind, *words):
        generate(**{"model": model, "ids": torch.tensor([[1, 2, 3]]), "max_new_tokens": 2, **changes})
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)


RELOADED = """
import importlib
import torch
from utils import counting, model, sampling
importlib.reload(model)
new = model.GPT(model.GPTConfig(9, 8, 4, 1, 2))
for call in (counting.ledger, lambda m: sampling.generate(m, torch.tensor([[1]]), 1)):
    try:
        call(new)
    except TypeError as error:
        print(error)
"""


def test_a_class_whose_module_was_loaded_again_is_told():
    done = subprocess.run([sys.executable, "-c", RELOADED], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    told = (
        "is a GPT, but utils.model was loaded again, and other modules still have its old one; "
        "restart the kernel and run the notebook from its top."
    )
    assert [line.partition(" ")[::2] for line in done.stdout.splitlines()] == [("cfg_or_model", told), ("model", told)]
