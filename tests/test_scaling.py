"""Work, price and size: against PyTorch's own count of a real model, and published numbers."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from utils import plots, widgets
from utils.counting import GPT2_FAMILY, GPT3_FAMILY, conventions, gpt_params
from utils.model import GPT, GPTConfig
from utils.plots.amounts import in_words
from utils.scaling import (
    KNOWN_MODELS,
    compute_optimal,
    cost,
    gpu_hours,
    inference_flops,
    matmul_flops,
    published_loss,
    training_flops,
)  # fmt: skip

GPT3_PARAMS = gpt_params(50_257, 2_048, 12_288, 96)


def flops_by_torch(config, n_tokens, backward=False):
    """The FLOPs that PyTorch counts while the real model reads one sequence, and learns from it if `backward`."""
    model, ids = GPT(config), torch.zeros(1, n_tokens, dtype=torch.long)
    # the fused attention of a CPU is unknown to the counter
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        logits = model(ids)
        if backward:
            logits.sum().backward()
    return counter.get_total_flops()


SHAPES = {"course model": (200, 32, 64, 2, 4), "narrow": (11, 40, 6, 3, 1), "one layer": (50, 33, 12, 1, 6)}


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("n_tokens", [1, 2, 7, 32])
@pytest.mark.parametrize("shape", SHAPES)
def test_matmuls_are_counted_to_the_unit(shape, n_tokens, tied):
    config = GPTConfig(*SHAPES[shape], tied=tied, n_inner=20 if shape == "narrow" else None)
    parts = matmul_flops(config, n_tokens)
    assert all(type(part) is int for part in parts.values())
    assert sum(parts.values()) == flops_by_torch(config, n_tokens)
    assert flops_by_torch(config, n_tokens, backward=True) == 3 * sum(parts.values()), (
        "the way back takes twice as much"
    )
    assert (parts["head"], parts["look-up"]) == (2 * n_tokens * config.vocab_size * config.n_embd, 0), (
        "a tie saves none"
    )


def test_the_parts_of_the_course_model(course):
    # L = 2 layers, T = 32 tokens, d = 64, V = 200: each line is L * 2 * m * n * k
    assert matmul_flops(course, 32) == {
        "look-up": 0,
        "queries, keys, values": 2 * 2 * 32 * 192 * 64,
        "attention scores": 2 * 2 * 4 * (32 * 32 * 16),
        "weighted sum": 2 * 2 * 4 * (32 * 16 * 32),
        "attention output": 2 * 2 * 32 * 64 * 64,
        "mlp": 2 * 2 * (32 * 256 * 64 + 32 * 64 * 256),
        "head": 2 * 32 * 200 * 64,
    }


@pytest.mark.parametrize("config", [*GPT2_FAMILY.values(), GPTConfig(200, 32, 64, 2, 4)])
def test_two_flops_a_token_for_each_number_in_a_matrix(config):
    n = config.n_ctx
    parts = matmul_flops(config, n)
    matrices = conventions(config)["12 L d^2"] + config.vocab_size * config.n_embd
    pairs = parts["attention scores"] + parts["weighted sum"]
    assert sum(parts.values()) - pairs == n * inference_flops(matrices)
    assert pairs == 4 * config.n_layer * n * n * config.n_embd


def test_gpt3s_bill():
    flops = training_flops(GPT3_PARAMS, 300e9)
    assert f"{flops:.2e}" == "3.14e+23"
    hours = gpu_hours(flops, 28e12)
    assert f"{hours / 1e6:.2f}" == "3.12"
    assert f"{cost(hours, 1.5) / 1e6:.1f}" == "4.7"


def test_the_published_optimum():
    n_params, n_tokens = compute_optimal(5.76e23)  # Gopher's budget, which Chinchilla was given
    assert n_params == pytest.approx(KNOWN_MODELS["Chinchilla"][0], rel=0.02)
    assert n_tokens == pytest.approx(KNOWN_MODELS["Chinchilla"][1], rel=0.02)
    assert [f"{x:.3g}" for x in compute_optimal(3.14e23)] == ["5.12e+10", "1.02e+12"]


@pytest.mark.parametrize("ratio", [1, 20, 1_875.5])
@pytest.mark.parametrize("flops", [1e3, 3.14e23, 10**30])
def test_the_optimum_spends_the_budget(flops, ratio):
    n_params, n_tokens = compute_optimal(flops, tokens_per_param=ratio)
    assert training_flops(n_params, n_tokens) == pytest.approx(flops)
    assert n_tokens / n_params == pytest.approx(ratio)


def test_the_published_loss():
    # both as worked out from the paper's constants: 1.69 + 0.052 + 0.251 and 1.69 + 0.083 + 0.163
    assert published_loss(280e9, 300e9) == pytest.approx(1.993, abs=0.001)
    assert published_loss(70e9, 1.4e12) == pytest.approx(1.936, abs=0.001)
    assert published_loss(1e30, 1e30) == pytest.approx(1.69, abs=1e-5)


def test_numpy_numbers_do_not_overflow():
    assert training_flops(np.int64(174_604_259_328), np.int64(300_000_000_000)) == 6 * 174_604_259_328 * 300_000_000_000
    assert inference_flops(np.float32(1e9)) == 2e9


CALLS = {
    training_flops: {"n_params": 1e9, "n_tokens": 1e9},
    inference_flops: {"n_params": 1e9},
    gpu_hours: {"flops": 1e20, "flops_per_second": 1e12},
    cost: {"hours": 10, "price_per_hour": 1.5},
    compute_optimal: {"flops": 1e20, "tokens_per_param": 20},
    published_loss: {"n_params": 1e9, "n_tokens": 1e9},
}


@pytest.mark.parametrize(("function", "name"), [(f, name) for f, arguments in CALLS.items() for name in arguments])
def test_bad_amounts(refused, function, name):
    for value in (0, -1.5, math.inf, math.nan):
        with refused(ValueError, f"{name}", str(value).replace("nan", "NaN"), "above 0"):
            function(**{**CALLS[function], name: value})
    for value in ("20", None, True):
        with refused(TypeError, f"{name}={value!r}", "above 0"):
            function(**{**CALLS[function], name: value})


def test_bad_matmul_counts(refused, course):
    with refused(TypeError, "cfg=", "GPTConfig"):
        matmul_flops(GPT3_FAMILY["GPT-3 175B"], 1)
    for value, kind in ((0, ValueError), (-1, ValueError), (3.0, TypeError), ("3", TypeError)):
        with refused(kind, f"n_tokens={value!r}", "from 1"):
            matmul_flops(course, value)
    with refused(ValueError, "n_tokens=33", "from 1 to 32"):
        matmul_flops(course, 33)


# ---- the picture and the panel


def test_the_map_draws_the_budget_the_ratio_and_the_models():
    (ax,) = plots.budget_map(6e20, 1e9, 1e11, KNOWN_MODELS).axes
    budget, ratio = ax.lines[:2]
    assert np.allclose(6 * budget.get_xdata() * budget.get_ydata(), 6e20)
    assert np.allclose(ratio.get_ydata() / ratio.get_xdata(), 100)
    drawn = {line.get_xdata()[0]: line.get_ydata()[0] for line in ax.lines[2:]}
    assert drawn == {**dict(KNOWN_MODELS.values()), 1e9: 1e11}
    assert {text.get_text() for text in ax.texts} == set(KNOWN_MODELS)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "all unique parameters" in ax.get_xlabel()
    sizes = dict(zip([text.get_text() for text in ax.get_xticklabels()], ax.get_xticks(), strict=True))
    tokens = dict(zip([text.get_text() for text in ax.get_yticklabels()], ax.get_yticks(), strict=True))
    assert (sizes["1M"], sizes["100B"], tokens["100M"], tokens["1T"], tokens["1,000T"]) == (1e6, 1e11, 1e8, 1e12, 1e15)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "6 N D = 6.00e20 FLOPs", "D = 100 N", "this budget"
    ]  # fmt: skip


def test_a_small_ratio_keeps_its_digits():
    (ax,) = plots.budget_map(6e20, 1e9, 1.26e9).axes
    assert ax.lines[1].get_label() == "D = 1.26 N"


def test_the_planner_says_and_draws_what_it_is_set_to():
    panel = widgets.BudgetPlanner()
    assert panel.sentence == (
        "3.14e23 FLOPs: 51.2 billion parameters, 1.02 trillion tokens, 129,795 GPU-days, 4.67 million dollars"
    )
    panel.budget.value, panel.tokens_per_param.value = 6e20, 100
    panel.speed.value, panel.price.value = 100, 2
    # 6e20 FLOPs at 1e14 a second are 6e6 seconds: 69.4 days, 1,667 hours
    assert panel.sentence == "6.00e20 FLOPs: 1 billion parameters, 100 billion tokens, 69.4 GPU-days, 3,333 dollars"
    assert panel._figure.axes[0].lines[-1].get_xdata()[0] == pytest.approx(1e9)
    for budget, ratio in itertools.product((1e18, 1e26), (1, 10**3.3)):
        panel.budget.value, panel.tokens_per_param.value = budget, ratio
        ax = panel._figure.axes[0]
        ring = ax.lines[-1]
        assert ax.get_xlim()[0] < ring.get_xdata()[0] < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < ring.get_ydata()[0] < ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0.01157, "0.0116"), (41.34, "41.3"), (129_795.2, "129,795"), (999_400, "999,400"), (999_600, "1 million"),
        (1e6, "1 million"), (51.17e9, "51.2 billion"), (999.7e9, "1 trillion"), (2.78e15, "2,780 trillion"),
    ],
)  # fmt: skip
def test_amounts_in_words(amount, words):
    assert in_words(amount) == words
