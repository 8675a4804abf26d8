"""Answers to exercise 7.5: a tensor's name in GPT-2's file."""

import re

import numpy as np
import torch

_TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")


def _to_course(name):
    return name.removeprefix("transformer."), name.endswith(_TURNED)


def _by_parts(name):
    *block, layer, kind = name.removeprefix("transformer.").split(".")
    return [".".join([*block, layer, kind]), layer[:2] == "c_" and kind == "weight"]


def _by_pattern(name):
    found = re.fullmatch(r"(?:transformer\.)?(.+)", name)
    return found[1], re.search(r"\.c_\w+\.weight$", name) is not None


def _or_for_and(name):
    ours = name.removeprefix("transformer.")
    return ours, "c_" in ours or ours.endswith("weight")


def _a_not(name):
    ours = name.removeprefix("transformer.")
    stored_transposed = "c_" in ours and not ours.endswith("weight")
    return ours, stored_transposed


def _no_flag(name):
    ours = name.removeprefix("transformer.")
    return ours, ours.endswith


RIGHT = [
    _to_course,
    _by_parts,
    _by_pattern,
    lambda name: (name.replace("transformer.", ""), np.bool_(name.endswith(_TURNED))),
    lambda name: (np.str_(_to_course(name)[0]), torch.tensor(name.endswith(_TURNED))),
    lambda name: (_to_course(name)[0], int(".c_" in name and "bias" not in name)),
    lambda name: (name.split("transformer.")[-1], ("attn" in name or "mlp" in name) and name.endswith("weight")),
]
WRONG = [
    ("the name alone", lambda name: name.removeprefix("transformer.")),
    ("the flag alone", lambda name: name.endswith(_TURNED)),
    ("swapped", lambda name: _to_course(name)[::-1]),
    ("the prefix is kept", lambda name: (name, name.endswith(_TURNED))),
    ("neither True nor False", _no_flag),
    ("look    line 3", _or_for_and),
    ("look    line 3", _a_not),
    ("the mark, whether", lambda name: (_to_course(name)[0], name.endswith("proj.weight") and "h.11" in name)),
    ("2 results are wanted", lambda name: (*_to_course(name), None)),
    ("raised", lambda name: (name.prefix, False)),
]
