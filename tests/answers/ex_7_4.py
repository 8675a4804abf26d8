"""Answers to exercise 7.4: the odd entry of four cards."""

import types

import numpy as np

_ODD = {"A": "n_head", "B": "parameters", "C": "vocab_size", "D": "num_key_value_heads"}

RIGHT = [
    lambda: dict(_ODD),
    lambda: dict(reversed(_ODD.items())),
    lambda: types.MappingProxyType(_ODD),
    lambda: dict(zip(np.array([*"ABCD"]), np.array([*_ODD.values()]), strict=True)),
]
WRONG = [
    ("card A: 'n_embd' can be right; divide", lambda: _ODD | {"A": "n_embd"}),
    ("card B: 'n_head' can be right; count", lambda: _ODD | {"B": "n_head"}),
    ("card D has no entry 'n_head'", lambda: _ODD | {"D": "n_head"}),
    ("card A: 10 is the value of an entry", lambda: {"A": 10, "B": 163_037_184, "C": 50_000, "D": 5}),
    ('card C: "GPT-2\'s" is the value of an entry', lambda: _ODD | {"C": "GPT-2's"}),
    ("card B: one key is wanted, in quotes, and yours is a list", lambda: _ODD | {"B": ["parameters"]}),
    ("with the keys 'A', 'B', 'C', 'D'", lambda: {card.lower(): key for card, key in _ODD.items()}),
    ("with the keys", lambda: _ODD | {"E": "n_head"}),
    ("returns None", lambda: print(end="")),
]
