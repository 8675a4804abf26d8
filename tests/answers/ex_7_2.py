"""Answers to exercise 7.2: the MLP's width."""

import numpy as np
import torch

from utils.model import GPTConfig


def _mlp_width(config):
    given = config.get("n_inner")
    return 4 * config["n_embd"] if given is None else given


def _with_match(config):
    match config:
        case {"n_inner": int(width)}:
            return width
        case {"n_embd": width}:
            return 4 * width


def _swapped(config):
    given = config.get("n_inner")
    return 4 * config["n_embd"] if given is not None else given


def _adds(config):
    given = config.get("n_inner")
    return 4 + config["n_embd"] if given is None else given


RIGHT = [
    _mlp_width,
    _with_match,
    lambda config: config.get("n_inner") or 4 * config["n_embd"],
    lambda config: GPTConfig(1, 1, config["n_embd"], 1, 1, n_inner=config.get("n_inner")).d_ff,
    lambda config: np.int32(_mlp_width(config)),
    lambda config: torch.tensor(float(_mlp_width(config))),
]
WRONG = [
    ("look    line 3", _swapped),
    ("look    line 3", _adds),
    ("KeyError: 'hidden_size'", lambda config: config.get("n_inner") or 4 * config["hidden_size"]),
    ("where `n_inner` is given", lambda config: (config.get("n_inner") or 0) + 4 * config["n_embd"]),
    ("changes `config` in place", lambda config: config.setdefault("n_inner", 0) or 4 * config["n_embd"]),
    ("returns a dict", lambda config: config | {"n_inner": _mlp_width(config)}),
]
