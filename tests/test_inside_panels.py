"""The panels that look into the trained model: their pictures hold its numbers, prompts are answered in words."""

import re

import numpy as np
import pytest
import torch
from found_panels import fits, panels
from matplotlib.colors import same_color

from utils.inspection import attention_weights
from utils.plots import inside
from utils.plots.style import GREEN, RED
from utils.pretrained import load_toy_gpt
from utils.toy_language import ToyLanguage
from utils.widgets import AttentionExplorer, Lens
from utils.widgets.story_panel import STORY, StoryPanel

LANGUAGE = ToyLanguage()
STORY_IDS = [LANGUAGE.start, *LANGUAGE.encode(STORY)]
PANELS = panels(StoryPanel)
REPEATS = {14: 9, 17: 2, 19: 11, 23: 5, 24: 6}  # place before a repeated word: where that word stood first


def texts(ax):
    return [text.get_text() for text in ax.texts]


def frames(ax, colour):
    """The framed places in a pair of axes: (x, y) of each."""
    framed = [patch for patch in ax.patches if not patch.get_fill() and same_color(patch.get_edgecolor(), colour)]
    return [patch.get_xy() for patch in framed]


def test_the_story_is_one_of_the_language_and_repeats_where_the_test_says():
    assert LANGUAGE.errors(STORY_IDS) == []
    copied = LANGUAGE.kinds([STORY_IDS])["copied"][0]
    assert copied.nonzero().flatten().tolist() == list(REPEATS)
    assert all(STORY_IDS[place + 1] == STORY_IDS[earlier] for place, earlier in REPEATS.items())


@pytest.mark.parametrize("head", [0, 2])
@pytest.mark.parametrize("place", REPEATS)
def test_heads_0_and_2_find_every_repeated_word_of_the_story(place, head):
    panel = AttentionExplorer()
    panel.layer.value, panel.head.value, panel.word.value = 0, head, place
    word, target = LANGUAGE.vocab[STORY_IDS[place]], LANGUAGE.vocab[STORY_IDS[place + 1]]
    start = f"Layer 0, head {head}: “{word}” ({place}) looks most at “{target}” ({REPEATS[place]}): "
    weight, rest = re.fullmatch(re.escape(start) + r"([\d.]+)(.*)", panel.sentence).groups()
    assert float(weight) > 0.9
    assert rest == "; the same word comes next"


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("place", [0, 8, 14, 31])
def test_the_attention_explorer_draws_the_models_weights(layer, place):
    panel = AttentionExplorer()
    panel.layer.value, panel.head.value, panel.word.value = layer, 3, place
    wanted = attention_weights(load_toy_gpt(), torch.tensor([STORY_IDS[:32]]))[layer, 0, 3]
    story, grid, _ = panel._figure.axes
    drawn = np.ma.filled(grid.images[0].get_array(), 0)
    assert np.allclose(drawn, wanted.numpy(), atol=1e-6)
    assert frames(grid, RED) == [(-0.5, place - 0.5)]
    assert texts(story) == [LANGUAGE.vocab[number] for number in STORY_IDS]
    assert len(frames(story, RED)) == 1
    assert f"{wanted[place].max():.2f}" in panel.sentence
    target = int(wanted[place].argmax())
    named = f"“{LANGUAGE.vocab[STORY_IDS[target]]}” ({target})" if target else "the start mark"
    assert f"most at {named}: " in panel.sentence


def test_shades_follow_the_picked_words_weights_and_stop_at_it():
    weights = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    weights[2] = [0.1, 0.7, 0.2, 0.0]
    story = inside.attention(["a", "b", "c", "d", "e"], weights, 2).axes[0]
    shades = [patch.get_facecolor() for patch in story.patches if patch.get_fill()]
    wanted = inside.SHADES(inside.DEEPEST * weights[2])
    assert all(same_color(shade, colour) for shade, colour in zip(shades, wanted, strict=False))
    assert sum(shades[1][:3]) < sum(shades[0][:3]), "a larger weight is darker"
    assert len(shades) == 3


@pytest.mark.parametrize("place", [0, 8, 14, 19, 31])
def test_the_lens_shows_each_layers_likeliest_words_and_ends_with_the_models_output(place):
    panel = Lens()
    panel.word.value = place
    model, ids = load_toy_gpt(), torch.tensor([STORY_IDS[:32]])
    with torch.no_grad():
        stream = [model.wte(ids) + model.wpe(torch.arange(32))]
        for block in model.h:
            stream.append(block(stream[-1]))
        rows = [(model.ln_f(x) @ model.wte.weight.T)[0, place].softmax(-1) for x in stream]
        output = model(ids)[0, place].softmax(-1)
    cells = texts(panel._figure.axes[1])
    truth, wanted, best = STORY_IDS[place + 1], [], []
    for row in [*rows[:2], output]:
        top = row.topk(5).indices.tolist()
        wanted += [part for token in [*top, truth] for part in (LANGUAGE.vocab[token], f"{row[token]:.2f}")]
        best.append(f"{LANGUAGE.vocab[top[0]].replace('<start>', 'start mark')} {row[top[0]]:.2f}")
    assert [text for text in cells if text in LANGUAGE.vocab or re.fullmatch(r"\d\.\d\d", text)] == wanted
    assert f": {', then '.join(best)}; in the story: {LANGUAGE.vocab[truth]} {output[truth]:.2f}" in panel.sentence
    shown = sum(truth in row.topk(5).indices for row in [*rows[:2], output])
    assert len(frames(panel._figure.axes[1], GREEN)) == shown + 3


@pytest.mark.parametrize("make", PANELS)
def test_another_prompt_moves_to_its_last_word(make):
    panel = make()
    first = panel.sentence
    panel.prompt.value = "Once anna took the red ball to our park. at our"
    assert (panel.word.value, panel.word.max) == (12, 12)
    assert "“our” (12)" in panel.sentence
    panel.word.value = 5
    assert "“red” (5)" in panel.sentence
    panel.prompt.value = "  "
    assert (panel.error, panel.word.max) == ("", 1)
    assert "the start mark" in panel.sentence
    assert texts(panel._figure.axes[0]) == ["<start>"]
    assert not re.search("in the story|comes next", panel.sentence)
    panel.prompt.value = STORY
    assert (panel.word.value, panel.word.max) == (31, 31)
    panel.word.value = 14
    assert panel.sentence == first


@pytest.mark.parametrize(
    ("prompt", "words"), [("Anna took the zebra", "'zebra'"), ("once " * 33, "33 tokens, and there is room for 32")]
)
@pytest.mark.parametrize("make", PANELS)
def test_a_prompt_that_cannot_be_read_is_told_in_words_and_mended_by_the_next(make, prompt, words):
    panel = make()
    good = panel.sentence
    panel.prompt.value = prompt
    assert words in panel.sentence
    panel.prompt.value = STORY
    assert (panel.error, panel.sentence) == ("", good)


@pytest.mark.parametrize(
    "prompt", ["once Anna", "yesterday surprised squirrel " * 10 + "sunset sunset", "umbrella " * 32]
)
@pytest.mark.parametrize("make", PANELS)
def test_whatever_the_words_are_they_fit(make, prompt):
    panel = make()
    panel.prompt.value = prompt
    assert panel.error == ""
    assert fits(panel._figure)
    for place in range(panel.word.max):
        panel.word.value = place
        assert len(panel.sentence) <= 110, panel.sentence
