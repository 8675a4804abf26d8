"""Answers to exercise 7.3: the count of a GPT-2 from its file."""

import numpy as np
import torch

from utils.model import GPT, GPTConfig
from utils.pretrained import count_from_hf


def _count(config, norms=2, final=2):
    d, table = config["n_embd"], config["vocab_size"] * config["n_embd"]
    d_ff = config.get("n_inner") or 4 * d
    block = 4 * d * d + 4 * d + 2 * d * d_ff + d_ff + d + norms * 2 * d
    head = 0 if config.get("tie_word_embeddings", True) else table
    return table + config["n_positions"] * d + config["n_layer"] * block + final * d + head


def _from_a_model_without_memory(config):
    sizes = {"vocab_size": config["vocab_size"], "n_ctx": config["n_positions"], "n_embd": config["n_embd"]}
    form = {"tied": config.get("tie_word_embeddings", True), "n_inner": config.get("n_inner")}
    with torch.device("meta"):
        model = GPT(GPTConfig(**sizes, **form, n_layer=config["n_layer"], n_head=1))
    return sum(parameter.numel() for parameter in model.parameters())


def _a_product(config):
    d, V, n, L = config["n_embd"], config["vocab_size"], config["n_positions"], config["n_layer"]
    d_ff = config.get("n_inner") or 4 * d
    block = 4 * d * d + 4 * d + 2 * d * d_ff + d_ff * d + 4 * d
    tables = V if config.get("tie_word_embeddings", True) else 2 * V
    return (tables + n) * d + L * block + 2 * d


RIGHT = [
    _count,
    _from_a_model_without_memory,
    lambda config: sum(count_from_hf({"model_type": "gpt2", "n_head": 1} | config).values()),
    lambda config: float(_count(config)),
    lambda config: np.int64(_count(config)),
    lambda config: torch.tensor(_count(config)),
]
WRONG = [
    ("missing here: the final layer norm", lambda config: _count(config, final=0)),
    ("missing here: `ln_1`, or `ln_2`", lambda config: _count(config, norms=1)),
    ("these are millions", lambda config: _count(config) / 1e6),
    ("look    line 4", _a_product),
    ("changes `config` in place", lambda config: _count(config) + 0 * config.setdefault("n_inner", 1)),
    ("KeyError: 'n_head'", lambda config: _count(config) + 0 * config["n_head"]),
]
