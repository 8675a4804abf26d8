"""Odd but valid JSON in place of a configuration's values: counted, or refused in one sentence that names the key."""

import json
import math
import random
import re

import pytest

from utils.model import GPTConfig
from utils.pretrained import KNOWN_CONFIGS, cache_bytes_from_hf, config_from_hf, count_from_hf
from utils.pretrained.hf_configs import ARCHITECTURES, FIXED
from utils.widgets import ConfigReader, config_reader

GPT2_KEYS = {"vocab_size", "n_positions", "n_ctx", "n_embd", "n_layer", "n_head", "n_inner", "add_cross_attention"}
LLAMA_KEYS = {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"}
LLAMA_KEYS |= {"num_key_value_heads", "head_dim", "attention_bias", "mlp_bias"}
KEYS = sorted({"tie_word_embeddings", "text_config", "architectures", *FIXED, *GPT2_KEYS, *LLAMA_KEYS})
NAMES = ["GPT2LMHeadModel", "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "FalconForCausalLM"]
NESTED = json.loads("[" * 500 + "]" * 500)
NUMBERS = [0, 1, 2, 7, 12, 512, -1, -4096, 10**6, 10**8, 10**9, 10**30, -(10**400)]
FLOATS = [0.0, 1.5, 768.0, 1e308, math.inf, -math.inf, math.nan]
WORDS = ["", "x", "4096", "true", "NaN", "<b>\n", "\ud800", "x" * 9_999, *ARCHITECTURES, *NAMES]
LISTS = [[], [1], [None], ["x"] * 999, NESTED, [[]], *([name] for name in NAMES)]
SECTIONS = [{"hidden_size": 8, "tie_word_embeddings": False}, {"tie_word_embeddings": None, "n_embd": "x"}]
ODD = [None, True, False, *NUMBERS, *FLOATS, *WORDS, *LISTS, {}, {"a": 1}, {"": {"": []}}, *SECTIONS]


def mutated(seed):
    """A known configuration with one to three keys given an odd value or dropped -> it, what it was, those keys."""
    pick = random.Random(seed)
    known = pick.choice(list(KNOWN_CONFIGS.values()))
    keys = pick.sample(sorted({*known, *KEYS}), pick.choice([1, 1, 2, 3]))
    config = known | {key: pick.choice(ODD) for key in keys}
    for key in keys:
        if pick.random() < 0.1:
            del config[key]
    return config, known, keys


def is_sentence(text):
    """Whether this is one sentence, short, and none of Python's own."""
    return re.fullmatch(r"[^\n]{20,400}\.", text) and not re.search(r"[.?!] [A-Z]|Error|Exceeds|recursion", text)


def outcome(read, config):
    try:
        return read(config)
    except (ValueError, TypeError) as fault:
        return f"{type(fault).__name__}: {fault}"


def possible(result):
    """Whether a count, the bytes of a cache or a configuration, which checks itself, can be true."""
    numbers = [1] if isinstance(result, GPTConfig) else [*result.values()] if isinstance(result, dict) else [result]
    return {type(number) for number in numbers} == {int} and min(numbers) >= 0 and 0 < sum(numbers) < 10**15


@pytest.mark.parametrize("read", [count_from_hf, cache_bytes_from_hf, config_from_hf])
def test_odd_values_are_read_or_refused_in_a_sentence(read):
    refused = 0
    for seed in range(300):
        config, _, keys = mutated(seed)
        result = outcome(read, config)
        assert outcome(read, json.loads(json.dumps(config))) == result
        if not isinstance(result, str):
            assert possible(result), (config, result)
            continue
        refused += 1
        kind, _, sentence = result.partition(": ")
        assert kind in ("ValueError", "TypeError")
        assert is_sentence(sentence), sentence
        named = (*keys, "model_type", "The architecture", "too many digits")
        assert any(word in sentence for word in named), (keys, sentence)
    assert 100 < refused < 290


def test_what_does_not_matter_may_be_anything():
    for seed in range(300):
        config, known, _ = mutated(seed)
        matter = (GPT2_KEYS if known["model_type"] == "gpt2" else LLAMA_KEYS) | {"model_type", "architectures"}
        harmless = {key: value for key, value in config.items() if key not in matter}
        tie = {"tie_word_embeddings": True}  # given, so that one inside a section is no riddle
        assert count_from_hf(known | harmless | tie) == count_from_hf(known | tie)


def test_the_text_box_takes_odd_values_and_damaged_texts(monkeypatch):
    panel = ConfigReader()
    figure = panel._figure
    monkeypatch.setattr(config_reader, "from_config", lambda *_: figure)  # pictures are tested elsewhere, and slow
    monkeypatch.setattr("utils.widgets.panel.figure_html", lambda *_, **__: "")
    refused = 0
    for seed in range(300):
        config, *_ = mutated(seed)
        text = json.dumps(config, indent=seed % 3 or None)
        cut = random.Random(seed).randrange(len(text))
        panel.config.value = text[:cut] + text[cut + 1 :] if seed % 4 == 0 else text
        if panel.error:
            refused += 1
            assert panel.error.startswith(("ValueError: ", "TypeError: ")), panel.error
            assert is_sentence(panel.sentence), panel.sentence
        assert panel.error or len(panel.sentence) <= 110
    assert 100 < refused < 280
