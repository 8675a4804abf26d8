"""Answers to exercise 2.6: the way from ids to scores."""

import functools

import torch


def _hidden(ids, wte, wpe, blocks):
    return functools.reduce(lambda x, block: block(x), blocks, wte[ids] + wpe[: ids.shape[1]])


def _forward(ids, wte, wpe, blocks, ln_f):
    return ln_f(_hidden(ids, wte, wpe, blocks)) @ wte.T


def _not_chained(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        y = block(x)
    return ln_f(y) @ wte.T


def _adds_again(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        x = x + block(x)
    return ln_f(x) @ wte.T


def _from_position_1(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[torch.arange(ids.shape[1]) + 1]
    for block in blocks:
        x = block(x)
    return ln_f(x) @ wte.T


RIGHT = [
    _forward,
    lambda ids, wte, wpe, blocks, ln_f: torch.cat([_forward(row[None], wte, wpe, blocks, ln_f) for row in ids]),
    lambda *case: _forward(*case).double().numpy(),
]
WRONG = [
    ("given the embeddings;", _not_chained),
    ("look    line 4", _adds_again),
    ("`ln_f` is not used", lambda ids, wte, wpe, blocks, ln_f: _hidden(ids, wte, wpe, blocks) @ wte.T),
    ("look    line 2", _from_position_1),
    ("`blocks` in place", lambda ids, wte, wpe, blocks, ln_f: blocks.pop()(wte[ids])),
    ("rounded", lambda *case: _forward(*case).round(decimals=3)),
    ("raised", lambda ids, wte, wpe, blocks, ln_f: blocks(wte[ids])),
]
