"""The model map: its numbers are those of the modules, its texts stay in their boxes, a tied table is drawn once."""

import dataclasses
import re

import matplotlib
import pytest
import torch
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.patches import FancyBboxPatch
from torch import nn

from utils.counting import GPT2_FAMILY, ledger, meta_model
from utils.model import GPT, GPTConfig
from utils.plots import assembly_line, model_map
from utils.plots.model_map import PALE, parts
from utils.plots.style import ORANGE

COURSE = GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)
SMALL = GPT2_FAMILY["GPT-2 small"]
CONFIGS = {
    "course": COURSE,
    "GPT-2 small": SMALL,
    "untied": dataclasses.replace(SMALL, tied=False),
    "narrow MLP": GPTConfig(vocab_size=7, n_ctx=3, n_embd=4, n_layer=1, n_head=1, n_inner=5, tied=False),
    "GPT-3 175B": GPTConfig(vocab_size=50_257, n_ctx=2_048, n_embd=12_288, n_layer=96, n_head=96),
}
IN_BLOCK = ("ln_1", "attn", "ln_2", "mlp")


def drawn(fig):
    """Every text of a picture."""
    return [text.get_text() for text in fig.axes[0].texts]


def tables(fig):
    """The boxes of tables in a picture."""
    boxes = [patch for patch in fig.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    return [box for box in boxes if same_color(box.get_facecolor(), PALE[ORANGE])]


def test_the_course_models_boxes_are_those_counted_by_hand():
    assert parts(COURSE) == {
        "wte": ("wte", "(200, 64)", 200 * 64),
        "wpe": ("wpe", "(32, 64)", 32 * 64),
        "ln_f": ("ln_f", "(64,)", 2 * 64),
        "lm_head": ("lm_head", "(200, 64)", 0),
        "ln_1": ("ln_1", "(64,)", 2 * 64),
        "attn": ("attn", "c_attn (192, 64)\nc_proj (64, 64)", 64 * 192 + 192 + 64 * 64 + 64),
        "ln_2": ("ln_2", "(64,)", 2 * 64),
        "mlp": ("mlp", "c_fc (256, 64)\nc_proj (64, 256)", 64 * 256 + 256 + 256 * 64 + 64),
    }
    assert sum(parts(COURSE)[name].count for name in IN_BLOCK) == 49_984


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_boxes_are_the_modules_sum_to_the_total_and_are_drawn(config):
    model = meta_model(config)
    boxes, texts = parts(model), drawn(model_map(config))
    assert boxes == parts(config)
    for name, module in [*model.named_children(), *model.h[-1].named_children()]:
        if name != "h" and not (name == "lm_head" and config.tied):
            box = boxes[name]
            assert box.count == sum(parameter.numel() for parameter in module.parameters())
            assert {box.shapes, f"{box.count:,}"} <= set(texts)
            assert any(re.match(rf"{name}\b", text) for text in texts)
    total = sum(box.count * (config.n_layer if name in IN_BLOCK else 1) for name, box in boxes.items())
    assert total == sum(ledger(config).values())
    ends = {f"{total:,} parameters", f"× {config.n_layer}", f"logits (B, T, {config.vocab_size:,})"}
    assert ends <= set(texts)


def test_gpt2_smalls_total_is_the_published_one():
    assert {"124,439,808 parameters", "each block of h: 7,087,872"} <= set(drawn(model_map(SMALL)))


@pytest.mark.parametrize(("tied", "token_tables"), [(True, 1), (False, 2)])
def test_a_tied_table_is_drawn_once_and_has_two_ways(tied, token_tables):
    fig = model_map(dataclasses.replace(COURSE, tied=tied))
    arrows = [text.arrow_patch for text in fig.axes[0].texts if getattr(text, "arrow_patch", None)]
    assert [same_color(arrow.get_edgecolor(), ORANGE) for arrow in arrows].count(True) == 2
    assert len(tables(fig)) == token_tables + 1, "one more is the position table"
    assert drawn(fig).count("12,800") == token_tables
    assert {"way in", "way out"} <= set(drawn(fig))


def test_it_draws_the_tensors_not_what_the_configuration_says():
    model = GPT(COURSE)
    model.lm_head.weight = nn.Parameter(model.wte.weight.detach().clone())
    for block in model.h:
        block.mlp.c_fc, block.mlp.c_proj = nn.Linear(64, 10), nn.Linear(10, 64)
    fig = model_map(model)
    assert len(tables(fig)) == 3
    assert "c_fc (10, 64)\nc_proj (64, 10)" in drawn(fig)
    assert f"{114_944 + 12_800 - 2 * (33_088 - 1_354):,} parameters" in drawn(fig)


@pytest.mark.parametrize("config", [*CONFIGS.values(), None], ids=[*CONFIGS, "assembly line"])
def test_texts_stay_in_their_boxes_nothing_is_cut_off_and_no_trace_is_left(config):
    before, seed = dict(matplotlib.rcParams), torch.random.get_rng_state()
    fig = model_map(config) if config else assembly_line()
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before
    assert torch.equal(torch.random.get_rng_state(), seed)
    renderer = FigureCanvasAgg(fig).get_renderer()
    (ax,) = fig.axes
    boxes = [box.get_window_extent(renderer) for box in ax.patches if isinstance(box, FancyBboxPatch)]
    found = 0
    for text in ax.texts:
        extent = text.get_window_extent(renderer)
        around = [box for box in boxes if box.contains(*extent.get_points().mean(axis=0))]
        if text.get_text() and around:
            box = min(around, key=lambda box: box.width * box.height)
            assert box.x0 < extent.x0 < extent.x1 < box.x1, text.get_text()
            assert box.y0 < extent.y0 < extent.y1 < box.y1, text.get_text()
            found += 1
    assert found > 20
    needed, (width, height) = fig.get_tightbbox(renderer), fig.get_size_inches()
    assert 0 <= needed.x0 < needed.x1 <= width
    assert 0 <= needed.y0 < needed.y1 <= height


def test_the_line_goes_from_text_to_text_and_again():
    texts = drawn(assembly_line())
    stations = ["tokenizer", "two tables", "blocks × L", "final layer norm", "head", "softmax", "choice", "append"]
    assert [text for text in texts if text in stations] == stations
    assert [texts.count("text"), texts.count("again")] == [2, 1]


@pytest.mark.parametrize("draw", [parts, model_map])
def test_anything_else_is_refused(draw, refused):
    headless = GPT(COURSE)
    headless.lm_head = nn.Identity()
    with refused(ValueError, "lm_head", "Identity"):
        draw(headless)
    with refused(TypeError, "cfg_or_model=3", "give a GPT"):
        draw(3)
