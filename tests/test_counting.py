"""The counts against published numbers, tensors listed by hand, real modules and the size of a file."""

import dataclasses
import math
import random
import time

import numpy as np
import pytest
import torch
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
    assert kv_cache_bytes(*np.array([96, 12_288, 2_048, 64], dtype=np.int32)) == 1_236_950_581_248
    assert training_bytes(np.int32(2_000_000_000)) == 32_000_000_000


def test_the_gpt2_family_is_the_published_one_and_counted_without_memory(memory_growth):
    start = time.perf_counter()
    published = {name: GPTConfig(50_257, 1024, d, n, heads) for name, (n, d, heads, _) in GPT2.items()}
    assert list(published.items()) == list(GPT2_FAMILY.items())
    for name, config in GPT2_FAMILY.items():
        model = meta_model(config)
        assert gpt_params(50_257, 1024, config.n_embd, config.n_layer) == unique_params(model) == GPT2[name][-1]
        assert ledger(model) == ledger(config) == ledger_by_hand(config)
        assert all(p.is_meta for p in model.parameters())
    assert time.perf_counter() - start < 10
    assert memory_growth() < 200  # MB; the weights alone would take 11,243


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


@pytest.mark.parametrize("tied", [True, False])
def test_conventions_are_what_a_module_shows(course, tied):
    config = dataclasses.replace(course, tied=tied, n_inner=100)
    model = GPT(config)
    assert conventions(config) == {
        "all unique parameters": unique_params(model),
        "entries of state_dict": sum(tensor.numel() for tensor in model.state_dict().values()),
        "without positions": unique_params(model) - model.wpe.weight.numel(),
        "without both tables": unique_params(model.h) + unique_params(model.ln_f),
        "12 L d^2": sum(p.numel() for p in model.h.parameters() if p.ndim == 2),
    }


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
    model = GPT(course)
    model(torch.zeros(2, 32, dtype=torch.long))
    assert list(model.buffers()) == []
    long = GPT(dataclasses.replace(course, n_ctx=1024))
    assert unique_params(long) - unique_params(model) == (1024 - 32) * 64
    model.h[0].requires_grad_(False)
    assert sum(ledger(model).values()) == unique_params(model) == 114_944


# ---- bytes


def test_bytes_while_training(course):
    assert training_bytes(1) == 4 + 4 + 4 + 4
    assert training_bytes(1, weight_bytes=2) == 2 + 2 + 4 + 4
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_cache_of_the_course_model(course, batch_size, dtype):
    sizes = {"batch_size": batch_size, "bytes_per_number": dtype.itemsize}
    wanted = KVCache(course, batch_size, dtype).nbytes
    assert kv_cache_bytes(course.n_layer, course.n_embd, course.n_ctx, **sizes) == wanted


GOOD = {
    gpt_params: {"vocab_size": 200, "n_ctx": 32, "n_embd": 64, "n_layer": 2},
    tying_saving: {"vocab_size": 200, "n_embd": 64},
    training_bytes: {"n_params": 100, "weight_bytes": 4},
    kv_cache_bytes: {"n_layer": 2, "n_embd": 64, "n_tokens": 32, "batch_size": 1, "bytes_per_number": 4},
}


@pytest.mark.parametrize(("function", "name"), [(function, name) for function, good in GOOD.items() for name in good])
def test_bad_sizes(refused, function, name):
    least = 0 if name == "n_tokens" else 1
    for value in (least - 1, -2, 64.0, "64", None, True):
        with refused(ValueError if type(value) is int else TypeError, f"{name}={value!r}", f"from {least} up"):
            function(**{**GOOD[function], name: value})


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
