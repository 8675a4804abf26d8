"""Answers that students give, right and wrong, for every exercise: what tests/test_check.py and the browser try.

WRONG: number -> list of (a word of the diagnosis that this answer must get, the answer). RIGHT: number -> answers.
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 0.1 the size of a table

RIGHT["0.1"] = [
    lambda table: table.numel(),
    lambda table: table.shape[0] * table.shape[1],
    lambda table: len(table) * len(table[0]),
    lambda table: torch.tensor(table.shape).prod(),
]
WRONG["0.1"] = [
    ("number of rows", lambda table: len(table)),
    ("width of a row", lambda table: table.shape[-1]),
    ("are added", lambda table: table.shape[0] + table.shape[1]),
    ("sum of the numbers", lambda table: table.sum().item()),
    ("this is the shape", lambda table: tuple(table.shape)),
    ("returns None", lambda table: print(end="")),
    ("takes 0 positional", lambda: 12),
]


# 1.1 one-hot rows


def _with_a_loop(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    for t, token in enumerate(ids):
        rows[t, token] = 1
    return rows


def _one_too_far(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    for t, token in enumerate(ids):
        rows[t, (token + 1) % vocab_size] = 1
    return rows


def _all_in_one(ids, vocab_size):
    rows = torch.zeros(vocab_size)
    rows[ids] = 1
    return rows


def _only_the_first(ids, vocab_size):
    return _with_a_loop(ids[:1], vocab_size)


def _changes_ids(ids, vocab_size):
    rows = _with_a_loop(ids, vocab_size)
    ids += 1
    return rows


RIGHT["1.1"] = [
    _with_a_loop,
    lambda ids, vocab_size: F.one_hot(ids, vocab_size).float(),
    lambda ids, vocab_size: torch.eye(vocab_size)[ids],
    lambda ids, vocab_size: F.one_hot(ids, vocab_size).double(),
    lambda ids, vocab_size: torch.zeros(len(ids), vocab_size).scatter(1, ids[:, None], 1.0),
    lambda ids, vocab_size: np.eye(vocab_size)[ids.numpy()],
]
WRONG["1.1"] = [
    ("as whole numbers", lambda ids, vocab_size: F.one_hot(ids, vocab_size)),
    ("rows and columns are swapped", lambda ids, vocab_size: torch.eye(vocab_size)[ids].T),
    ("too far left", lambda ids, vocab_size: torch.eye(vocab_size)[ids - 1]),
    ("too far right", _one_too_far),
    ("all the ones are in one row", _all_in_one),
    ("holds the id", lambda ids, vocab_size: torch.eye(vocab_size)[ids] * ids[:, None]),
    ("everything is 0", lambda ids, vocab_size: torch.zeros(len(ids), vocab_size)),
    ("up to the id", lambda ids, vocab_size: (torch.arange(vocab_size) <= ids[:, None]).float()),
    ("the shape is", _only_the_first),
    ("in place", _changes_ids),
    ("raised", lambda ids, vocab_size: torch.zeros(len(ids), vocab_size)[ids, 99]),
    ("NaN", lambda ids, vocab_size: torch.full((len(ids), vocab_size), torch.nan)),
    ("values are not", lambda ids, vocab_size: torch.ones(len(ids), vocab_size)),
    ("numbers are wanted", lambda ids, vocab_size: "one-hot"),
]

# 1.2 scores

RIGHT["1.2"] = [
    lambda x, table: x @ table.T,
    lambda x, table: torch.einsum("...d,vd->...v", x, table),
    lambda x, table: F.linear(x, table),
    lambda x, table: (x[..., None, :] * table).sum(-1),
    lambda x, table: (table @ x.unsqueeze(-1)).squeeze(-1),
]
WRONG["1.2"] = [
    ("probabilities", lambda x, table: (x @ table.T).softmax(-1)),
    ("cosines", lambda x, table: F.cosine_similarity(x[..., None, :], table, dim=-1)),
    ("brought to length 1", lambda x, table: x @ (table / table.norm(dim=1, keepdim=True)).T),
    ("distances", lambda x, table: (x[..., None, :] - table).pow(2).sum(-1).sqrt()),
    ("best row only", lambda x, table: (x @ table.T).argmax(-1)),
    ("added up", lambda x, table: x[..., None, :] * table),
    ("averaged", lambda x, table: (x[..., None, :] * table).mean(-1)),
    ("right for one vector", lambda x, table: table @ x),
    ("raised", lambda x, table: x @ table),
    ("values are not", lambda x, table: -(x @ table.T)),
    ("returns None", lambda x, table: None if x is not None else x),
]

# 1.3 the saving


def _saving(v, d, total):
    return v * d, v * d / total, v * d / (total + v * d)


RIGHT["1.3"] = [
    _saving,
    lambda v, d, total: [v * d, v * d / total, v * d / (total + v * d)],
    lambda v, d, total: (torch.tensor(v * d), v * d / total, 1 - total / (total + v * d)),
]
WRONG["1.3"] = [
    ("swapped", lambda v, d, total: (v * d, v * d / (total + v * d), v * d / total)),
    ("per cent", lambda v, d, total: (v * d, 100 * v * d / total, 100 * v * d / (total + v * d))),
    ("larger, not smaller", lambda v, d, total: (v * d, v * d / total, v * d / (total - v * d))),
    ("both shares are of the tied", lambda v, d, total: (v * d, v * d / total, v * d / total)),
    ("both shares are of the untied", lambda v, d, total: (v * d, *(v * d / (total + v * d),) * 2)),
    ("two tables", lambda v, d, total: _saving(2 * v, d, total)),
    ("only the number", lambda v, d, total: v * d),
    ("sum of the two sizes", lambda v, d, total: (v + d, (v + d) / total, (v + d) / (total + v + d))),
    ("3 results are wanted", lambda v, d, total: (v * d, v * d / total)),
]


# 1.4 the tie


def _tie(model):
    model.lm_head.weight = model.wte.weight


def _tie_the_other_way(model):
    model.wte.weight = model.lm_head.weight


def _tie_and_return(model):
    model.lm_head.weight = model.wte.weight
    return model


def _share_memory(model):
    model.lm_head.weight.data = model.wte.weight.data


def _new_parameter(model):
    model.lm_head.weight = nn.Parameter(model.wte.weight)


def _copy_values(model):
    with torch.no_grad():
        model.lm_head.weight.copy_(model.wte.weight)


def _transposed(model):
    model.lm_head.weight = nn.Parameter(model.wte.weight.T.contiguous())


def _another_model(model):
    twin = copy.deepcopy(model)
    twin.lm_head.weight = twin.wte.weight
    return twin


def _frozen(model):
    model.lm_head.weight = model.wte.weight
    model.wte.weight.requires_grad_(False)


def _replaced_layer(model):
    model.lm_head = nn.Sequential(model.lm_head)


def _with_a_bias(model):
    model.lm_head = nn.Linear(4, 6)
    model.lm_head.weight = model.wte.weight


def _plain_tensor(model):
    model.lm_head.weight = model.wte.weight.detach()


def _only_in_forward(model):
    model.forward = lambda ids: model.wte(ids) @ model.wte.weight.T


RIGHT["1.4"] = [_tie, _tie_the_other_way, _tie_and_return]
WRONG["1.4"] = [
    ("two Parameters", _share_memory),
    ("two Parameters", _new_parameter),
    ("two tables", _copy_values),
    ("not one tensor", _transposed),
    ("another model", _another_model),
    ("no longer learns", _frozen),
    ("keep both layers", _replaced_layer),
    ("a bias now", _with_a_bias),
    ("raised TypeError", _plain_tensor),
    ("two different tensors", _only_in_forward),
]


# 1.5 softmax and top-k


def _probs(logits):
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _picked(logits, k):
    ids = np.argsort(-logits)[:k]
    return ids, _probs(logits)[ids]


def _with_torch(logits, k):
    top = torch.tensor(logits).softmax(0).topk(k)
    return top.indices, top.values


def _logsumexp(logits, k):
    ids = np.argsort(logits)[::-1][:k]
    return ids, np.exp(logits[ids] - np.logaddexp.reduce(logits))


def _naive(logits, k):
    exponentials = np.exp(logits)
    ids = np.argsort(-logits)[:k]
    return ids, (exponentials / exponentials.sum())[ids]


RIGHT["1.5"] = [_picked, _with_torch, _logsumexp, lambda logits, k: list(_picked(logits, k))]
WRONG["1.5"] = [
    ("overflows", _naive),
    ("sum to 1", lambda logits, k: (_picked(logits, k)[0], _probs(np.sort(logits)[::-1][:k]))),
    ("least likely", lambda logits, k: (np.argsort(logits)[:k], np.sort(_probs(logits))[:k])),
    ("wrong order", lambda logits, k: tuple(part[::-1] for part in _picked(logits, k))),
    ("scores and not probabilities", lambda logits, k: (np.argsort(-logits)[:k], np.sort(logits)[::-1][:k])),
    ("ids first", lambda logits, k: _picked(logits, k)[::-1]),
    ("do not belong", lambda logits, k: (np.argsort(-logits)[:k], _probs(logits)[:k])),
    ("all probabilities", lambda logits, k: _probs(logits)),
    ("not divided", lambda logits, k: (np.argsort(-logits)[:k], np.exp(np.sort(logits)[::-1][:k] - logits.max()))),
    ("in place", lambda logits, k: (np.argsort(-logits)[:k], _probs(np.negative(logits, out=logits))[:k])),
]


# 1.6 the two gradients


def _gradients(table, ids, targets, reduction="mean"):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    F.cross_entropy(F.embedding(ids, first) @ second.T, targets, reduction=reduction).backward()
    return first.grad, second.grad


def _with_autograd(table, ids, targets):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    return torch.autograd.grad(F.cross_entropy(first[ids] @ second.T, targets), (first, second))


def _by_hand(table, ids, targets):
    x = table[ids]
    error = ((x @ table.T).softmax(-1) - F.one_hot(targets, len(table))) / len(ids)
    return torch.zeros_like(table).index_add(0, ids, error @ table), error.T @ x


def _one_table(table, ids, targets):
    shared = table.clone().requires_grad_()
    F.cross_entropy(shared[ids] @ shared.T, targets).backward()
    return shared.grad, shared.grad


def _no_backward(table, ids, targets):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    F.cross_entropy(first[ids] @ second.T, targets)
    return first.grad, second.grad


RIGHT["1.6"] = [_gradients, _with_autograd, _by_hand]
WRONG["1.6"] = [
    ("swapped", lambda *case: _gradients(*case)[::-1]),
    ("one shared table", _one_table),
    ("summed loss", lambda *case: _gradients(*case, reduction="sum")),
    ("wanted apart", lambda *case: sum(_gradients(*case))),
    ("twice the look-up", lambda *case: (_gradients(*case)[0],) * 2),
    ("twice the head", lambda *case: (_gradients(*case)[1],) * 2),
    ("sign is turned", lambda *case: tuple(-part for part in _gradients(*case))),
    ("is None", _no_backward),
    ("raised", lambda table, ids, targets: table[targets + 99]),
    ("2 results are wanted", lambda *case: (*_gradients(*case), 0)),
]
