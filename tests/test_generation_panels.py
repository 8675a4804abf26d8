"""Lesson 04's panels: their numbers from the model's scores by hand, every prompt, each step the one of generate."""

import math
import re

import numpy as np
import pytest
import torch
from found_panels import fits, panels

from utils.plots import generation
from utils.pretrained import load_toy_gpt
from utils.sampling import generate
from utils.toy_language import ToyLanguage
from utils.widgets import GenerationStepper, TemperatureExplorer, generation_stepper
from utils.widgets.sampling_panel import SamplingPanel

LANG, MODEL = ToyLanguage(), load_toy_gpt()
PARK = "today Anna took the red ball to our park."
LONG = " ".join([PARK] * 6)  # 60 tokens
PROMPTS = ["", "today Anna took the", PARK, f"{PARK} the", LONG]
FILTERS = [(1.0, "off", 1.0), (0.5, 5, 1.0), (2.0, 20, 0.9), (0, "off", 1.0), (3.0, "off", 0.5)]
PAIRED = list(zip(PROMPTS, FILTERS, strict=True))
CROSSED = list(zip(PROMPTS, FILTERS[1:] + FILTERS[:1], strict=True))


def ids_of(prompt):
    return torch.tensor([[LANG.start, *LANG.encode(prompt)]])  # (1, T)


def kept_by_hand(scores, temperature, top_k, top_p):
    """Token -> probability for what the filters keep, from the likeliest down."""
    order = sorted(range(len(scores)), key=lambda token: (-scores[token], token))
    order = order[: 1 if temperature == 0 else None if top_k == "off" else top_k]
    weights = {token: math.exp((scores[token] - scores[order[0]]) / (temperature or 1)) for token in order}
    kept, total = {}, math.fsum(weights.values())
    for token in order:
        if kept and math.fsum(kept.values()) >= top_p - 1e-6 and top_p < 1:
            break
        kept[token] = weights[token] / total
    return {token: prob / math.fsum(kept.values()) for token, prob in kept.items()}


def set_to(panel, prompt, filters=FILTERS[0]):
    panel.prompt.value = prompt
    panel.temperature.value, panel.top_k.value, panel.top_p.value = filters
    assert panel.error == ""
    return panel


def step(panel, times=1):
    """Press step -> the sentence after each time."""
    said = []
    for _ in range(times):
        panel.step.click()
        assert panel.error == ""
        said.append(panel.sentence)
    return said


def bars(collection):
    """The lengths of the bars that one artist draws, from the top."""
    return [path.vertices[:, 0].max() for path in collection.get_paths()]


# ---- TemperatureExplorer


@pytest.mark.parametrize(("prompt", "filters"), PAIRED + CROSSED, ids=lambda value: str(value)[:20])
def test_the_explorers_numbers_are_those_of_the_model(prompt, filters):
    panel = set_to(TemperatureExplorer(), prompt, filters)
    scores = MODEL(ids_of(prompt)[:, -32:])[0, -1].tolist()
    kept = kept_by_hand(scores, *filters)
    order = sorted(range(200), key=lambda token: (-scores[token], token))[:12]
    pattern = r".* → (\S+) ([\d.]+) at T=([\d.]+); entropy ([\d.]+) nats; (\d+) of 200 kept; others ([\d.]+)"
    best, *numbers = re.fullmatch(pattern, panel.sentence).groups()
    assert best == LANG.vocab[order[0]].replace(".", "“.”")
    probability, temperature, entropy, count, rest = map(float, numbers)
    assert (temperature, count) == (filters[0], len(kept))
    assert probability == pytest.approx(kept[order[0]], abs=6e-4)
    assert entropy == pytest.approx(-math.fsum(prob * math.log(prob) for prob in kept.values()), abs=6e-3)
    assert rest == pytest.approx(1 - math.fsum(kept.get(token, 0) for token in order), abs=6e-4)
    unfiltered = kept_by_hand(scores, filters[0], "off", 1.0)
    for drawn, wanted in zip(panel._figure.axes[0].collections, (kept, unfiltered), strict=True):
        assert bars(drawn)[:12] == pytest.approx([wanted.get(token, 0) for token in order], abs=1e-6)
        assert sum(bars(drawn)) == pytest.approx(1)


def test_top_k_off_is_none_in_the_panel_as_in_the_function():
    panel = TemperatureExplorer()
    assert (panel.top_k.value, panel.filters()) == ("off", (1.0, None, 1.0))
    before = panel.sentence
    panel.top_k.value = 3
    assert "3 of 200 kept" in panel.sentence
    panel.top_k.value = None
    assert (panel.top_k.value, panel.top_k.label, panel.sentence) == ("off", "off", before)


@pytest.mark.parametrize("make", panels(SamplingPanel))
def test_an_empty_prompt_is_the_start_mark_alone_and_says_so(make):
    for blank in ("", "   "):
        assert "start mark alone" in set_to(make(), blank).sentence


UNKNOWN = {
    "today Anna took the redd ball": ["'redd'", "red"],
    "Anna\r\ntook?": ["'took?'", "took"],
    "Anna \N{DOG FACE}": ["'\N{DOG FACE}'"],
    "<start> Anna": ["'<start>'"],
    "z" * 400: ["'zzzzzzzzzzzzzzz…'"],
    "yesterdayyesterdayyesterday": ["'yesterdayyester…'", "yesterday"],
    "<script>alert(1)</script>": ["'<script>alert(1…'"],
}


@pytest.mark.parametrize("make", panels(SamplingPanel))
@pytest.mark.parametrize("prompt", UNKNOWN, ids=lambda prompt: ascii(prompt[:20]))
def test_an_unknown_word_is_named_and_the_next_good_prompt_mends_it(make, prompt):
    panel = make()
    good = panel.sentence
    panel.prompt.value = prompt
    assert [word for word in [*UNKNOWN[prompt], "not a word of the toy language"] if word not in panel.sentence] == []
    assert len(panel.sentence) <= 110
    assert "<script>" not in panel._picture.value
    panel.prompt.value = "today Anna took the"
    assert (panel.error, panel.sentence) == ("", good)


# ---- GenerationStepper


def text_of(panel):
    """The ids that a stepper holds, the prompt's included."""
    return panel._replay(panel.ids(), panel._made)[0]


@pytest.mark.parametrize(("prompt", "filters"), PAIRED, ids=lambda value: str(value)[:20])
def test_each_step_is_that_of_generate(prompt, filters):
    panel, seed = set_to(GenerationStepper(), prompt, filters), 7 + len(prompt)
    panel.seed.value = seed
    options = {"temperature": filters[0], "top_k": None if filters[1] == "off" else filters[1], "top_p": filters[2]}
    generator = torch.Generator().manual_seed(seed)
    wanted = generate(MODEL, ids_of(prompt), 36, generator=generator, **options)[0].tolist()
    for number, said in enumerate(step(panel, 36), 1):
        assert said.startswith(f"Step {number}")
        assert f" draws {LANG.vocab[wanted[number - 37]].replace('.', '“.”')} (" in said
    assert list(text_of(panel)) == wanted


def test_back_and_forth_and_reset_give_the_same_steps():
    panel = GenerationStepper()
    forth, back = [panel.sentence, *step(panel, 8)], []
    picture = panel._picture.value
    for _ in range(9):  # before the first step there is nothing to take back
        back.append(panel.sentence)
        panel.back.click()
    assert [*back[::-1], panel.sentence] == [*forth, forth[0]]
    assert step(panel, 8) == forth[1:]
    assert panel._picture.value == picture
    panel.reset.click()
    assert panel.sentence == forth[0]


def test_another_seed_replays_as_many_steps_and_another_prompt_begins_anew():
    panel = GenerationStepper()
    first = step(panel, 5)[-1]
    panel.seed.value = 1
    assert panel.sentence.startswith("Step 5: ")
    assert panel.sentence != first
    panel.seed.value = 0
    assert panel.sentence == first
    panel.prompt.value = "yesterday"
    assert panel.sentence.startswith("Step 0: Anna is likeliest")


def test_the_random_number_falls_on_the_drawn_tokens_part_of_the_strip():
    panel = set_to(GenerationStepper(), "today Anna took the", (2.0, 30, 0.95))
    generator = torch.Generator().manual_seed(0)
    for _ in range(12):
        (said,) = step(panel)
        u = torch.rand(1, 1, dtype=torch.float64, generator=generator).item()
        *before, drawn = text_of(panel)
        kept = kept_by_hand(MODEL(torch.tensor([before]))[0, -1].tolist(), 2.0, 30, 0.95)
        low = math.fsum(prob for token, prob in kept.items() if token < drawn)
        assert low <= u < low + kept[drawn]
        assert f"u={u:.3f} draws " in said
        assert f"({kept[drawn]:.3f})" in said
        strip = panel._figure.axes[0]
        assert list(strip.lines[0].get_xdata()) == [u, u]
        parts = [path.vertices[:, 0] for path in strip.collections[0].get_paths()]
        assert any(np.allclose([part.min(), part.max()], [low, low + kept[drawn]], atol=1e-6) for part in parts)


def test_beyond_the_context_the_panel_says_what_the_model_sees():
    seen = ["sees the last 32 tokens" in said for said in step(set_to(GenerationStepper(), ""), 34)]
    assert seen == [False] * 32 + [True] * 2  # step 32 reads the mark and 31 more
    assert "sees the last 32 tokens" in set_to(GenerationStepper(), LONG).sentence
    titles = [text.get_text() for text in set_to(TemperatureExplorer(), LONG)._figure.texts]
    assert titles[0].endswith("(sees 32 of 61 tokens)")


def test_an_error_in_a_click_is_told_in_words_and_makes_no_step(monkeypatch):
    panel = GenerationStepper()
    (before,) = step(panel)
    with monkeypatch.context() as patch:
        patch.setattr(generation_stepper, "one_draw", lambda *_: 1 / 0)
        panel.step.click()
        assert "ZeroDivisionError" in panel.sentence
        assert "ZeroDivisionError" in panel._picture.value
    panel.prompt.value = "elephant"
    panel.step.click()
    assert "'elephant'" in panel.sentence
    panel.prompt.value = "today Anna took the"
    assert panel.sentence == before


# ---- the pictures

WORDS, EVEN = ["a", "$x$", "Anna", "“.”"], np.full(4, 0.25)
AFTER = f"next token after: {(PARK * 3)[:60]}"
DRAWN = {
    "filtered": lambda: generation.filtered(WORDS, [0.9, 0.05, 0, 0], [1.0, 0, 0, 0], 196, AFTER, "(T=1)"),
    "before a draw": lambda: generation.one_draw(["<start>"], 0, EVEN, WORDS, [0, 1]),
    "u at 0": lambda: generation.one_draw(["<start>", "a"], 0, EVEN, WORDS, [0, 1], 0.0, 0, "(T=1)"),
    "u near 1": lambda: generation.one_draw(["x"] * 400, 300, EVEN, WORDS, [0, 1], 1 - 1e-12, 3),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_nothing_is_cut_off(draw):
    assert fits(draw())


def test_a_drawn_token_is_always_among_the_bars():
    fig = DRAWN["u near 1"]()
    assert [text.get_text() for text in fig.axes[1].texts if text.get_ha() == "right"] == ["a", "“.”", "2 others"]
    assert bars(fig.axes[1].collections[0]) == pytest.approx([0.25, 0.25, 0.5])


def test_the_growing_text_shows_what_is_seen_and_what_is_new():
    """Three lines in three colours that lie over each other: grey is out of sight, red is drawn last."""
    tokens = ["w0", *(f" w{number}" for number in range(1, 60)), "."]
    fig = generation.one_draw(tokens, 29, EVEN, WORDS, [0, 1], 0.6, 2)
    shown = {text.get_color(): text.get_text() for text in fig.texts}
    assert {text.count("\n") for text in shown.values()} == {2}
    grey, black, red = (shown[colour].split() for colour in (generation.GREY, "black", generation.RED))
    assert (grey[0], grey[-1], black, red) == ("…", "w28", [f"w{number}" for number in range(29, 60)], ["."])
    written = [set(letters) - {generation.HARD_SPACE} for letters in zip(*shown.values(), strict=True)]
    together = "".join(letters.pop() if letters else " " for letters in written)
    assert together.endswith("w57 w58\nw59.")
