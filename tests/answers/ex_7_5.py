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


def _the_second(name):
    ours = name.split("transformer.")[1]
    return ours, ours.endswith(_TURNED)


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
    ("missing: the mark", lambda name: name.removeprefix("transformer.")),
    ("swapped", lambda name: _to_course(name)[::-1]),
    ("the prefix is kept", lambda name: (name, name.endswith(_TURNED))),
    ("neither True nor False", lambda name: (_to_course(name)[0], name.endswith)),
    ("a table or a layer norm is marked", lambda name: (_to_course(name)[0], not name.endswith("bias"))),
    ("a bias is marked", lambda name: (_to_course(name)[0], ".c_" in name)),
    ("a matrix is not marked", lambda name: (_to_course(name)[0], name.endswith("proj.weight") and "h.11" in name)),
    ("a part of the name is lost", lambda name: (name.rpartition(".")[2], name.endswith(_TURNED))),
    ("look    line 2", _the_second),
]
