"""Answers that students give, right and wrong, for every exercise: what tests/test_check.py and the browser try.

WRONG: number -> list of (a word of the diagnosis that this answer must get, the answer). RIGHT: number -> answers.
"""

import copy
import functools
from decimal import Decimal
from fractions import Fraction

import answers_02
import answers_03
import answers_04
import answers_05
import answers_06
import answers_07
import answers_08
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
    lambda table, *, times=1: np.prod(table.shape) * times,
    torch.numel,
    lambda table: Decimal(table.numel()),
]
WRONG["0.1"] = [
    ("number of rows", lambda table: len(table)),
    ("width of a row", lambda table: table.shape[-1]),
    ("are added", lambda table: table.shape[0] + table.shape[1]),
    ("sum of the numbers", lambda table: table.sum().item()),
    ("this is the shape", lambda table: tuple(table.shape)),
    ("returns None", lambda table: print(end="")),
    ("takes 0 positional", lambda: 12),
    ("brackets of a call", lambda table: table.numel),
    ("same result in every case", lambda table: 12),
    ("number is not the right one", lambda table: 2 * (table.shape[0] + table.shape[1])),
    ("a single number is wanted", lambda table: torch.tensor([table.numel()])),
    ("returns a str", lambda table: str(table.numel())),
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


def _all_in_every_row(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    rows[:, ids] = 1
    return rows


def _returns_in_the_loop(ids, vocab_size):
    rows = torch.zeros(len(ids), vocab_size)
    for t, token in enumerate(ids):
        rows[t, token] = 1
        return rows
    return rows


@torch.no_grad()
def _decorated(ids, vocab_size):
    return torch.eye(vocab_size)[ids]


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
    lambda ids, vocab_size: [[float(place == token) for place in range(vocab_size)] for token in ids],
    lambda ids, vocab_size: [torch.eye(vocab_size, requires_grad=True)[token] for token in ids],
    lambda ids, vocab_size: torch.eye(vocab_size, dtype=torch.bfloat16)[ids],
    lambda ids, vocab_size: torch.eye(vocab_size)[ids].to_sparse(),
    _decorated,
]
WRONG["1.1"] = [
    ("as whole numbers", lambda ids, vocab_size: F.one_hot(ids, vocab_size)),
    ("truth values", lambda ids, vocab_size: torch.arange(vocab_size) == ids[:, None]),
    ("the shape is", lambda ids, vocab_size: ids),
    ("everything is 0", lambda ids, vocab_size: torch.zeros(len(ids), vocab_size).long()),
    ("end at the largest id", lambda ids, vocab_size: F.one_hot(ids)),
    ("ones of all the tokens", _all_in_every_row),
    ("inside the loop", _returns_in_the_loop),
    ("numbers are wanted", lambda ids, vocab_size: torch.eye(vocab_size)[ids].to(torch.complex64)),
    ("infinity", lambda ids, vocab_size: 1 / (1 - torch.eye(vocab_size)[ids])),
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


def _with_a_module(x, table):
    head = nn.Linear(table.shape[1], table.shape[0], bias=False)
    head.weight = nn.Parameter(table)
    return head(x)


class _Callable:
    def __call__(self, x, table):
        return torch.inner(x, table)


async def _later(x, table):
    return x @ table.T


def _yields(x, table):
    yield x @ table.T


class Stop(BaseException):
    """What `except Exception` does not catch."""


def _stops(x, table):
    raise Stop("enough")


class _Odd:
    def _fails(self, *args):
        raise ValueError("odd")

    __repr__ = __bool__ = __eq__ = __array__ = __len__ = _fails
    __hash__ = None


RIGHT["1.2"] = [
    lambda x, table: x @ table.T,
    lambda x, table: torch.einsum("...d,vd->...v", x, table),
    lambda x, table: F.linear(x, table),
    lambda x, table: (x[..., None, :] * table).sum(-1),
    lambda x, table: (table @ x.unsqueeze(-1)).squeeze(-1),
    lambda x, table: (x.double() @ table.double().T).tolist(),
    functools.partial(lambda scale, x, table: scale * (x @ table.T), 1),
    _with_a_module,
    _Callable(),
    _Callable().__call__,
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
    ("root of the width", lambda x, table: x @ table.T / table.shape[1] ** 0.5),
    ("logarithms", lambda x, table: F.log_softmax(x @ table.T, dim=-1)),
    ("right for one vector", lambda x, table: (x @ table.T).transpose(0, -1)),
    ("right for one vector", lambda x, table: (x @ table.T).flatten()),
    ("rounded", lambda x, table: (x @ table.T).round(decimals=2)),
    ("single number", lambda x, table: (x * table).sum()),
    ("async def", _later),
    ("generator", _yields),
    ("raised Stop: enough", _stops),
    ("numbers are wanted", lambda x, table: _Odd()),
    ("three dots", lambda x, table: ...),
    ("raised RecursionError", lambda x, table: (again := lambda: again())()),
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
    lambda v, d, total: (v * d, Fraction(v * d, total), Fraction(v * d, total + v * d)),
    lambda v, d, total: _saving(np.int64(v), d, np.float64(total)),
    lambda v, d, total: _saving(Decimal(v), d, total),
    lambda vocab_size=0, n_embd=0, tied_total=0: _saving(vocab_size, n_embd, tied_total),
]
WRONG["1.3"] = [
    ("swapped", lambda v, d, total: (v * d, v * d / (total + v * d), v * d / total)),
    ("per cent", lambda v, d, total: (v * d, 100 * v * d / total, 100 * v * d / (total + v * d))),
    ("larger, not smaller", lambda v, d, total: (v * d, v * d / total, v * d / (total - v * d))),
    ("both shares are of the tied", lambda v, d, total: (v * d, v * d / total, v * d / total)),
    ("both shares are of the untied", lambda v, d, total: (v * d, *(v * d / (total + v * d),) * 2)),
    ("rounded down", lambda v, d, total: (v * d, v * d // total, v * d // (total + v * d))),
    ("values are rounded", lambda *sizes: tuple(round(part, 4) for part in _saving(*sizes))),
    ("same result in every case", lambda *sizes: (20, 0.2, 0.1667)),
    ("on their heads", lambda v, d, total: (v * d, total / (v * d), (total + v * d) / (v * d))),
    ("all the rest", lambda v, d, total: (v * d, 1 - v * d / total, total / (total + v * d))),
    ("taken for the untied", lambda v, d, total: (v * d, v * d / (total - v * d), v * d / total)),
    ("only the two shares", lambda *sizes: _saving(*sizes)[1:]),
    ("returns one dict", lambda *sizes: dict(zip("abc", _saving(*sizes), strict=True))),
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


def _new_numbers(model):
    model.lm_head.weight = model.wte.weight = nn.Parameter(torch.randn(6, 4))


def _bare(model):
    del model.lm_head.weight
    model.lm_head.weight = model.wte.weight.data


def _without_weight(model):
    model.wte.weight = None


def _broken_forward(model):
    model.lm_head.weight = model.wte.weight
    model.forward = lambda ids: model.wte(ids) @ model.lm_head


def _not_to_be_copied(model):
    model.lm_head.weight = model.wte.weight
    model.extra = (number for number in range(3))


def _new_head(model):
    model.lm_head = nn.Linear(4, 6, bias=False)
    model.lm_head.weight = model.wte.weight


RIGHT["1.4"] = [
    _tie,
    _tie_the_other_way,
    _tie_and_return,
    _new_head,
    lambda model: setattr(model.lm_head, "weight", model.wte.weight),
    lambda model: model.lm_head.register_parameter("weight", model.wte.weight),
]
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
    ("new numbers", _new_numbers),
    ("a plain tensor now", _bare),
    ("lost its weight", _without_weight),
    ("no longer runs", _broken_forward),
    ("no longer can be copied", _not_to_be_copied),
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


def _less(subtract):
    """A softmax that takes another number than the largest from every score."""

    def likeliest(logits, k):
        exponentials = np.exp(logits - subtract(logits))
        probs = exponentials / exponentials.sum()
        ids = np.argsort(-probs)[:k]
        return ids, probs[ids]

    return likeliest


def _ascending(logits, k):
    ids, probs = _naive(logits, len(logits))
    return ids[::-1][:k], probs[::-1][:k]


RIGHT["1.5"] = [
    _picked,
    _with_torch,
    _logsumexp,
    lambda logits, k: list(_picked(logits, k)),
    lambda logits, k: tuple(tuple(part) for part in _picked(logits, k)),
    lambda logits, k: tuple(part.tolist() for part in _picked(logits, k)),
    lambda logits, k: _picked(logits.astype(np.float32), k),
    _less(np.max),
]
WRONG["1.5"] = [
    ("overflows", _naive),
    ("overflows", lambda logits, k: list(_naive(logits, k))),
    ("close together", _less(np.mean)),
    ("close together", _less(np.min)),
    ("close together", _less(lambda logits: logits[0])),
    ("values are not", _ascending),
    ("all tokens", lambda logits, k: _picked(logits, len(logits))),
    ("only the ids", lambda logits, k: _picked(logits, k)[0]),
    ("only the probabilities", lambda logits, k: _picked(logits, k)[1]),
    ("pairs", lambda logits, k: list(zip(*_picked(logits, k), strict=True))),
    ("one too high", lambda logits, k: (_picked(logits, k)[0] + 1, _picked(logits, k)[1])),
    ("rounded", lambda logits, k: (_picked(logits, k)[0], _picked(logits, k)[1].round(4))),
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


def _adds_up(table, ids, targets):
    shared = table.clone().requires_grad_()
    F.cross_entropy(shared[ids] @ shared.detach().T, targets).backward()
    first = shared.grad.clone()
    F.cross_entropy(shared.detach()[ids] @ shared.T, targets).backward()
    return first, shared.grad


def _softmax_before(table, ids, targets):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    F.cross_entropy((first[ids] @ second.T).softmax(-1), targets).backward()
    return first.grad, second.grad


def _with_modules(table, ids, targets):
    way_in, way_out = nn.Embedding(*table.shape, sparse=True), nn.Linear(*table.shape[::-1], bias=False)
    way_in.weight, way_out.weight = nn.Parameter(table.clone()), nn.Parameter(table.clone())
    F.cross_entropy(way_out(way_in(ids)), targets).backward()
    return way_in.weight.grad, way_out.weight.grad


def _with_func(table, ids, targets):
    return torch.func.grad(lambda a, b: F.cross_entropy(a[ids] @ b.T, targets), argnums=(0, 1))(table, table)


def _no_backward(table, ids, targets):
    first, second = (table.clone().requires_grad_() for _ in range(2))
    F.cross_entropy(first[ids] @ second.T, targets)
    return first.grad, second.grad


RIGHT["1.6"] = [
    _gradients,
    _with_autograd,
    _by_hand,
    _with_modules,
    _with_func,
    lambda table, ids, targets: list(_gradients(table.double(), ids, targets)),
]
WRONG["1.6"] = [
    ("swapped", lambda *case: _gradients(*case)[::-1]),
    ("one shared table", _one_table),
    ("summed loss", lambda *case: _gradients(*case, reduction="sum")),
    ("wanted apart", lambda *case: sum(_gradients(*case))),
    ("twice the look-up", lambda *case: (_gradients(*case)[0],) * 2),
    ("twice the head", lambda *case: (_gradients(*case)[1],) * 2),
    ("sign is turned", lambda *case: tuple(-part for part in _gradients(*case))),
    ("is None", _no_backward),
    ("gradients add up", _adds_up),
    ("a softmax comes before", _softmax_before),
    ("ids that were read", lambda table, ids, targets: _gradients(table, ids, ids)),
    ("these are the two tables", lambda table, ids, targets: (table.clone().requires_grad_(), table)),
    ("raised", lambda table, ids, targets: table[targets + 99]),
    ("2 results are wanted", lambda *case: (*_gradients(*case), 0)),
]

for lesson in (answers_02, answers_03, answers_04, answers_05, answers_06, answers_07, answers_08):
    RIGHT |= lesson.RIGHT
    WRONG |= lesson.WRONG
