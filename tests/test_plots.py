"""Pictures: the drawn numbers are the given ones, and a picture is shown with its sentence."""

import base64
import hashlib
import importlib
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image

from utils import plots
from utils.counting import GPT2_FAMILY, ledger
from utils.environment import ROOT
from utils.experiments.scaling_law import PowerLaw
from utils.model import GPTConfig
from utils.plots import counting, generation, inside, style, token_table
from utils.plots.training import smoothed
from utils.scaling import KNOWN_MODELS
from utils.ten_words import COLUMNS, TOKENS, ten_word_table
from utils.training import History

TABLE = ten_word_table()
VECTOR = torch.tensor([0.2, 1.5, -0.6, 0.4])
RUN = History(
    [5.3, 3.0, 2.0, 1.5], [2.5, 1.25], [2, 4], {"forced": [1.0, 0.0], "choice": [3.5, 2.2], "copied": [3, 1.5]}
)
SIZES, HELD = [400, 2_500, 40_000], [True] * 10 + [False] * 990  # three models, and the facts that one holds


def gpt_ledgers(*widths):
    """The ledgers of GPT-2 small at these widths."""
    return [ledger(GPTConfig(50_257, 1_024, width, 12, n_head=1)) for width in widths]


DRAWN = {
    "table": lambda: plots.table(TABLE, TOKENS, COLUMNS, picked=3),
    "look_up": lambda: plots.look_up(TABLE, TOKENS, 3),
    "scores": lambda: plots.scores(VECTOR, TABLE, TOKENS, COLUMNS),
    "temperatures": lambda: plots.temperatures(["red", "$x"], {0.5: [0.9, 0.1], 2.0: [0.6, 0.4]}),
    "token_probs": lambda: plots.token_probs([0.5, 0.2], ["a", "b"]),
    "family_shares": lambda: plots.family_shares(["small", "XL"], [0.31, 0.05], [0.24, 0.049]),
    "drift": lambda: plots.drift([0.0, 0.1, 0.3], [0.0, 0.0, 0.0]),
    "gradient_parts": lambda: plots.gradient_parts(TABLE, TABLE, 2 * TABLE, TOKENS),
    "explorer": lambda: token_table.explorer(TABLE, TOKENS, 3),
    "losses": lambda: plots.losses(RUN, floor=0.61, smoothing=2),
    "losses before the first step": lambda: plots.losses(History(), floor=0.61),
    "losses_by_kind": lambda: plots.losses_by_kind(RUN, floor=0.61),
    "parameter_bars": lambda: plots.parameter_bars(list(GPT2_FAMILY), [ledger(c) for c in GPT2_FAMILY.values()]),
    "width explorer": lambda: counting.explorer(*gpt_ledgers(10), [1, 10, 100], gpt_ledgers(1, 10, 100), 10),
    "cache_beside_weights": lambda: plots.cache_beside_weights(698_417_037_312, 1_266_637_395_197_952, "too long"),
    "budget_map": lambda: plots.budget_map(3.14e23, 5.12e10, 1.02e12, KNOWN_MODELS),
    "scaling_law": lambda: plots.scaling_law(SIZES, [1.1, 0.5, 0.1], PowerLaw(-0.5, 3, ()), [0.01, 0.02, 0.01], "all"),
    "held_by_rank": lambda: plots.held_by_rank({"width 4": HELD, "width 64": [True] * 1000}),
    "compared": lambda: plots.compared([50, 100], {"tied": [3.0, 1.0], "untied": [3.5, 1.5]}, floor=0.61),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_plot_leaves_no_trace_and_nothing_is_cut_off_at_the_edge(draw):
    before = dict(matplotlib.rcParams)
    fig = draw()
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before
    needed = fig.get_tightbbox(FigureCanvasAgg(fig).get_renderer())  # inches
    width, height = fig.get_size_inches()
    assert min(needed.x0, needed.y0, width - needed.x1, height - needed.y1) >= 0


def test_bars_have_the_given_numbers():
    ways_out, rows = DRAWN["scores"]().axes[2].patches, DRAWN["explorer"]().axes[1].patches
    assert np.allclose([bar.get_width() for bar in ways_out], (TABLE @ VECTOR).numpy())
    assert ways_out[3].get_facecolor() != ways_out[0].get_facecolor()
    assert np.allclose([bar.get_width() for bar in rows], (TABLE @ TABLE[3]).numpy())
    shares = [bar.get_height() for bar in DRAWN["family_shares"]().axes[0].patches]
    assert np.allclose(shares, [31, 5, 24, 4.9])


def test_heat_maps_hold_the_given_numbers():
    assert np.allclose(DRAWN["table"]().axes[0].images[0].get_array(), TABLE.numpy())
    one_hot, table, row = (np.asarray(ax.images[0].get_array()) for ax in DRAWN["look_up"]().axes)
    assert np.allclose(one_hot @ table, row)
    way_in, way_out, tied = (np.asarray(ax.images[0].get_array()) for ax in DRAWN["gradient_parts"]().axes)
    assert np.allclose(way_in + way_out, tied)


def drawn_lines(name):
    """Label -> (x, y) of each line, and the axes, of a picture with one pair of axes."""
    (ax,) = DRAWN[name]().axes
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines}, ax


def test_losses_draws_the_run_and_the_floor():
    lines, ax = drawn_lines("losses")
    assert lines["training"][0] == [1, 2, 3, 4]
    assert lines["training"][1] == pytest.approx([5.3, 4.15, 2.5, 1.75])
    assert lines["held out"] == ([2, 4], [2.5, 1.25])
    assert set(lines["entropy floor 0.61"][1]) == {0.61}
    assert (ax.get_ylim()[0], ax.get_xlabel(), ax.get_ylabel()) == (0, "steps", "loss, nats per token")
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == list(lines) == ["training", "held out", "entropy floor 0.61"]


def test_every_line_is_drawn_in_a_colour_of_its_own():
    kinds = {f"{kind} words": ([2, 4], values) for kind, values in RUN.by_kind.items()}
    runs = {"tied": ([50, 100], [3.0, 1.0]), "untied": ([50, 100], [3.5, 1.5])}
    for name, wanted in (("losses_by_kind", kinds | {"all words": ([2, 4], [2.5, 1.25])}), ("compared", runs)):
        lines, ax = drawn_lines(name)
        assert lines | wanted == lines
        assert len({line.get_color() for line in ax.lines[: len(wanted)]}) == len(wanted)
    assert "held-out" in ax.get_ylabel()
    drift, _ = drawn_lines("drift")
    assert [values for _, values in drift.values()] == [[0.0, 0.1, 0.3], [0.0, 0.0, 0.0]]


def test_more_lines_than_colours_are_refused_and_none_is_left_out():
    five = {str(number): [True, False] for number in range(5)}
    with pytest.raises(ValueError, match=r"5 lines"):
        plots.compared([1, 2], five)
    with pytest.raises(ValueError, match="5 models"):
        plots.held_by_rank(five)


@pytest.mark.parametrize("window", [1, 2, 7, 50, 1000])
@pytest.mark.parametrize("n", [0, 1, 60])
def test_smoothed_is_the_mean_of_the_last_values(window, n):
    values = np.random.default_rng(0).normal(5, 1, n).tolist()
    wanted = [sum(values[max(0, end - window) : end]) / min(window, end) for end in range(1, n + 1)]
    assert list(smoothed(values, window)) == pytest.approx(wanted)


LABELS = {
    **{"$5": r"\$5", "a b": "a␣b", "\n": r"\n", "\t": r"\t", "mat": "mat", 7: "7"},
    # letters that the font lacks
    **{"中": r"\u4e2d", "🧠": r"\U0001f9e0", "\ud800": r"\ud800", "\x00": r"\x00", "\u200b": r"\u200b"},
    **{"a\u00a0b": r"a\xa0b", "naïve Ġ": "naïve␣Ġ", "λ → ∞": "λ␣→␣∞"},
}


def test_labels_show_white_space_dollars_and_what_the_font_lacks():
    assert {token: style.label(token) for token in LABELS} == LABELS


def test_show_gives_html_with_alt_and_caption_and_the_bare_sentence(monkeypatch):
    shown = []
    monkeypatch.setattr(style, "display", lambda data, raw: shown.append((data, raw)))
    plots.show(plots.drift([0, 1], [0, 0]), 'Bars fall from <0.62> to "0.01"')
    ((data, raw),) = shown
    assert raw
    assert data["text/plain"] == 'Bars fall from <0.62> to "0.01"'
    pattern = r'<figure[^>]*><img alt="([^"]*)" src="data:image/png;base64,([^"]*)"[^>]*><figcaption>(.*)</figcaption>'
    alt, picture, caption = re.match(pattern, data["text/html"]).groups()
    assert alt == caption == "Bars fall from &lt;0.62&gt; to &quot;0.01&quot;"
    assert Image.open(io.BytesIO(base64.b64decode(picture))).size[0] > 700
    with pytest.raises(ValueError, match="empty sentence"):
        plots.show(plots.drift([0, 1], [0, 0]), "  ")


def test_svg_is_the_same_in_every_run_and_smaller_than_the_limit():
    (first,), (second,) = svgs("explorer"), svgs("explorer")
    assert first == second
    assert len(first) < 100_000


def test_scaling_law_draws_points_line_and_residuals():
    above, below = DRAWN["scaling_law"]().axes
    lines = {line.get_label(): line for line in above.lines}
    x, y = lines["fit: gap in proportion to N to the -0.50"].get_data()
    assert np.allclose(y, np.exp(3) / np.sqrt(x))
    assert x[0] < 400 < 40_000 < x[1]
    (points, _, (bars,)) = above.containers[0]
    assert np.allclose(points.get_data(), [SIZES, [1.1, 0.5, 0.1]])
    assert np.allclose([np.diff(bar[:, 1])[0] / 2 for bar in bars.get_segments()], [0.01, 0.02, 0.01])
    off = [100 * (gap * np.sqrt(size) / np.exp(3) - 1) for size, gap in zip(SIZES, [1.1, 0.5, 0.1], strict=True)]
    assert np.allclose(below.lines[-1].get_data(), [SIZES, off])
    assert above.get_xscale() == above.get_yscale() == below.get_xscale() == "log"
    assert "nats per token" in above.get_ylabel()
    assert below.get_xlabel() == "size N: all (log scale)"
    assert below.get_ylim()[0] < min(off) < max(off) < below.get_ylim()[1]


def test_held_by_rank_counts_every_fact_once():
    (ax,) = DRAWN["held_by_rank"]().axes
    few, all_of_them = ax.lines[:2]
    assert set(all_of_them.get_ydata()) == {100}
    ranks, shares = few.get_data()
    assert (np.diff(ranks) > 0).all()
    assert set(shares[ranks < 7]) == {100}
    assert set(shares[ranks > 20]) == {0}
    octaves = plots.held_by_rank({"x": [True, False, True, True, True, False, False]}, groups=3)  # 1, 2 to 3, 4 to 7
    assert np.allclose(octaves.axes[0].lines[0].get_data(), [[1, np.sqrt(6), np.sqrt(28)], [100, 50, 50]])


BLACK = ("axes.facecolor", "figure.facecolor", "savefig.facecolor")
WHITE = ("text.color", "xtick.color", "ytick.labelcolor", "axes.labelcolor", "hatch.color")
DARK = {
    **{"text.usetex": True, "font.family": "cursive", "font.size": 40, "figure.dpi": 10, "savefig.bbox": "tight"},
    **{"savefig.transparent": True, "path.sketch": (1, 100, 2), "axes.prop_cycle": "cycler('color', ['white'])"},
    **{"axes.formatter.use_locale": True, "svg.fonttype": "path", "lines.linewidth": 9, "xtick.minor.visible": True},
    **dict.fromkeys(BLACK, "black"),
    **dict.fromkeys(WHITE, "white"),
}


def svgs(*names):
    """Those plots as a panel shows them."""
    return [style.figure_html(DRAWN[name](), name, "svg") for name in names]


def under_matplotlibs_own(function, *args):
    """What a function gives where nobody has set anything."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        return function(*args)


def test_a_students_settings_leave_the_pictures_as_they_are():
    with matplotlib.rc_context(DARK):
        found = svgs(*DRAWN)
    assert found == under_matplotlibs_own(svgs, *DRAWN)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_figure_keeps_its_look_when_it_is_drawn_later(draw):
    kept, later = io.BytesIO(), io.BytesIO()
    draw().savefig(kept, format="png")
    fig = draw()
    with matplotlib.rc_context(DARK):
        fig.savefig(later, format="png")
    assert later.getvalue() == kept.getvalue()
    assert np.asarray(Image.open(later).convert("RGB"))[0, 0].tolist() == [255, 255, 255]


def test_every_function_that_makes_a_figure_is_styled():
    modules = [importlib.import_module(f"utils.plots.{found.name}") for found in pkgutil.iter_modules(plots.__path__)]
    made = {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and "= new_figure(" in inspect.getsource(function)
    }
    assert {"scores", "one_draw", "lens", "from_config", "assembly_line"} < made.keys()
    assert [name for name, function in made.items() if not hasattr(function, "__wrapped__")] == []


SOME = ("scores", "budget_map", "compared")
PRINTED = """
import hashlib, sys
sys.path.insert(0, "tests")
from test_plots import SOME, svgs
print(hashlib.sha256("".join(svgs(*SOME)).encode()).hexdigest())
"""


@pytest.mark.parametrize("place", ["MATPLOTLIBRC", "MPLCONFIGDIR"])
def test_a_matplotlibrc_leaves_the_pictures_as_they_are(tmp_path, place):
    lines = {**DARK, "path.sketch": "1, 100, 2", "backend": "TkAgg"}
    text = "".join(f"{name}: {value}\n" for name, value in lines.items())
    (tmp_path / "matplotlibrc").write_text(text, encoding="utf-8")
    command = [sys.executable, "-W", "error::UserWarning", "-c", PRINTED]
    env = os.environ | {place: str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = "".join(under_matplotlibs_own(svgs, *SOME))
    assert done.stdout.strip() == hashlib.sha256(wanted.encode()).hexdigest()


def test_a_students_own_figure_keeps_its_own_look():
    with matplotlib.rc_context({"figure.facecolor": "black", "xtick.color": "white"}):
        fig = pyplot.figure()
        fig.add_subplot()
        shown = re.search('base64,([^"]*)"', style.figure_html(fig, "dark"))[1]
    pyplot.close(fig)
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(shown))).convert("RGB"))
    assert pixels[0, 0].tolist() == [0, 0, 0]
    assert (pixels[-60:] > 200).any(), "its numbers are white on black"


ODD = ["中", "\U0001f9e0", "\ud800", "\x00"]
WITH_ODD_TEXTS = {
    "table": lambda: plots.table(np.eye(4), ODD, ODD, sides=("中", "中")),
    "temperatures": lambda: plots.temperatures(ODD[:2], {0.5: [0.9, 0.1]}),
    "token_probs": lambda: plots.token_probs([0.5, 0.2, 0.1, 0.1], ODD),
    "token_probs with dollars": lambda: plots.token_probs([0.4, 0.3, 0.2, 0.1], ["$x$ $", "\n", "\\alpha$", "中"]),
    "family_shares": lambda: plots.family_shares(ODD[:1], [0.3], [0.2]),
    "losses_by_kind": lambda: plots.losses_by_kind(History([3.0], [2.0], [1], {"中": [1.0]})),
    "parameter_bars": lambda: plots.parameter_bars(ODD, gpt_ledgers(1, 2, 3, 4)),
    "cache_beside_weights": lambda: plots.cache_beside_weights(1, 2, "中"),
    "budget_map": lambda: plots.budget_map(3e23, 5e10, 1e12, dict.fromkeys(ODD, (1e9, 1e10))),
    "held_by_rank": lambda: plots.held_by_rank({"中": HELD}),
    "compared": lambda: plots.compared([1, 2], {"中": [1, 2]}, unit="中", against="中"),
    "filtered": lambda: generation.filtered(ODD, [0.2] * 4, [0.2] * 4, 1, "中", "中"),
    "one_draw": lambda: generation.one_draw(ODD, 1, [0.4, 0.3, 0.2, 0.1], ODD, [0, 1], 0.3, 0, "中"),
    "attention": lambda: inside.attention(ODD, np.eye(4), 1),
    "lens": lambda: inside.lens(ODD, 1, np.eye(4), ODD, 2),
}


@pytest.mark.parametrize("kind", ["png", "svg"])
@pytest.mark.parametrize("draw", WITH_ODD_TEXTS.values(), ids=WITH_ODD_TEXTS)
def test_a_letter_that_the_font_lacks_is_shown_escaped_without_a_warning(draw, kind):
    """A warning is an error in these tests."""
    fig = draw()
    style.figure_html(fig, "odd", kind)
    texts = " ".join(text.get_text() for text in fig.findobj(Text))
    assert r"\u4e2d" in texts
    assert "中" not in texts


def test_the_monospaced_text_shows_what_only_the_other_font_has():
    style.figure_html(generation.one_draw(["ǆ", "א"], 0, [1.0], ["a"], [0]), "odd")
    style.figure_html(inside.attention(["ǆ", "א"], np.eye(2), 1), "odd")
