"""The width explorer and the cache explorer, and their pictures: what is drawn and said is what is counted."""

import itertools
import re

import numpy as np
import pytest

from utils import plots, widgets
from utils.counting import GPT2_FAMILY, GPT3_FAMILY, ROWS, gpt_params, ledger
from utils.model import GPTConfig
from utils.plots.amounts import in_bytes
from utils.plots.counting import explorer
from utils.widgets import width_explorer
from utils.widgets.width_explorer import PRESETS, SIZES, ladder, parameters

SMALL = GPT2_FAMILY["GPT-2 small"]
UNTIED = GPTConfig(200, 32, 64, 2, 4, tied=False)


def numbers(sentence):
    """The numbers after the colon."""
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,.]*", sentence.partition(":")[2])]


def bars(ax):
    """The pieces of each bar, from left to right: legend label -> widths."""
    return {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}


# ---- pictures


def test_parameter_bars_draw_every_share():
    (ax,) = plots.parameter_bars(["small", "untied"], [ledger(SMALL), ledger(UNTIED)]).axes
    drawn = bars(ax)
    assert list(drawn) == ["token table", "head", "position table", "attention", "MLP", "layer norms"]
    for place, rows in enumerate((ledger(SMALL), ledger(UNTIED))):
        wanted = [rows[name] for name in ("token table", "head", "position table", "attention", "mlp")]
        wanted.append(rows["layer norms"] + rows["final layer norm"])
        shares = [100 * count / sum(rows.values()) for count in wanted]
        assert [part[place] for part in drawn.values()] == pytest.approx(shares)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["small", "untied"]
    assert "%" in ax.get_xlabel()
    assert "all unique" in ax.get_xlabel()


def test_a_shared_table_is_drawn_once_and_named_for_both_jobs():
    (ax,) = plots.parameter_bars(list(GPT2_FAMILY), [ledger(config) for config in GPT2_FAMILY.values()]).axes
    drawn = bars(ax)
    assert "head" not in drawn
    assert [round(share, 1) for share in drawn["token table = head"]] == [31.0, 14.5, 8.3, 5.2]
    assert np.allclose(np.sum(list(drawn.values()), axis=0), 100)


def test_the_shares_by_width_are_stacked_from_the_tables_up_and_marked():
    widths = [10, 100, 1_000]
    ledgers = [parameters(50_257, 1_024, width, 12) for width in widths]
    above, below = explorer(ledgers[1], widths, ledgers, 100).axes
    assert above.get_title() == f"{sum(ledgers[1].values()):,} parameters at width d = 100"
    assert bars(above)["token table = head"] == pytest.approx([100 * 5_025_700 / sum(ledgers[1].values())])
    tables = [(rows["token table"] + rows["position table"]) / sum(rows.values()) for rows in ledgers]
    edge = {x: y for x, y in below.collections[1].get_paths()[0].vertices if y > 0}  # its upper edge comes last
    assert [edge[width] for width in widths] == pytest.approx([100 * share for share in tables])
    half, marker = below.lines
    assert (set(half.get_ydata()), set(marker.get_xdata()), below.get_xscale()) == ({50}, {100}, "log")


def test_cache_and_weights_are_drawn_in_the_larger_ones_unit():
    (ax,) = plots.cache_beside_weights(497_759_232, 75_497_472).axes
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([497.759232, 75.497472])
    assert ax.get_xlabel() == "memory, in MB"
    assert [text.get_text() for text in ax.texts] == ["498 MB", "75.5 MB"]
    (ax,) = plots.cache_beside_weights(999, 2_000_000_000_000, "note").axes
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([999e-12, 2])
    assert (ax.get_xlabel(), ax.get_title()) == ("memory, in TB", "note")


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"), (512, "512 bytes"), (999, "999 bytes"), (1_000, "1 kB"), (73_728, "73.7 kB"),
        (75_497_472, "75.5 MB"), (999_999_999, "1,000 MB"), (9_663_676_416, "9.66 GB"), (2 * 10**18, "2,000 PB"),
    ],
)  # fmt: skip
def test_bytes_in_bytes(n_bytes, text):
    assert in_bytes(n_bytes) == text


# ---- the width explorer


@pytest.mark.parametrize("slider", SIZES)
def test_every_position_is_counted_as_the_formula_counts(slider):
    positions = [value for _, value in getattr(widgets.WidthExplorer(), slider).options]
    assert positions == sorted(set(positions))
    for preset, value in itertools.product(("course model", "GPT-3 13B"), positions):
        sizes = {**PRESETS[preset], slider: value}
        rows = parameters(**sizes)
        assert tuple(rows) == ROWS
        assert sum(rows.values()) == gpt_params(*(sizes[name] for name in ("vocabulary", "context", "width", "layers")))


def test_positions_rise_in_small_steps():
    for high in (128, 16_384, 262_144):
        rungs = ladder(high)
        assert (rungs[0], rungs[-1]) == (1, high)
        assert all(b - a == 1 or b - a <= a / 32 for a, b in itertools.pairwise(rungs))
    assert {10, 64, 100, 200, 256, 300, 768, 1_000, 1_024, 1_600, 2_560, 12_288} <= set(ladder(16_384))
    assert 5_140 not in ladder(16_384)
    assert 5_140 in ladder(16_384, {5_140})
    assert ladder(5, {9}) == [1, 2, 3, 4, 5]


def test_the_presets_are_the_models_of_the_course():
    assert list(PRESETS) == ["course model", *GPT2_FAMILY, *GPT3_FAMILY]
    assert PRESETS["course model"] == {"vocabulary": 200, "context": 32, "width": 64, "layers": 2}
    assert PRESETS["GPT-3 13B"] == {"vocabulary": 50_257, "context": 2_048, "width": 5_140, "layers": 40}


@pytest.mark.parametrize(
    ("preset", "total", "share"),
    [("GPT-2 small", 124_439_808, 31.0), ("GPT-2 XL", 1_557_611_200, 5.2), ("course model", 114_944, 11.1)],
)
def test_the_width_explorer_says_the_published_counts(preset, total, share):
    panel = widgets.WidthExplorer()
    panel.preset.value = "GPT-3 125M"
    panel.preset.value = preset
    assert panel.sentence.startswith(f"{preset}, d={panel.width.value:,}: ")
    found, megabytes, bits, table, blocks = numbers(panel.sentence)
    assert (found, bits, table) == (total, 32, share)
    assert megabytes == pytest.approx(4 * total / 1e6, abs=0.05)
    above = panel._figure.axes[0]
    assert above.get_title() == f"{total:,} parameters at width d = {panel.width.value:,}"
    assert bars(above)["MLP"][0] < blocks < 100 - share


def test_the_smallest_model_has_a_size_in_digits():
    panel = widgets.WidthExplorer()
    for slider, value in {"vocabulary": 10, "context": 4, "width": 2, "layers": 1}.items():
        getattr(panel, slider).value = value
    assert panel.sentence == (
        "own, d=2: 106 parameters, 0.000424 MB in float32; token table 18.9 %, blocks 69.8 %"
    )  # 20, 8 and 74 of 106, and 4 in the final layer norm


@pytest.fixture
def drawings(monkeypatch):
    """Every call of the width explorer's plot: the list of its arguments."""
    calls = []
    draw = width_explorer.explorer
    monkeypatch.setattr(width_explorer, "explorer", lambda *given: calls.append(given) or draw(*given))
    return calls


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sets_all_sliders_and_draws_once(preset, drawings):
    panel = widgets.WidthExplorer()
    panel.preset.value = "GPT-2 small" if preset == "course model" else "course model"
    drawings.clear()
    panel.preset.value = preset
    assert {name: getattr(panel, name).value for name in SIZES} == PRESETS[preset]
    assert panel.preset.value == preset
    assert [given[0] for given in drawings] == [parameters(**PRESETS[preset])]


def test_a_moved_slider_leaves_the_preset_and_finds_it_again(drawings):
    panel = widgets.WidthExplorer()
    panel.preset.value = "GPT-2 small"
    drawings.clear()
    panel.width.value = 512
    assert (panel.preset.value, panel.sentence[:12]) == ("own", "own, d=512: ")
    panel.width.value = 768
    assert panel.preset.value == "GPT-2 small"
    assert panel.sentence.startswith("GPT-2 small, d=768: 124,439,808 ")
    assert len(drawings) == 2
    panel.preset.value = "own"
    assert panel.sentence.startswith("own, d=768: 124,439,808 ")


# ---- the cache explorer


def test_the_cache_explorer_says_the_published_numbers():
    panel = widgets.CacheExplorer()
    assert panel.sentence == (
        "GPT-2 small, 1 × 1,024 tokens, float32: cache 75,497,472 bytes, weights 497,759,232 bytes"
    )
    panel.context.value = 1
    assert "cache 73,728 bytes" in panel.sentence
    panel.model.value, panel.precision.value = "GPT-3 175B", "bfloat16"
    assert panel.sentence.startswith("GPT-3 175B, 1 × 1 tokens, bfloat16: cache 4,718,592 bytes, weights 349,2")
    assert [text.get_text() for text in panel._figure.axes[0].texts] == ["349 GB", "4.72 MB"]


@pytest.mark.parametrize("model", ["course model", *GPT2_FAMILY, "GPT-3 175B"])
def test_the_cache_explorer_counts_every_model(model):
    panel = widgets.CacheExplorer()
    assert list(panel.model.options) == ["course model", *GPT2_FAMILY, "GPT-3 175B"]
    panel.model.value, panel.context.value, panel.batch.value = model, 96, 3
    sizes = PRESETS[model]
    cache = 2 * sizes["layers"] * sizes["width"] * 96 * 3 * 4
    weights = 4 * sum(parameters(**sizes).values())
    assert numbers(panel.sentence) == [cache, weights]
    note = "course model has positions for 32 tokens only" if model == "course model" else ""
    assert panel._figure.axes[0].get_title() == note
