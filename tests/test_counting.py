"""The counts against published numbers, tensors listed by hand, real modules and the size of a file."""

import dataclasses
import math
import random
import time

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from utils.counting import (
    GPT2_FAMILY,
    GPT3_FAMILY,
    ROWS,
    conventions,
    gpt_params,
    kv_cache_bytes,
    ledger,
    meta_model,
    training_bytes,
    tying_saving,
    unique_params,
)  # fmt: skip
from utils.model import GPT, GPTConfig, KVCache

# L, d, H as published, and the corrected counts of the authors' repository
GPT2 = {
    "GPT-2 small": (12, 768, 12, 124_439_808),
    "GPT-2 medium": (24, 1024, 16, 354_823_168),
    "GPT-2 large": (36, 1280, 20, 774_030_080),
    "GPT-2 XL": (48, 1600, 25, 1_557_611_200),
}
# L, d, H, d_head from table 2.1 of Brown et al. 2020, and what the formula makes of them, in millions
GPT3 = {
    "GPT-3 125M": (12, 768, 12, 64, "125.2"),
    "GPT-3 350M": (24, 1024, 16, 64, "355.9"),
    "GPT-3 760M": (24, 1536, 16, 96, "760.3"),
    "GPT-3 1.3B": (24, 2048, 24, 128, "1316"),
    "GPT-3 2.7B": (32, 2560, 32, 80, "2652"),
    "GPT-3 6.7B": (32, 4096, 32, 128, "6658"),
    "GPT-3 13B": (40, 5140, 40, 128, "12950"),
    "GPT-3 175B": (96, 12288, 96, 128, "174600"),
}
UNTIED_SMALL = dataclasses.replace(GPT2_FAMILY["GPT-2 small"], tied=False)


def tensors_by_hand(c):
    """Every tensor of a GPT-2 as (row, shape), written down without a formula."""
    d, inner = c.n_embd, 4 * c.n_embd if c.n_inner is None else c.n_inner
    block = [
        ("layer norms", [d]), ("layer norms", [d]), ("layer norms", [d]), ("layer norms", [d]),
        ("attention", [d, 3 * d]), ("attention", [3 * d]), ("attention", [d, d]), ("attention", [d]),
        ("mlp", [d, inner]), ("mlp", [inner]), ("mlp", [inner, d]), ("mlp", [d]),
    ]  # fmt: skip
    ends = [("token table", [c.vocab_size, d]), ("position table", [c.n_ctx, d])]
    ends += [("final layer norm", [d]), ("final layer norm", [d])]
    return ends + c.n_layer * block + ([] if c.tied else [("head", [c.vocab_size, d])])


def ledger_by_hand(c):
    rows = dict.fromkeys(ROWS, 0)
    for row, shape in tensors_by_hand(c):
        rows[row] += math.prod(shape)
    return rows


def random_config(seed):
    rng = random.Random(seed)
    n_head = rng.randint(1, 6)
    return GPTConfig(
        vocab_size=rng.randint(1, 300), n_ctx=rng.randint(1, 80), n_embd=n_head * rng.randint(1, 12),
        n_layer=rng.randint(1, 5), n_head=n_head, tied=seed % 2 == 0,
        n_inner=rng.randint(1, 200) if seed % 3 == 0 else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_formula_ledger_and_model_agree(seed):
    c = random_config(seed)
    model, by_hand = GPT(c), ledger_by_hand(c)
    total = sum(by_hand.values())
    assert ledger(c) == by_hand
    assert ledger(model) == by_hand
    assert tuple(ledger(c)) == tuple(ledger(model)) == ROWS
    assert all(type(count) is int for count in [*ledger(c).values(), *ledger(model).values()])
    assert sum(p.numel() for p in model.parameters()) == total
    assert unique_params(model) == unique_params(model.state_dict()) == total
    formula = gpt_params(c.vocab_size, c.n_ctx, c.n_embd, c.n_layer, tied=c.tied)
    assert type(formula) is int
    assert (formula == total) == (c.d_ff == 4 * c.n_embd)


def test_the_course_model(course):
    assert gpt_params(200, 32, 64, 2) == 114_944
    assert gpt_params(vocab_size=10, n_ctx=4, n_embd=2, n_layer=1) == 106
    assert unique_params(GPT(course).h[0]) == 49_984
    wanted = {"token table": 12_800, "position table": 2_048, "attention": 33_280, "mlp": 66_176, "layer norms": 512}
    assert ledger(course) == {**wanted, "final layer norm": 128, "head": 0}
    assert ledger(dataclasses.replace(course, tied=False)) == {**wanted, "final layer norm": 128, "head": 12_800}
    assert {sum(ledger(GPT(dataclasses.replace(course, n_head=h))).values()) for h in (1, 2, 4, 8)} == {114_944}


def test_numpy_sizes_do_not_overflow():
    sizes = np.array([50_257, 2_048, 12_288, 96], dtype=np.int32)
    assert f"{gpt_params(*sizes) / 1e9:.4g}" == "174.6"
    assert f"{sum(ledger(GPTConfig(*sizes, n_head=96)).values()) / 1e9:.4g}" == "174.6"
    assert f"{tying_saving(*sizes[[0, 2]]) / 1e6:.4g}" == "617.6"


def test_the_gpt2_family_is_counted_without_memory(memory_growth):
    start = time.perf_counter()
    models = {name: meta_model(config) for name, config in GPT2_FAMILY.items()}
    counts = {name: unique_params(model) for name, model in models.items()}
    assert time.perf_counter() - start < 10
    assert memory_growth() < 200  # MB; the weights alone would take 11,243
    assert counts == {name: row[3] for name, row in GPT2.items()}
    assert {tuple(ledger(model).values()) for model in models.values()} == {
        tuple(ledger(config).values()) for config in GPT2_FAMILY.values()
    }
    assert all(p.is_meta for model in models.values() for p in model.parameters())


@pytest.mark.parametrize("name", GPT2)
def test_the_gpt2_family_is_the_published_one(name):
    n_layer, n_embd, n_head, total = GPT2[name]
    assert list(GPT2_FAMILY) == list(GPT2)
    assert GPT2_FAMILY[name] == GPTConfig(50_257, 1024, n_embd, n_layer, n_head)
    assert gpt_params(50_257, 1024, n_embd, n_layer) == sum(ledger(GPT2_FAMILY[name]).values()) == total


@pytest.mark.parametrize("name", GPT3)
def test_gpt3s_table(name):
    n_layer, n_embd, n_head, d_head, millions = GPT3[name]
    row = GPT3_FAMILY[name]
    sizes = {"vocab_size": 50_257, "n_ctx": 2_048, "n_layer": n_layer, "n_embd": n_embd}
    assert list(GPT3_FAMILY) == list(GPT3)
    assert row == {**sizes, "n_head": n_head, "d_head": d_head}
    assert float(f"{gpt_params(**sizes) / 1e6:.4g}") == float(millions)
    # two rows of the published table are odd, and kept so
    assert (n_head * d_head != n_embd) == (name in ("GPT-3 1.3B", "GPT-3 13B"))


def test_the_published_conventions():
    assert conventions(GPT2_FAMILY["GPT-2 small"]) == {
        "all unique parameters": 124_439_808,
        "entries of state_dict": 163_037_184,
        "without positions": 123_653_376,
        "without both tables": 85_056_000,
        "12 L d^2": 84_934_656,
    }
    untied = conventions(UNTIED_SMALL)
    assert untied["all unique parameters"] == untied["entries of state_dict"] == 163_037_184
    assert untied["without both tables"] == 85_056_000
    assert gpt_params(50_257, 1024, 768, 12, tied=False) == 163_037_184


@pytest.mark.parametrize("tied", [True, False])
def test_conventions_are_what_a_module_shows(course, tied):
    config = dataclasses.replace(course, tied=tied)
    model, found = GPT(config), conventions(config)
    assert found["entries of state_dict"] == sum(tensor.numel() for tensor in model.state_dict().values())
    assert found["without positions"] == unique_params(model) - model.wpe.weight.numel()
    assert found["without both tables"] == unique_params(model.h) + unique_params(model.ln_f)
    matrices = sum(p.numel() for p in model.h.parameters() if p.ndim == 2)
    assert found["12 L d^2"] == matrices


def test_the_saving_of_a_tie():
    assert tying_saving(50_257, 768) == 38_597_376
    of_tied, of_untied = [], []
    for config in GPT2_FAMILY.values():
        total, saving = sum(ledger(config).values()), tying_saving(config.vocab_size, config.n_embd)
        of_tied.append(round(100 * saving / total, 2))
        of_untied.append(round(100 * saving / (total + saving), 2))
    assert of_tied == [31.02, 14.50, 8.31, 5.16]
    assert of_untied == [23.67, 12.67, 7.67, 4.91]


# ---- what is counted once, and what not at all


def numbers_in(path):
    """How many float32 numbers a safetensors file holds: it begins with the length of its header, then the header."""
    data = path.read_bytes()
    return (len(data) - 8 - int.from_bytes(data[:8], "little")) // 4


@pytest.mark.parametrize("tied", [True, False])
def test_parameters_state_dict_and_file_agree(course, tmp_path, tied):
    model = GPT(dataclasses.replace(course, tied=tied))
    once = {name: parameter.detach() for name, parameter in model.named_parameters()}
    save_file(once, tmp_path / "once")
    save_file({name: tensor.clone() for name, tensor in model.state_dict().items()}, tmp_path / "all names")
    total = 114_944 if tied else 127_744
    assert unique_params(model) == unique_params(model.state_dict()) == numbers_in(tmp_path / "once") == total
    assert numbers_in(tmp_path / "all names") == 127_744


def test_equal_is_not_shared():
    with torch.no_grad():
        table = nn.Embedding(7, 3)
        head = nn.Linear(3, 7, bias=False)
        head.weight.copy_(table.weight)
    assert unique_params(nn.ModuleList([table, head])) == 42
    head.weight = table.weight
    assert unique_params(nn.ModuleList([table, head])) == 21
    weight = table.weight.detach()
    assert unique_params({"a": weight, "b": weight, "transposed": weight.T, "flat": weight.view(-1)}) == 21
    both = torch.zeros(10)
    assert unique_params({"first half": both[:5], "second half": both[5:]}) == 10
    empty = torch.zeros(5, 2, device="meta")
    assert unique_params({"a": empty, "b": empty.detach(), "c": torch.zeros(5, 2, device="meta")}) == 20


def test_no_mask_is_kept_or_counted(course):
    block = [
        "ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
        "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias",
    ]  # fmt: skip
    names = ["wte.weight", "wpe.weight", *(f"h.{i}.{part}" for i in (0, 1) for part in block)]
    model = GPT(course)
    model(torch.zeros(2, 32, dtype=torch.long))
    assert list(model.state_dict()) == [*names, "ln_f.weight", "ln_f.bias", "lm_head.weight"]
    assert list(model.buffers()) == []
    long = GPT(dataclasses.replace(course, n_ctx=1024))
    assert unique_params(long) - unique_params(model) == (1024 - 32) * 64
    model.h[0].requires_grad_(False)
    assert sum(ledger(model).values()) == unique_params(model) == 114_944
    trainable = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert unique_params(trainable) == 114_944 - 49_984


# ---- bytes


def test_bytes_while_training():
    assert training_bytes(1) == 4 + 4 + 4 + 4
    assert training_bytes(1, weight_bytes=2) == 2 + 2 + 4 + 4
    assert training_bytes(124_439_808) == 1_991_036_928
    assert training_bytes(np.int32(2_000_000_000)) == 32_000_000_000


def test_bytes_of_a_real_optimizer(course):
    model = GPT(course)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(1, 4, dtype=torch.long)).sum().backward()
    optimizer.step()
    moments = [one[name] for one in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
    held = [*model.parameters(), *(parameter.grad for parameter in model.parameters()), *moments]
    assert training_bytes(unique_params(model)) == sum(tensor.nbytes for tensor in held) == 16 * 114_944


def test_the_published_caches():
    assert kv_cache_bytes(12, 768, 1) == 73_728
    assert kv_cache_bytes(n_layer=12, n_embd=768, n_tokens=1_024) == 75_497_472
    assert f"{kv_cache_bytes(96, 12_288, 1, bytes_per_number=2) / 1e6:.1f}" == "4.7"
    assert kv_cache_bytes(12, 768, 0) == 0
    assert kv_cache_bytes(*np.array([96, 12_288, 2_048, 64], dtype=np.int32)) == 1_236_950_581_248


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_cache_of_the_course_model(course, batch_size, dtype):
    cache = KVCache(course, batch_size, dtype)
    sizes = {"batch_size": batch_size, "bytes_per_number": dtype.itemsize}
    assert kv_cache_bytes(course.n_layer, course.n_embd, course.n_ctx, **sizes) == cache.nbytes
    assert kv_cache_bytes(2, 64, 32) == 32_768


@pytest.mark.parametrize("name", ["vocab_size", "n_ctx", "n_embd", "n_layer"])
@pytest.mark.parametrize(("value", "kind"), [(0, ValueError), (-2, ValueError), (64.0, TypeError), ("64", TypeError)])
def test_bad_sizes(refused, name, value, kind):
    with refused(kind, f"{name}={value!r}", "from 1 up"):
        gpt_params(**{"vocab_size": 200, "n_ctx": 32, "n_embd": 64, "n_layer": 2, name: value})
    if name in ("vocab_size", "n_embd"):
        with refused(kind, f"{name}={value!r}", "from 1 up"):
            tying_saving(**{"vocab_size": 200, "n_embd": 64, name: value})


@pytest.mark.parametrize("name", ["n_layer", "n_embd", "n_tokens", "batch_size", "bytes_per_number"])
def test_bad_cache_sizes(refused, name):
    good = {"n_layer": 2, "n_embd": 64, "n_tokens": 32, "batch_size": 1, "bytes_per_number": 4}
    for value, kind in ((-1, ValueError), (2.0, TypeError), ("2", TypeError), (True, TypeError)):
        with refused(kind, f"{name}={value!r}", "whole number from"):
            kv_cache_bytes(**{**good, name: value})
    if name != "n_tokens":
        with refused(ValueError, f"{name}=0", "from 1 up"):
            kv_cache_bytes(**{**good, name: 0})


@pytest.mark.parametrize("name", ["n_params", "weight_bytes"])
def test_bad_training_sizes(refused, name):
    for value, kind in ((0, ValueError), (-1, ValueError), (1e6, TypeError), (None, TypeError)):
        with refused(kind, f"{name}={value!r}", "from 1 up"):
            training_bytes(**{"n_params": 100, "weight_bytes": 4, name: value})


def test_other_bad_input(refused):
    with refused(TypeError, "tied='yes'", "True or False"):
        gpt_params(200, 32, 64, 2, tied="yes")
    for thing in (GPT3_FAMILY["GPT-3 175B"], "GPT-2 small", nn.Linear(2, 2), None):
        with refused(TypeError, type(thing).__name__, "GPTConfig", "GPT"):
            ledger(thing)


def test_a_model_with_another_head_is_refused_by_the_parts_name(course, refused):
    model = GPT(course)
    model.score = nn.Linear(64, 2)
    with refused(ValueError, "score.weight", "no part of a GPT"):
        ledger(model)
    del model.score
    model.h[0].adapter = nn.Linear(64, 2)
    with refused(ValueError, "h.0.adapter.weight"):
        ledger(model)


def test_a_model_without_a_head_is_counted_without_one(course):
    model = GPT(dataclasses.replace(course, tied=False))
    model.lm_head = nn.Identity()
    assert ledger(model)["head"] == 0
    assert sum(ledger(model).values()) == 114_944
