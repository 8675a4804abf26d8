"""What is refused: one sentence that names the value and what is allowed, before anything is made or changed."""

import dataclasses
import math
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torch

from utils import validate
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


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("value", "kind", "words"), NO_SIZE, ids=lambda v: str(v)[:12])
def test_a_size_is_a_whole_number_from_1(course, refused, name, value, kind, words):
    with refused(kind, name, words, "whole number from 1 up"):
        dataclasses.replace(course, **{name: value})


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"n_embd": 30}, ValueError, ["n_embd=30", "n_head=4", "remainder 2", "1, 2, 3, 5, 6, 10, 15, 30"]),
        (
            {"n_embd": 1600, "n_head": 48, "n_layer": 25},
            ValueError,
            ["n_embd=1600", "n_head=48", "remainder 16", "1, 2, 4, 5, 8, 10, 16, 20, 25,", "n_layer=25", "swapped"],
        ),
        ({"n_head": 128}, ValueError, ["n_embd=64", "n_head=128", "remainder 64"]),
        ({"n_embd": 10**12 + 39, "n_head": 2}, ValueError, ["n_head=2", "remainder 1", "one of 1."]),
        ({"n_inner": 0}, ValueError, ["n_inner=0", "from 1 up", "None"]),
        ({"n_inner": -4}, ValueError, ["n_inner=-4", "from 1 up", "None"]),
        ({"n_inner": 256.0}, TypeError, ["n_inner=256.0", "float", "None"]),
        ({"tied": 1}, TypeError, ["tied=1", "int", "True or False"]),
        ({"tied": None}, TypeError, ["tied=None", "True or False"]),
        ({"activation": "gelu_new"}, ValueError, ["activation='gelu_new'", "'gelu_tanh', 'gelu', 'relu'"]),
        ({"activation": None}, TypeError, ["activation=None", "'gelu_tanh', 'gelu', 'relu'"]),
        ({"activation": ["relu"]}, TypeError, ["activation=['relu']", "'gelu_tanh', 'gelu', 'relu'"]),
        ({"layer_norm_epsilon": 0}, ValueError, ["layer_norm_epsilon=0", "above 0"]),
        ({"layer_norm_epsilon": -1e-5}, ValueError, ["layer_norm_epsilon=-1e-05", "above 0"]),
        ({"layer_norm_epsilon": float("inf")}, ValueError, ["layer_norm_epsilon=inf", "finite"]),
        ({"layer_norm_epsilon": float("nan")}, ValueError, ["layer_norm_epsilon", "NaN", "above 0"]),
        ({"layer_norm_epsilon": 10**400}, ValueError, ["layer_norm_epsilon", "larger than any float", "above 0"]),
        ({"n_embd": 720_720, "n_head": 11_111}, ValueError, ["remainder 9616", "5005, 5040, ", "9240, 9360;"]),
        ({"layer_norm_epsilon": "1e-5"}, TypeError, ["layer_norm_epsilon='1e-5'", "str", "above 0"]),
    ],
    ids=str,
)
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


@pytest.mark.parametrize("name", BAD_IDS)
@pytest.mark.parametrize("cached", [False, True])
def test_bad_ids(course, refused, name, cached):
    ids, kind, words = BAD_IDS[name]
    cache = KVCache(course) if cached else None
    with refused(kind, *words):
        GPT(course)(ids, cache=cache)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_ids_from_0_to_the_last_token_work_in_both_widths(course, dtype):
    model, ids = GPT(course), torch.tensor([[0, 199, 7]] * 2)
    logits = model(ids.to(dtype))
    assert logits.shape == (2, 3, 200)
    assert torch.equal(logits, model(ids))
    assert model(torch.zeros(3, 32, dtype=dtype)).shape == (3, 32, 200)


# ---- memory


@pytest.mark.parametrize("make", [GPT, lambda config: KVCache(config, batch_size=2**20)], ids=["model", "cache"])
def test_what_no_machine_holds_is_refused_at_once(refused, memory_growth, make):
    start = time.perf_counter()
    with refused(ValueError, "GB", "this machine has", "smaller", "meta"):
        make(GPTConfig(50_257, 2**14, 2**20, 96, 16))
    assert time.perf_counter() - start < 1
    assert memory_growth() < 20


def test_the_estimate_is_the_weights_size(monkeypatch, refused, course):
    weights = sum(p.nbytes for p in GPT(course).parameters())

    def machine(total):
        monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=total))

    machine(weights)
    GPT(course)
    machine(0.97 * weights)  # biases and norms are not in the estimate
    with refused(ValueError, "n_embd=64, n_layer=2"):
        GPT(course)
    machine(10**9)  # a container of 1 GB
    with refused(ValueError, "n_embd=8192, n_layer=48", "157.9 GB", "1.0 GB"):
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
    words = [name, shown, allowed]
    with refused(kind, *words):
        next_token_probs(torch.zeros(2, 4), **{**others, name: value})
    with refused(kind, *words):
        generate(GPT(course), torch.tensor([[1, 2]]), 4, **{**others, name: value})


@pytest.mark.parametrize(
    ("logits", "kind", "words"),
    [
        (torch.tensor([[1.0, math.nan], [0.0, 0.0]]), ValueError, ["NaN"]),
        (torch.tensor([[1.0, math.inf]]), ValueError, ["+inf"]),
        (torch.tensor([[1.0, -math.inf], [-math.inf, -math.inf]]), ValueError, ["-inf", "at least one"]),
        (torch.zeros(2, 0), ValueError, ["(2, 0)", "(..., V)"]),
        (torch.tensor(1.0), ValueError, ["()", "(..., V)"]),
        (torch.tensor([1, 2]), TypeError, ["int64", "float"]),
        ([1.0, 2.0], TypeError, ["list", "float tensor"]),
        (np.zeros(3), TypeError, ["ndarray", "float tensor"]),
    ],
    ids=str,
)
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
    ({"stop_token": -1}, ValueError, ["stop_token=-1", "from 0 up"]),
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


def test_a_containers_memory_limit_counts(monkeypatch, tmp_path, refused, course):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(validate, "MEMORY_LIMIT", limit)
    limit.write_text("100000\n", encoding="utf-8")
    with refused(ValueError, "n_embd=64", "0.0 GB"):
        GPT(course)
    limit.write_text("max\n", encoding="utf-8")
    GPT(course)
