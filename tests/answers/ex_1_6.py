"""Answers to exercise 1.6: the gradients of the two jobs."""

import torch
import torch.nn.functional as F
from torch import nn


def _with_autograd(table, ids, targets):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    return torch.autograd.grad(F.cross_entropy(first[ids] @ second.T, targets), (first, second))


def _by_hand(table, ids, targets):
    x = table[ids]
    error = ((x @ table.T).softmax(-1) - F.one_hot(targets, len(table))) / len(ids)
    return torch.zeros_like(table).index_add(0, ids, error @ table), error.T @ x


def _with_func(table, ids, targets):
    return torch.func.grad(lambda a, b: F.cross_entropy(a[ids] @ b.T, targets), argnums=(0, 1))(table, table)


def _one_table(table, ids, targets):
    shared = table.clone().requires_grad_()
    F.cross_entropy(shared[ids] @ shared.T, targets).backward()
    return shared.grad, shared.grad


def _one_gradient_twice(table, ids, targets):
    first, second = nn.Parameter(table.clone()), nn.Parameter(table.clone())
    F.cross_entropy(first[ids] @ second.T, targets).backward()
    return first.grad, first.grad


RIGHT = [
    _with_autograd,
    _by_hand,
    _with_func,
    lambda table, ids, targets: list(_with_autograd(table.double(), ids, targets)),
]
WRONG = [
    ("one shared table", _one_table),
    ("is None", lambda table, ids, targets: (table.grad, table.grad)),
    ("look    line 4", _one_gradient_twice),
    ("`targets` is not used", lambda table, ids, targets: _by_hand(table, ids, ids)),
    ("returns one Tensor", lambda *case: sum(_by_hand(*case))),
    ("raised", lambda table, ids, targets: table[targets + 99]),
]
