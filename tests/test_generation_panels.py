"""Lesson 04's panels: their numbers from the model's scores by hand, every prompt, each step the one of generate."""

import math
import re

import matplotlib
import numpy as np
import pytest
import torch
from found_panels import panels
from matplotlib.backends.backend_agg import FigureCanvasAgg

from utils.plots import generation
from utils.pretrained import load_toy_gpt
from utils.sampling import generate
from utils.toy_language import ToyLanguage
from utils.widgets import GenerationStepper, TemperatureExplorer, generation_stepper
from utils.widgets.sampling_panel import SamplingPanel

PANELS = panels(SamplingPanel)
LANG, MODEL = ToyLanguage(), load_toy_gpt()
PARK = "today Anna took the red ball to our park."
LONG = " ".join([PARK] * 6)  # 60 tokens
PROMPTS = ["", "today Anna took the", PARK, f"{PARK} the", LONG]
FILTERS = [(1.0, "off", 1.0), (0.5, 5, 1.0), (2.0, 20, 0.9), (0, "off", 1.0), (3.0, "off", 0.5)]
PAIRED = list(zip(PROMPTS, FILTERS, strict=True))
CROSSED = list(zip(PROMPTS, FILTERS[1:] + FILTERS[:1], strict=True))


def ids_of(prompt):
    return torch.tensor([[LANG.start, *LANG.encode(prompt)]])  # (1, T)


def scores_after(prompt):
    with torch.no_grad():
        return MODEL(ids_of(prompt)[:, -32:])[0, -1].tolist()


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


def set_to(panel, prompt, filters):
    panel.prompt.value = prompt
    panel.temperature.value, panel.top_k.value, panel.top_p.value = filters
    assert panel.error == ""
    return panel


def bars(collection):
    """The lengths of the bars that one artist draws, from the top."""
    return [path.vertices[:, 0].max() for path in collection.get_paths()]


# ---- TemperatureExplorer


@pytest.mark.parametrize(("prompt", "filters"), PAIRED + CROSSED, ids=lambda value: str(value)[:20])
def test_the_explorers_numbers_are_those_of_the_model(prompt, filters):
    panel = set_to(TemperatureExplorer(), prompt, filters)
    scores = scores_after(prompt)
    kept = kept_by_hand(scores, *filters)
    order = sorted(range(200), key=lambda token: (-scores[token], token))[:12]
    best, probability, temperature, entropy, count, rest = re.fullmatch(
        r".* → (\S+) ([\d.]+) at T=([\d.]+); entropy ([\d.]+) nats; (\d+) of 200 kept; others ([\d.]+)",
        panel.sentence,
    ).groups()
    assert best == LANG.vocab[order[0]].replace(".", "“.”")
    assert float(temperature) == filters[0]
    assert float(probability) == pytest.approx(kept[order[0]], abs=6e-4)
    by_hand = -math.fsum(prob * math.log(prob) for prob in kept.values())
    assert float(entropy) == pytest.approx(by_hand, abs=6e-3)
    assert int(count) == len(kept)
    assert float(rest) == pytest.approx(1 - math.fsum(kept.get(token, 0) for token in order), abs=6e-4)
    filled, outlines = panel._figure.axes[0].collections
    assert bars(filled)[:12] == pytest.approx([kept.get(token, 0) for token in order], abs=1e-6)
    unfiltered = kept_by_hand(scores, filters[0], "off", 1.0)
    assert bars(outlines)[:12] == pytest.approx([unfiltered.get(token, 0) for token in order], abs=1e-6)
    assert sum(bars(filled)) == pytest.approx(1)
    assert sum(bars(outlines)) == pytest.approx(1)


def test_the_lessons_numbers_after_today_anna_took_the():
    panel = TemperatureExplorer()
    assert panel.sentence == (
        "today Anna took the → red 0.321 at T=1; entropy 2.41 nats; 200 of 200 kept; others 0.100"
    )
    panel.top_k.value, panel.top_p.value = 8, 0.8  # of these eight: 0.403, 0.568, 0.690, 0.788, 0.853
    assert "5 of 200 kept; others 0.000" in panel.sentence


def test_top_k_off_is_none_in_the_panel_as_in_the_function():
    panel = TemperatureExplorer()
    assert (panel.top_k.value, panel.filters()) == ("off", (1.0, None, 1.0))
    before = panel.sentence
    panel.top_k.value = 3
    assert "3 of 200 kept" in panel.sentence
    panel.top_k.value = None
    assert (panel.top_k.value, panel.top_k.label, panel.sentence) == ("off", "off", before)


def test_an_empty_prompt_is_the_start_mark_alone_and_says_so():
    for blank in ("", "   "):
        assert "start mark alone" in set_to(TemperatureExplorer(), blank, FILTERS[0]).sentence
        assert "start mark alone" in set_to(GenerationStepper(), blank, FILTERS[0]).sentence


UNKNOWN = {
    "today Anna took the redd ball": ["'redd'", "red"],
    "dgo": ["'dgo'", "dog"],
    "Anna\r\ntook?": ["'took?'", "took"],
    "a caf\u00e9": ["'caf\u00e9'"],
    "Anna \N{DOG FACE}": ["'\N{DOG FACE}'"],
    "<start> Anna": ["'<start>'"],
    "z" * 400: ["'zzzzzzzzzzzzzzz…'"],
    "yesterdayyesterdayyesterday": ["'yesterdayyester…'", "yesterday"],
    "<script>alert(1)</script>": ["'<script>alert(1…'"],
}


@pytest.mark.parametrize("make", PANELS)
@pytest.mark.parametrize("prompt", UNKNOWN, ids=lambda prompt: ascii(prompt[:20]))
def test_an_unknown_word_is_named_and_the_next_good_prompt_mends_it(make, prompt):
    panel = make()
    good, height = panel.sentence, round(90 * panel._figure.get_size_inches()[1])
    panel.prompt.value = prompt
    assert [word for word in [*UNKNOWN[prompt], "not a word of the toy language"] if word not in panel.sentence] == []
    assert len(panel.sentence) <= 110
    assert repr(panel) == panel.sentence
    page = panel._picture.value
    assert 'role="alert"' in page
    assert f"min-height:calc({height}px" in page  # as much space as a picture
    assert "<script>" not in page
    panel.prompt.value = "today Anna took the"
    assert (panel.error, panel.sentence) == ("", good)
    assert "alert" not in panel._picture.value


@pytest.mark.parametrize("make", PANELS)
def test_the_sentence_fits_and_no_picture_changes_its_size(make):
    panel, sizes = make(), set()
    panel.temperature.value, panel.top_k.value = 0.1234567, 200
    stories, _ = LANG.stories(4, seed=4)
    prompts = [LANG.decode(story[: 3 + 9 * place]) for place, story in enumerate(stories)]
    for prompt in [*prompts, "." * 50, "surprised " * 40]:
        panel.prompt.value = prompt
        for _ in range(2 if make is GenerationStepper else 1):
            assert panel.error == ""
            assert len(panel.sentence) <= 110
            assert repr(panel) == panel.sentence
            sizes.add(re.search(r'width="\d+" height="\d+"', panel._picture.value).group())
            if make is GenerationStepper:
                panel.step.click()
    assert len(sizes) == 1


# ---- GenerationStepper


def text_of(panel):
    """The ids that a stepper holds, the prompt's included."""
    return panel._replay(panel.ids(), panel._made)[0]


@pytest.mark.parametrize(("prompt", "filters"), PAIRED, ids=lambda value: str(value)[:20])
def test_each_step_is_that_of_generate(prompt, filters):
    panel, seed = set_to(GenerationStepper(), prompt, filters), 7 + len(prompt)
    panel.seed.value = seed
    temperature, top_k, top_p = filters
    wanted = generate(
        MODEL,
        ids_of(prompt),
        36,
        temperature=temperature,
        top_k=None if top_k == "off" else top_k,
        top_p=top_p,
        generator=torch.Generator().manual_seed(seed),
    )[0].tolist()
    start = len(wanted) - 36
    for step in range(1, 37):
        panel.step.click()
        assert panel.error == ""
        assert panel.sentence.startswith(f"Step {step}")
        word = LANG.vocab[wanted[start + step - 1]].replace(".", "“.”")
        assert f" draws {word} (" in panel.sentence
    assert list(text_of(panel)) == wanted


def test_back_and_forth_and_reset_give_the_same_steps():
    panel = GenerationStepper()
    forth = [panel.sentence]
    for _ in range(8):
        panel.step.click()
        forth.append(panel.sentence)
    pictures = {panel.sentence: panel._picture.value}
    back = [panel.sentence]
    for _ in range(8):
        panel.back.click()
        back.append(panel.sentence)
    assert back == forth[::-1]
    panel.back.click()
    assert panel.sentence == forth[0]
    for _ in range(8):
        panel.step.click()
    assert pictures == {panel.sentence: panel._picture.value}
    panel.reset.click()
    assert panel.sentence == forth[0]


def test_another_seed_replays_as_many_steps_and_another_prompt_begins_anew():
    panel = GenerationStepper()
    for _ in range(5):
        panel.step.click()
    first = panel.sentence
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
        panel.step.click()
        u = torch.rand(1, 1, dtype=torch.float64, generator=generator).item()
        *before, drawn = text_of(panel)
        scores = MODEL(torch.tensor([before]))[0, -1].tolist()
        kept = kept_by_hand(scores, 2.0, 30, 0.95)
        low = math.fsum(prob for token, prob in kept.items() if token < drawn)
        assert low <= u < low + kept[drawn]
        strip = panel._figure.axes[0]
        assert list(strip.lines[0].get_xdata()) == [u, u]
        assert f"u={u:.3f} draws " in panel.sentence
        assert f"({kept[drawn]:.3f})" in panel.sentence
        parts = [path.vertices[:, 0] for path in strip.collections[0].get_paths()]
        assert any(np.allclose([part.min(), part.max()], [low, low + kept[drawn]], atol=1e-6) for part in parts)


def test_beyond_the_context_the_panel_says_what_the_model_sees():
    panel = set_to(GenerationStepper(), "", FILTERS[0])
    for step in range(1, 35):
        panel.step.click()
        assert ("sees the last 32 tokens" in panel.sentence) == (step > 32)  # step 32 reads the mark and 31 more
    assert "sees the last 32 tokens" in set_to(GenerationStepper(), LONG, FILTERS[0]).sentence
    titles = [text.get_text() for text in set_to(TemperatureExplorer(), LONG, FILTERS[0])._figure.texts]
    assert titles[0].endswith("(sees 32 of 61 tokens)")


def test_an_error_in_a_click_is_told_in_words_and_makes_no_step(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("no picture today")

    panel = GenerationStepper()
    panel.step.click()
    before = panel.sentence
    with monkeypatch.context() as patch:
        patch.setattr(generation_stepper, "one_draw", broken)
        panel.step.click()
        assert "no picture today" in panel.sentence
        assert "no picture today" in panel._picture.value
    panel.prompt.value = "elephant"
    panel.step.click()
    assert "'elephant'" in panel.sentence
    panel.prompt.value = "today Anna took the"
    assert panel.sentence == before


def test_every_button_says_what_it_does():
    panel = GenerationStepper()
    for name in ("step", "back", "reset"):
        button = getattr(panel, name)
        assert button.description == name
        assert len(button.tooltip) > 10


# ---- the pictures

WORDS = ["a", "$x$", "Anna", "“.”"]
DRAWN = {
    "filtered": lambda: generation.filtered(
        WORDS, [0.9, 0.05, 0, 0], [1.0, 0, 0, 0], 196, f"next token after: {(PARK * 3)[:60]}", "(T=1)"
    ),
    "before a draw": lambda: generation.one_draw(["<start>"], 0, np.full(4, 0.25), WORDS, [0, 1]),
    "u at 0": lambda: generation.one_draw(["<start>", "a"], 0, np.full(4, 0.25), WORDS, [0, 1], 0.0, 0, "(T=1)"),
    "u near 1": lambda: generation.one_draw(["x"] * 400, 300, np.full(4, 0.25), WORDS, [0, 1], 1 - 1e-12, 3),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_nothing_is_cut_off_and_no_setting_changes(draw):
    before = dict(matplotlib.rcParams)
    fig = draw()
    assert dict(matplotlib.rcParams) == before
    needed = fig.get_tightbbox(FigureCanvasAgg(fig).get_renderer())  # inches
    assert min(needed.x0, needed.y0) >= 0
    assert (needed.x1, needed.y1) <= tuple(fig.get_size_inches())


def test_a_drawn_token_is_always_among_the_bars():
    fig = DRAWN["u near 1"]()
    assert [text.get_text() for text in fig.axes[1].texts if text.get_ha() == "right"] == ["a", "“.”", "2 others"]
    assert bars(fig.axes[1].collections[0]) == pytest.approx([0.25, 0.25, 0.5])


def test_the_growing_text_shows_what_is_seen_and_what_is_new():
    tokens = [f"w{number}" for number in range(60)] + ["."]
    fig = generation.one_draw(tokens, 29, np.full(4, 0.25), WORDS, [0, 1], 0.6, 2)
    shown = {text.get_color(): text.get_text() for text in fig.texts}
    lines = {colour: text.split("\n") for colour, text in shown.items()}
    assert {len(text) for text in lines.values()} == {3}
    assert shown[generation.GREY].split()[-1] == "w28"
    assert [colour for colour, text in shown.items() if "…" in text] == [generation.GREY]
    assert shown["black"].split()[0] == "w29"
    assert shown["black"].split()[-1] == "w59"
    assert shown[generation.RED].split() == ["."]
    together = "\n".join(
        "".join(
            max(letters) if max(letters) != generation.HARD_SPACE else min(letters)
            for letters in zip(*rows, strict=True)
        )
        for rows in zip(*lines.values(), strict=True)
    )
    assert together.replace(generation.HARD_SPACE, " ").endswith("w57 w58\nw59.")
