"""The config reader: what every known file says by value, what a student pastes, and each kind of bad text in words."""

import json
from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from utils import widgets
from utils.pretrained import KNOWN_CONFIGS
from utils.widgets import config_reader
from utils.widgets.config_reader import PASTED, TEXTS, full_cache

GPT2, LLAMA, MISTRAL = (KNOWN_CONFIGS[name] for name in ("GPT-2 small", "Llama-3-8B", "Mistral-7B"))
LLAMA_TEXT = TEXTS["Llama-3-8B"]
# published totals; shares and bytes worked out by hand from them, V * d and 2 * L * key-value heads * d_head * 2
SAID = {
    "GPT-2 small": "124,439,808 parameters, 249 MB in bfloat16; table 31.0 %; cache 36,864 bytes a token",
    "Llama-3-8B": "8,030,261,248 parameters, 16.1 GB in bfloat16; table 6.5 %; cache 131,072 bytes a token",
    "Llama-2-7B": "6,738,415,616 parameters, 13.5 GB in bfloat16; table 1.9 %; cache 524,288 bytes a token",
    "Mistral-7B": "7,241,732,096 parameters, 14.5 GB in bfloat16; table 1.8 %; cache 131,072 bytes a token",
    "Qwen2.5-0.5B": "494,032,768 parameters, 988 MB in bfloat16; table 27.6 %; cache 12,288 bytes a token",
    "SmolLM2-135M": "134,515,008 parameters, 269 MB in bfloat16; table 21.0 %; cache 23,040 bytes a token",
}
# sizes and name of the bars (weights, one token, and what fills the cache), and the ledger from table to layer norms
PARTS = ("token table", "head", "position table", "attention", "MLP", "layer norms")
DRAWN = {
    "GPT-2 small": "249 MB|36.9 kB|37.7 MB|context of 1,024|38597376|0|786432|28348416|56669184|38400",
    "Llama-3-8B": "16.1 GB|131 kB|1.07 GB|context of 8,192|525336576|525336576|0|1342177280|5637144576|266240",
    "Llama-2-7B": "13.5 GB|524 kB|2.15 GB|context of 4,096|131072000|131072000|0|2147483648|4328521728|266240",
    "Mistral-7B": "14.5 GB|131 kB|537 MB|window of 4,096|131072000|131072000|0|1342177280|5637144576|266240",
    "Qwen2.5-0.5B": "988 MB|12.3 kB|403 MB|context of 32,768|136134656|0|0|44067840|313786368|43904",
    "SmolLM2-135M": "269 MB|23 kB|189 MB|context of 8,192|28311552|0|0|26542080|79626240|35136",
}


def texts(ax):
    """Everything that is written inside a pair of axes."""
    return [text.get_text() for text in ax.texts]


def without(config, *keys):
    """The text of a configuration that lacks these keys."""
    return json.dumps({key: value for key, value in config.items() if key not in keys})


def changed(**keys):
    """The text of Llama's configuration with these changes."""
    return json.dumps(LLAMA | keys)


@pytest.fixture
def panel():
    return widgets.ConfigReader()


@pytest.fixture
def drawings(monkeypatch):
    """Every call of the panel's plot: the list of its arguments."""
    calls, draw = [], config_reader.from_config
    monkeypatch.setattr(config_reader, "from_config", lambda *given: calls.append(given) or draw(*given))
    return calls


@pytest.mark.parametrize("name", SAID)
def test_every_known_model_is_said_and_drawn_once_by_value(panel, drawings, name):
    panel.model.value = "Llama-2-7B" if name != "Llama-2-7B" else "Mistral-7B"
    drawings.clear()
    panel.model.value = name
    assert (len(drawings), panel.config.value) == (1, TEXTS[name])
    assert panel.sentence == f"{name}: {SAID[name]}"
    parts, memory = panel._figure.axes
    *sizes, bound = DRAWN[name].split("|")[:4]
    counts = dict(zip(PARTS, map(int, DRAWN[name].split("|")[4:]), strict=True))
    shares = [100 * count / sum(counts.values()) for count in counts.values()]
    assert parts.get_title() == f"{SAID[name].split()[0]} parameters" == f"{sum(counts.values()):,} parameters"
    names = [part if (part, count) != ("head", 0) else "head (tied)" for part, count in counts.items()]
    assert (texts(parts)[::3], texts(parts)[1::3]) == (names, [f"{count:,}" for count in counts.values()])
    assert texts(memory) == [*sizes, "weights", "cache: 1 token", f"cache: {bound}"]
    stack = [bars[0] for bars in parts.containers]
    assert [bar.get_height() for bar in stack] == pytest.approx(shares)
    assert [bar.get_y() for bar in stack] == pytest.approx([sum(shares[:place]) for place in range(6)])
    assert [bars.get_label() for bars in parts.containers] == list(counts)


def test_the_known_models_are_all_offered(panel):
    assert list(panel.model.options) == [*SAID, PASTED] == [*KNOWN_CONFIGS, PASTED]
    assert {name: json.loads(text) for name, text in TEXTS.items()} == KNOWN_CONFIGS


def test_float32_takes_twice_the_bytes(panel):
    panel.model.value = "Llama-3-8B"
    memory = panel._figure.axes[1]
    assert [bar.get_width() for bar in memory.patches] == pytest.approx([16.060522496, 131_072e-9, 1.073741824])
    assert memory.get_xlabel() == "memory, in GB"
    panel.precision.value = "float32"
    said = SAID["Llama-3-8B"].replace("16.1 GB in bfloat16", "32.1 GB in float32").replace("131,072", "262,144")
    assert panel.sentence == f"Llama-3-8B: {said}"
    memory = panel._figure.axes[1]
    assert memory.get_title() == "memory in float32"
    assert texts(memory)[:3] == ["32.1 GB", "262 kB", "2.15 GB"]


def test_what_bounds_a_cache():
    assert full_cache({"n_positions": 7, "n_ctx": 9}) == ("context", 7)
    assert full_cache({"n_ctx": 9, "n_positions": None}) == ("context", 9)
    assert full_cache({"max_position_embeddings": 5}) == ("context", 5)
    assert full_cache({}) is full_cache({"max_position_embeddings": None}) is None
    assert full_cache(MISTRAL) == ("window", 4_096)
    for window in (None, 99_999):
        assert full_cache(MISTRAL | {"sliding_window": window}) == ("context", 32_768)
    assert full_cache(LLAMA | {"sliding_window": 5}) == ("context", 8_192)


HARMLESS = [
    json.dumps(GPT2 | {"n_inner": None, "n_ctx": None, "architectures": None}),
    without(GPT2, "n_ctx", "activation_function", "layer_norm_epsilon"),
    json.dumps(GPT2 | {"task_specific_params": {"text-generation": {"do_sample": True}}, "bos": 50_256}),
    f"\n {json.dumps(GPT2)} \n",
    "\ufeff" + json.dumps(GPT2, indent=2).replace("  ", "\u00a0\u2003"),
]


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_what_does_not_matter_changes_nothing(panel, text):
    panel.config.value = text
    assert panel.sentence == f"pasted: {SAID['GPT-2 small']}"
    assert panel.config.value == text


def test_what_matters_is_said_and_drawn(panel):
    # 24 heads more, for keys and values, in 32 layers: 2 * 32 * 4,096 * 24 * 128 = 805,306,368 parameters
    more = "8,835,567,616 parameters, 17.7 GB in bfloat16; table 5.9 %; cache 524,288 bytes a token"
    less = "7,110,660,096 parameters, 14.2 GB in bfloat16; table 1.8 %; cache 131,072 bytes a token"
    judge = "7,504,928,768 parameters, 15 GB in bfloat16; table 7.0 %; cache 131,072 bytes a token"
    edits = [
        (LLAMA_TEXT.replace('"num_key_value_heads": 8', '"num_key_value_heads": 32'), more, ["head", "525,336,576"]),
        (json.dumps(MISTRAL | {"architectures": ["MistralModel"]}), less, ["head (none)", "0"]),
        (changed(architectures=["LlamaForSequenceClassification"], num_labels=1), judge, ["head", "4,096"]),
    ]
    for text, said, head in edits:
        panel.model.value = "Llama-3-8B"
        panel.config.value = text
        assert (panel.sentence, panel.error) == (f"pasted: {said}", "")
        assert (panel.model.value, panel.config.value) == (PASTED, text)
        assert texts(panel._figure.axes[0])[3:5] == head


def test_without_a_context_the_third_bar_is_left_out(panel):
    size = panel._figure.get_size_inches().tolist()
    panel.config.value = without(LLAMA, "max_position_embeddings")
    assert texts(panel._figure.axes[1]) == ["16.1 GB", "131 kB", "weights", "cache: 1 token"]
    assert panel._figure.get_size_inches().tolist() == size


SMALLEST = dict.fromkeys(("vocab_size", "n_positions", "n_embd", "n_layer", "n_head"), 1) | {"model_type": "gpt2"}
SIZES = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "max_position_embeddings")
LARGEST = [
    LLAMA | dict(zip((*SIZES, "num_attention_heads", "num_key_value_heads", "head_dim"), sizes, strict=True))
    for sizes in (
        (10**8, 640_000, 10**6, 200, 10**9 - 1, 5_000, 5_000, 128),
        (1, 960, 1, 7_700, 8_192, 32, 32, 10**6),  # 9.5e14 parameters with 9.9e11 bytes of cache a token
        (128_256, 1, 14_336, 31_243_750, 10**9 - 1, 32, 8, 1),  # and with a longest context of 9.998e17 bytes
    )
]


@pytest.mark.parametrize("config", [*KNOWN_CONFIGS.values(), SMALLEST, *LARGEST])
def test_picture_and_sentence_have_room_for_all(panel, config):
    panel.config.value = json.dumps(config)
    assert panel.error == ""
    assert len(panel.sentence) <= 110
    fig = panel._figure
    renderer = FigureCanvasAgg(fig).get_renderer()
    needed = fig.get_tightbbox(renderer)  # inches
    width, height = fig.get_size_inches()
    assert min(needed.x0, needed.y0, width - needed.x1, height - needed.y1) >= 0
    parts, memory = fig.axes
    lines = [parts.texts[place : place + 3] for place in range(0, 18, 3)]
    for line in lines:
        extents = [*(text.get_window_extent(renderer) for text in line), memory.get_tightbbox(renderer)]
        assert all(left.x1 < right.x0 for left, right in pairwise(extents))


def test_each_edit_and_choice_is_drawn_once(panel, drawings):
    panel.config.value = LLAMA_TEXT.replace("8192", "4096")
    assert len(drawings) == 1
    panel.config.value = LLAMA_TEXT.replace("8192", "1024")
    panel.precision.value = "float32"
    assert len(drawings) == 3
    panel.precision.value, panel.model.value = "bfloat16", "Llama-3-8B"
    assert (len(drawings), panel.config.value) == (5, LLAMA_TEXT)
    panel.model.value = PASTED
    assert (len(drawings), panel.config.value) == (6, LLAMA_TEXT)
    assert panel.sentence == f"pasted: {SAID['Llama-3-8B']}"
    panel.config.value = "oops"
    panel.model.value = "Llama-3-8B"
    assert (panel.error, panel.config.value) == ("", LLAMA_TEXT)
    assert panel.sentence == f"Llama-3-8B: {SAID['Llama-3-8B']}"


KNOWN = ("'gpt2'", "'llama'", "'mistral'", "'qwen2'")
BAD = {
    "": ["empty", "paste", "choose"],
    " \n": ["empty"],
    "config.json": ["line 1, column 1", "“config.json”"],
    str(LLAMA): ["line 1, column 2,", "“'model_type'…”", "double quotes", "true, false, null"],
    LLAMA_TEXT.replace("False", "false").replace("false", "False", 1): ["line 10, column 21,", "“False,”"],
    LLAMA_TEXT.replace('"hidden_size"', "“hidden_size”"): ["line 5, column 3", "U+201C LEFT DOUBLE QUOTATION MARK"],
    LLAMA_TEXT.replace("8192,", "8192\uff0c"): ["line 4, column 34", "U+FF0C FULLWIDTH COMMA", "plain"],
    changed(architectures=["LlamaForRewardModel"]): ["architectures", "'LlamaForRewardModel'", "head"],
    LLAMA_TEXT.replace('"hidden_size"', "'hidden_size'"): ["line 5, column 3,", "“'hidden_size…”"],
    LLAMA_TEXT.replace("8192,", "8192"): ["line 5, column 3,", '“"hidden_size…”', "commas"],
    LLAMA_TEXT[:-2]: ["line 15, column 28,", "where it ends"],
    "{}": ["model_type is missing"],
    "[1, 2]": ["no object", "from { to }"],
    "null": ["no object"],
    "12": ["no object"],
    LLAMA_TEXT.replace('"llama"', '"bert"'): ["'bert'", "not known", *KNOWN],
    without(LLAMA, "model_type"): ["model_type is missing", *KNOWN],
    without(LLAMA, "hidden_size"): ["hidden_size is missing"],
    changed(hidden_size=None): ["hidden_size is missing"],
    without(GPT2, "n_embd"): ["n_embd is missing"],
    json.dumps(GPT2 | {"n_layer": None}): ["n_layer is missing"],
    changed(hidden_size="4096"): ["hidden_size='4096'", "whole number"],
    changed(hidden_size=-4096): ["hidden_size=-4096", "whole number"],
    changed(tie_word_embeddings="no"): ["tie_word_embeddings='no'", "True or False"],
    changed(num_key_value_heads=5): ["num_key_value_heads=5", "divide", "num_attention_heads=32"],
    changed(max_position_embeddings="8k"): ["max_position_embeddings='8k'", "whole number"],
    changed(max_position_embeddings=0): ["max_position_embeddings=0", "whole number"],
    json.dumps(MISTRAL | {"sliding_window": 1.5}): ["sliding_window=1.5", "whole number"],
    changed(max_position_embeddings=10**9): ["max_position_embeddings", "more than 9 digits"],
    changed(vocab_size=10**400): ["vocab_size", "more than 9 digits"],
    changed(max_position_embeddings=[8192] * 99): ["max_position_embeddings", "60 characters"],
    changed(num_hidden_layers=10**6, max_position_embeddings=10**9 - 1): ["1,000 PB", "too many"],
    changed(num_hidden_layers=10**8): ["1,000 trillion parameters", "too many digits"],
    changed(hidden_size=1, head_dim=10**6, num_hidden_layers=10**6): ["1 TB or more a token"],
    LLAMA_TEXT.replace("8192", "8" * 5_000): ["thousands of digits"],
    LLAMA_TEXT.replace("8192", "[" * 5_000 + "]" * 5_000): ["brackets in brackets"],
}


@pytest.mark.parametrize(("text", "words"), BAD.items(), ids=range(len(BAD)))
def test_bad_text_is_one_sentence_and_mended_by_good_text(panel, drawings, text, words):
    panel.config.value = text
    height = round(90 * panel._figure.get_size_inches()[1])
    for precision in ("bfloat16", "float32"):
        panel.precision.value = precision
        assert panel.error
        assert [word for word in words if word not in panel.sentence] == []
        assert "Error" not in panel.sentence
        assert panel.sentence.endswith(".")
        assert len(panel.sentence) <= 110
        assert (panel.config.value, panel.model.value) == (text, PASTED), "what was typed stays"
        assert '<div role="alert"' in panel._picture.value
        assert f"min-height:calc({height}px" in panel._picture.value
        assert "<img" not in panel._picture.value
        assert drawings == []
    panel.precision.value, panel.config.value = "bfloat16", LLAMA_TEXT
    assert (panel.error, panel.sentence) == ("", f"pasted: {SAID['Llama-3-8B']}")
    assert panel._picture.value.count("<img") == 1


def test_what_is_pasted_cannot_become_markup(panel):
    for text in ('<img src="x" onerror="y">', json.dumps({"model_type": "<img src=x>"})):
        panel.config.value = text
        assert "<img" not in panel._picture.value


def test_another_fault_keeps_its_name(panel, monkeypatch):
    monkeypatch.setattr(config_reader, "from_config", lambda *_: 1 // 0)
    panel.model.value = "Llama-3-8B"
    assert panel.sentence.startswith("This picture could not be drawn. ZeroDivisionError")
