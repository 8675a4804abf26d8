"""Answers to exercise 7.1: the width of one head."""

from fractions import Fraction

import torch


def _head_size(config):
    if config.get("head_dim") is not None:
        return config["head_dim"]
    if "n_embd" in config:
        return config["n_embd"] // config["n_head"]
    return config["hidden_size"] // config["num_attention_heads"]


def _with_defaults(config):
    width = config.get("n_embd", config.get("hidden_size"))
    heads = config.get("n_head") or config.get("num_attention_heads")
    return config.get("head_dim") or width / heads


def _with_try(config):
    try:
        return int(config["head_dim"])
    except (KeyError, TypeError):
        names = ("n_embd", "n_head") if "n_head" in config else ("hidden_size", "num_attention_heads")
        width, heads = (config[name] for name in names)
        return width // heads


def _upside_down(config):
    if config.get("head_dim") is not None:
        return config["head_dim"]
    if "n_embd" in config:
        return config["n_embd"] // config["n_head"]
    return config["num_attention_heads"] // config["hidden_size"]


RIGHT = [
    _head_size,
    _with_defaults,
    _with_try,
    lambda config: torch.tensor(_head_size(config)),
    lambda config: Fraction(_head_size(config)),
]
WRONG = [
    ("NaN", lambda config: _head_size(config) if "n_head" in config else float("nan")),
    ("look    line 6", _upside_down),
    ("changes `config` in place", lambda config: config.pop("head_dim", None) or _head_size(config)),
    ("a single number", lambda config: [_head_size(config)]),
    ("AttributeError", lambda config: config.n_embd // config.n_head),
]
