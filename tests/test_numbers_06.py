"""The numbers that lesson 06 states, compared with what they speak of.

That a cache gives the scores of the full pass, for every way of cutting, is tested in test_cache.py.
"""

import ast
import inspect
import math
import re

import pytest
import torch
from notebook_files import prose, said
from stated import assert_stated, lesson, quiz_text

from utils import cache, check, model
from utils.counting import GPT2_FAMILY, GPT3_FAMILY
from utils.pretrained import COURSE_MODEL, load_toy_gpt
from utils.scaling import matmul_flops
from utils.toy_language import ToyLanguage
from utils.widgets import CacheExplorer, quiz

PATH = lesson("06")
TEXT, QUIZ = prose(PATH), quiz_text("06")
SMALL, LARGE = GPT2_FAMILY["GPT-2 small"], GPT3_FAMILY["GPT-3 175B"]


def measured_bytes(config):
    """Bytes of the tensors in which a real cache keeps one sequence."""
    cache = model.KVCache(config)
    return sum(tensor.numel() * tensor.element_size() for tensor in (cache.k, cache.v))


ONE_SMALL = measured_bytes(SMALL) // SMALL.n_ctx
FULL_LARGE = 2 * LARGE["n_layer"] * LARGE["n_embd"] * LARGE["n_ctx"] * 2  # bytes in 16 bits
WEIGHTS_LARGE = 2 * 174_604_259_328  # of all unique parameters: lesson 03's 174.6 billion

STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("6.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("06"))]),
    (r"text of ([\d,]+) tokens it computes ([\d,]+) vectors in every block", [1_000, 1_000]),
    (r"next turn it computes ([\d,]+), and ([\d,]+) of them", [1_000 + 1, 1_000]),
    (r"run a story of (\d+) tokens .+ its first (\d+)\.", [20, 20 - 1]),
    (r"these are (\d+) million in the blocks", [round(12 * SMALL.n_layer * SMALL.n_embd**2 / 1e6)]),
    (r"blocks, and ([\d.]+) million more for the scores", [round(SMALL.vocab_size * SMALL.n_embd / 1e6, 1)]),
    (r"full conversation with GPT-3 holds nearly (\d+) GB", [math.ceil(FULL_LARGE / 1e9)]),
    (r"Choose GPT-3 in bfloat16 with ([\d,]+) tokens", [LARGE["n_ctx"]]),
    (r"as large as the weights: (\d+) conversations are enough", [math.ceil(WEIGHTS_LARGE / FULL_LARGE)]),
    (r"with a context of (\d+): the cache is full after (\d+)", [COURSE_MODEL.n_ctx, COURSE_MODEL.n_ctx]),
    (r"numbers for a sequence, ([\d,]+) bytes a token for GPT-2 small", [ONE_SMALL]),
]
IN_THE_QUIZ = [
    (r"^Row (\d+)\.\nPositions count from 0", [len(range(10))]),
    (r"the eleventh token has position (\d+): the length of the cache", [11 - 1]),
    (r"Ten tokens have the positions (\d+) to (\d+)\.", [0, 9]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_06_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


@pytest.mark.parametrize(("sentence", "wanted"), IN_THE_QUIZ, ids=[sentence for sentence, _ in IN_THE_QUIZ])
def test_a_number_that_quiz_06_states_is_right(sentence, wanted):
    assert_stated(QUIZ, f"(?m:{sentence})", wanted)


def test_the_work_with_and_without_a_cache_is_that_of_the_matrices():
    """From the library's count, whose pairs of tokens are all of them: the mask hides about half."""
    parts = matmul_flops(SMALL, n_tokens=1_024)
    pairs = parts["attention scores"] + parts["weighted sum"]
    again = (sum(parts.values()) - pairs / 2) / 2 / 1e9
    alone = sum(parts.values()) / 2 / 1_024 / 1e9  # the last token looks at all 1,024
    (shown,) = re.findall(r"All again: (\d+) billion at 1,024\. Only the new: ([\d.]+) to ([\d.]+\d)\.", said(PATH))
    first = sum(matmul_flops(SMALL, n_tokens=1).values()) / 2 / 1e9
    assert [float(text) for text in shown] == [round(again), round(first, 2), round(alone, 2)]
    saved = SMALL.vocab_size * SMALL.n_embd * (1_024 - 1) / 1e9
    assert_stated(TEXT, r"saves (\d+) of the (\d+) billion", [round(saved), round(again)])
    assert "So nineteen twentieths of this work was done before" in TEXT


def test_the_published_caches_are_shown():
    assert "GPT-2 small: 73,728 bytes a token, 75.5 MB for 1,024" in said(PATH)
    assert "GPT-3 175B: 4.7 MB a token, 9.66 GB for 2,048" in said(PATH)
    assert (ONE_SMALL, round(1_024 * ONE_SMALL / 1e6, 1)) == (73_728, 75.5)
    assert (round(FULL_LARGE / 2_048 / 1e6, 1), round(FULL_LARGE / 1e9, 2)) == (4.7, 9.66)
    assert r"$$2 \cdot L \cdot n \cdot d \text{ numbers for one sequence}$$" in TEXT


def test_the_explorer_finds_the_batch_whose_cache_is_as_large_as_the_weights():
    panel = CacheExplorer()
    panel.model.value, panel.context.value, panel.precision.value = "GPT-3 175B", 2_048, "bfloat16"
    larger = []
    for batch in (36, 37):
        panel.batch.value = batch
        cache, weights = (
            int(text.replace(",", "")) for text in re.findall(r"(?:cache|weights) ([\d,]+) bytes", panel.sentence)
        )
        larger.append(cache >= weights)
    assert larger == [False, True]


def test_the_cache_grows_by_one_token_a_step():
    shown = re.findall(r"^(prefill|decode ) \(1, (\d+)\) .*?(\d+)(?: of 32 tokens, .*)?$", said(PATH), re.M)
    assert [(name.strip(), int(new)) for name, new, _ in shown] == [("prefill", 5)] + [("decode", 1)] * 3
    assert [int(length) for _, _, length in shown] == [5, 6, 7, 8]
    assert f"batch 1, 2 layers, {2 * 2 * 32 * 64 * 4:,} bytes)" in said(PATH)


def test_the_cache_takes_about_as_many_lines_as_stated():
    """Code alone: without comments and docstrings, and without what refuses a cache that does not fit."""
    assert "The class `KVCache` in `utils/cache.py` and its use in `utils/model.py` are about sixty lines" in TEXT
    kept = [line for part in (cache.LayerCache, cache.KVCache) for line in code(part)]
    used = [line for line in code(model) if re.search(r"\b(cache|layer_caches?)\b", line)]
    assert len(kept) + len(used) == pytest.approx(60, abs=5)


def code(part):
    """The lines of a class or module, without empty ones and docstrings."""
    lines = ast.unparse(ast.parse(inspect.getsource(part))).splitlines()
    return [line for line in lines if line.strip() and '"""' not in line]


def test_a_rolled_cache_is_another_model():
    """Keys and values dropped from the front, on other stories than the lesson's."""
    assert "that would be *another model*" in TEXT
    assert "the scores differ by more than 0.1: True" in said(PATH)
    toy, stories = load_toy_gpt(), ToyLanguage().stories(20, seed=6)[0]
    rolled = model.KVCache(toy.config, batch_size=20)
    toy(stories[:, :32], cache=rolled)
    rolled.kv.copy_(rolled.kv.roll(-1, dims=-2))
    rolled.length = 31
    with torch.no_grad():
        apart = (toy(stories[:, 32:], cache=rolled)[:, -1] - toy(stories[:, 1:])[:, -1]).abs().amax(-1)
    assert apart.min() > 0.1
