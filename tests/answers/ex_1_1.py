"""Answers to exercise 1.1: one-hot rows."""

import numpy as np
import torch
import torch.nn.functional as F


def _with_a_loop(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    for t, token in enumerate(ids):
        rows[t, token] = 1
    return rows


def _returns_in_the_loop(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    for t, token in enumerate(ids):
        rows[t, token] = 1
        return rows
    return rows


def _rows_below_each_other(ids, vocab_size):
    columns = torch.arange(vocab_size)
    return (columns == ids).float()


RIGHT = [
    _with_a_loop,
    lambda ids, vocab_size: np.eye(vocab_size)[ids.numpy()],
    lambda ids, vocab_size: [[float(column == token) for column in range(vocab_size)] for token in ids],
    lambda ids, vocab_size: [torch.eye(vocab_size, requires_grad=True)[token] for token in ids],
    lambda ids, vocab_size: torch.eye(vocab_size, dtype=torch.bfloat16)[ids].to_sparse(),
]
WRONG = [
    ("as whole numbers", lambda ids, vocab_size: F.one_hot(ids, vocab_size)),
    ("look    line 3", _returns_in_the_loop),
    ("look    line 3", _rows_below_each_other),
    ("`ids` in place", lambda ids, vocab_size: torch.eye(vocab_size)[ids.zero_()]),
    ("`vocab_size` is not used", lambda ids, vocab_size: F.one_hot(ids)),
    ("numbers are wanted", lambda ids, vocab_size: torch.eye(vocab_size)[ids].to(torch.complex64)),
    ("infinity", lambda ids, vocab_size: 1 / (1 - torch.eye(vocab_size)[ids])),
    ("returns a text", lambda ids, vocab_size: "one-hot"),
]
