"""Answers to lesson 06's exercises, right and wrong: what tests/test_check.py tries."""

import math

import numpy as np
import torch
import torch.nn.functional as F

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 6.1 append


def _append(store, length, new):
    store[:, :, length : length + new.shape[2]] = new
    return length + new.shape[2]


def _token_by_token(store, length, new):
    for token in new.unbind(2):
        store[:, :, length] = token
        length += 1
    return length


def _narrowed(store, length, new):
    store.narrow(2, length, new.size(2)).copy_(new)
    return torch.tensor(length + new.size(2))


def _index_copied(store, length, new):
    places = torch.arange(length, length + new.shape[-2])
    store.index_copy_(2, places, new)
    return int(places[-1]) + 1


def _all_anew(store, length, new):
    end = length + new.shape[2]
    store.copy_(torch.cat([store[:, :, :length], new, store[:, :, end:]], dim=2))
    return end


def _in_numpy(store, length, new):
    store.numpy()[:, :, length : length + new.shape[2]] = new.numpy()
    return np.int64(length + new.shape[2])


def _writes(first, returns=lambda store, length, new: length + new.shape[2]):
    def append(store, length, new):
        start = first(store, length, new)
        store[:, :, start : start + new.shape[2]] = new
        return returns(store, length, new)

    return append


def _returns(what):
    return _writes(lambda store, length, new: length, what)


def _makes_another(store, length, new):
    store = torch.cat([store[:, :, :length], new], dim=2)
    return store.shape[2]


def _slice_of(place):
    def append(store, length, new):
        store[place(length, length + new.shape[2])] = new
        return length + new.shape[2]

    return append


def _to_the_end(store, length, new):
    store[:, :, length:] = new
    return length + new.shape[2]


def _first_token(store, length, new):
    store[:, :, length] = new[:, :, 0]
    return length + 1


def _first_row(store, length, new):
    store[0, :, length : length + new.shape[2]] = new[0]
    return length + new.shape[2]


def _changes(change):
    def append(store, length, new):
        end = length + new.shape[2]
        change(store[:, :, length:end], new)
        return end

    return append


def _clears(store, length, new):
    end = length + new.shape[2]
    store[:, :, length:end] = new
    store[:, :, end:] = 0
    return end


def _moves(store, length, new):
    store[:] = torch.cat([store[:, :, new.shape[2] :], new], dim=2)
    return length + new.shape[2]


def _writes_nan(store, length, new):
    store[:, :, length : length + new.shape[2]] = torch.nan
    return length + new.shape[2]


RIGHT["6.1"] = [_append, _token_by_token, _narrowed, _index_copied, _all_anew, _in_numpy]
WRONG["6.1"] = [
    ("from place 0 on", _writes(lambda store, length, new: 0)),
    ("at the end of the room", _writes(lambda store, length, new: store.shape[2] - new.shape[2])),
    ("written over; places", _writes(lambda store, length, new: max(0, length - 1))),
    ("stays empty", _writes(lambda store, length, new: length + 1)),
    ("held before", _returns(lambda store, length, new: length)),
    ("how many tokens are new", _returns(lambda store, length, new: new.shape[2])),
    ("one token is counted", _returns(lambda store, length, new: length + 1)),
    ("there is room for", _returns(lambda store, length, new: store.shape[2])),
    ("the batch is counted", _returns(lambda store, length, new: length + len(new))),
    ("the whole store", _returns(lambda store, length, new: store)),
    ("their number is wanted", _returns(lambda store, length, new: store[:, :, : length + new.shape[2]])),
    ("`cat` makes another tensor", lambda store, length, new: torch.cat([store[:, :, :length], new], dim=2)),
    ("write into a slice of it", _makes_another),
    ("and the number too", lambda store, length, new: length),
    ("along the batch", _slice_of(lambda a, b: slice(a, b))),
    ("along the heads", _slice_of(lambda a, b: (slice(None), slice(a, b)))),
    ("along the width", _slice_of(lambda a, b: (..., slice(a, b)))),
    ("only the first row", _first_row),
    ("only the first new token", _first_token),
    ("no end", _to_the_end),
    ("added to what stands there", _changes(lambda places, new: places.add_(new))),
    ("only the first head", _changes(lambda places, new: places[:, :1].copy_(new[:, :1]))),
    ("reverse order", _changes(lambda places, new: places.copy_(new.flip(2)))),
    ("holds the last new token", _changes(lambda places, new: places.copy_(new[:, :, [-1]]))),
    ("not written", _changes(lambda places, new: places[:, :, :-1].copy_(new[:, :, :-1]))),
    ("cleared as well", _clears),
    ("filled from the left", _moves),
    ("place of the last token", _returns(lambda store, length, new: length + new.shape[2] - 1)),
    ("one too many", _returns(lambda store, length, new: length + new.shape[2] + 1)),
    ("heads are counted", _returns(lambda store, length, new: length + new.shape[1])),
    ("width of a head is counted", _returns(lambda store, length, new: length + new.shape[-1])),
    ("all numbers of `new`", _returns(lambda store, length, new: length + new.numel())),
    ("come together", _returns(lambda store, length, new: (store, length + new.shape[2]))),
    ("returns None", _returns(lambda store, length, new: None)),
    ("the store is right", _returns(lambda store, length, new: 2 * length)),
    ("the number is right", _writes_nan),
    ("changes its argument 3", _returns(lambda store, length, new: new.zero_().shape[2] + length)),
    ("raised", lambda store, length, new: store.append(new)),
]

# 6.2 positions

RIGHT["6.2"] = [
    lambda length, n_new: torch.arange(length, length + n_new),
    lambda length, n_new: length + torch.arange(n_new),
    lambda length, n_new: list(range(length, length + n_new)),
    lambda length, n_new: range(length, length + n_new),
    lambda length, n_new: torch.tensor([length + i for i in range(n_new)], dtype=torch.int32),
    lambda length, n_new: np.arange(length + n_new)[length:],
    lambda length, n_new: torch.ones(n_new, dtype=torch.int64).cumsum(0) - 1 + length,
]
WRONG["6.2"] = [
    ("start at 0", lambda length, n_new: torch.arange(n_new)),
    ("one too high", lambda length, n_new: torch.arange(length + 1, length + n_new + 1)),
    ("one too low", lambda length, n_new: torch.arange(length - 1, length + n_new - 1)),
    ("as one number", lambda length, n_new: length),
    ("only the first position; each", lambda length, n_new: torch.tensor([length])),
    ("one number above", lambda length, n_new: [length + 1]),
    ("one number above", lambda length, n_new: torch.tensor([length + 1])),
    ("one number above", lambda length, n_new: length + 1),
    ("last position of the cache", lambda length, n_new: length - 1),
    ("last position of the cache", lambda length, n_new: torch.tensor([length - 1])),
    ("in the end", lambda length, n_new: length + n_new),
    ("in the end", lambda length, n_new: torch.tensor([length + n_new])),
    ("last position alone", lambda length, n_new: torch.tensor([length + n_new - 1])),
    ("and it is one too high", lambda length, n_new: torch.tensor([length + 1] * n_new)),
    ("start at 1", lambda length, n_new: torch.arange(n_new) + 1),
    ("every position is 0", lambda length, n_new: torch.zeros(n_new, dtype=torch.int64)),
    ("swapped", lambda length, n_new: torch.arange(n_new, n_new + length)),
    ("axis too many: the shape", lambda length, n_new: torch.arange(length, length + n_new).view(-1, 1)),
    ("the same position", lambda length, n_new: torch.tensor([length] * n_new)),
    ("tokens in the cache.", lambda length, n_new: torch.arange(length)),
    ("all positions", lambda length, n_new: torch.arange(length + n_new)),
    ("the end is taken", lambda length, n_new: torch.arange(length, n_new)),
    ("one position too many", lambda length, n_new: torch.arange(length, length + n_new + 1)),
    ("last position is missing", lambda length, n_new: torch.arange(length, length + n_new - 1)),
    ("an axis too many", lambda length, n_new: torch.arange(length, length + n_new).unsqueeze(0)),
    ("backwards", lambda length, n_new: torch.arange(length + n_new - 1, length - 1, -1)),
    ("as floats", lambda length, n_new: torch.arange(length, length + n_new).float()),
    ("as floats", lambda length, n_new: torch.linspace(length, length + n_new - 1, n_new)),
    ("NaN", lambda length, n_new: torch.full((n_new,), torch.nan)),
    ("returns None", lambda length, n_new: print(end="")),
    ("generator", lambda length, n_new: (length + i for i in range(n_new))),
    ("raised", lambda length, n_new: torch.arange(length, length + n_new)[n_new]),
]

# 6.3 one query


def _weights(q, k, scale=None, axis=-1):
    scale = scale or 1 / math.sqrt(q.shape[-1])
    return ((q @ k.mT) * scale).softmax(axis)


def _attend(q, k, v):
    return _weights(q, k) @ v


def _with_einsum(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkd->bhqd", F.softmax(scores, dim=3), v)


def _summed_by_hand(q, k, v):
    scores = (q * k).sum(-1, keepdim=True) / math.sqrt(k.size(-1))
    return (scores.softmax(2) * v).sum(2, keepdim=True)


def _head_by_head(q, k, v):
    out = torch.empty_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            out[b, h] = (q[b, h] @ k[b, h].T / math.sqrt(q.shape[-1])).softmax(-1) @ v[b, h]
    return out


def _with_the_last_row_of_a_mask(q, k, v):
    length = k.shape[2]
    mask = torch.ones(length, length, dtype=torch.bool).tril()[-1:]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _with_a_square_mask(q, k, v):
    length = k.shape[2]
    scores = q @ k.mT / math.sqrt(q.shape[-1]) + torch.full((length, length), -math.inf).triu(1)
    return scores.softmax(-1) @ v


def _top_left(q, k, v):
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    mask = torch.tril(torch.ones(q.shape[2], k.shape[2]))
    return scores.masked_fill(mask == 0, -math.inf).softmax(-1) @ v


def _hides_itself(q, k, v):
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    scores[..., -1] = -math.inf
    return scores.softmax(-1) @ v


def _without_the_first(q, k, v):
    start = min(1, k.shape[2] - 1)
    return _attend(q, k[:, :, start:], v[:, :, start:])


def _overflows(q, k, v):
    weights = torch.exp(q @ k.mT / math.sqrt(q.shape[-1]))
    return weights / weights.sum(-1, keepdim=True) @ v


RIGHT["6.3"] = [
    F.scaled_dot_product_attention,
    _attend,
    _with_einsum,
    _summed_by_hand,
    _head_by_head,
    _with_the_last_row_of_a_mask,
    lambda q, k, v: _attend(q / 2, 2 * k, v),
    lambda q, k, v: _attend(q.double(), k.double(), v.double()).tolist(),
]
WRONG["6.3"] = [
    ("only the first key", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
    ("only the first key", _top_left),
    ("a query at every token", _with_a_square_mask),
    ("does not see itself", _hides_itself),
    ("does not see itself", lambda q, k, v: _attend(q, k[:, :, :-1], v[:, :, :-1])),
    ("not scaled", lambda q, k, v: _weights(q, k, 1) @ v),
    ("number of keys", lambda q, k, v: _weights(q, k, k.shape[2] ** -0.5) @ v),
    ("it is its root", lambda q, k, v: _weights(q, k, 1 / q.shape[-1]) @ v),
    ("divide by it", lambda q, k, v: _weights(q, k, q.shape[-1] ** 0.5) @ v),
    ("model's width", lambda q, k, v: _weights(q, k, (q.shape[1] * q.shape[3]) ** -0.5) @ v),
    ("number of heads", lambda q, k, v: _weights(q, k, q.shape[1] ** -0.5) @ v),
    ("root of the batch", lambda q, k, v: _weights(q, k, len(q) ** -0.5) @ v),
    ("divided by 8", lambda q, k, v: _weights(q, k, 0.125) @ v),
    ("the query is added", lambda q, k, v: _attend(q, k, v) + q),
    ("once more", lambda q, k, v: _attend(q, k, v) / q.shape[-1] ** 0.5),
    ("first key is left out", _without_the_first),
    ("joined later", lambda q, k, v: _attend(q, k, v).transpose(1, 2).reshape(len(q), 1, -1)),
    ("every kept token asks", lambda q, k, v: _attend(k, k, v)),
    ("along the one query", lambda q, k, v: _weights(q, k, axis=-2) @ v),
    ("along the heads", lambda q, k, v: _weights(q, k, axis=1) @ v),
    ("along the batch", lambda q, k, v: _weights(q, k, axis=0) @ v),
    ("no softmax", lambda q, k, v: q @ k.mT / math.sqrt(q.shape[-1]) @ v),
    ("count the same", lambda q, k, v: v.mean(dim=2, keepdim=True)),
    ("only the best match", lambda q, k, v: F.one_hot((q @ k.mT).argmax(-1), k.shape[2]).float() @ v),
    ("newest value alone", lambda q, k, v: v[:, :, -1:]),
    ("these are the weights", lambda q, k, v: _weights(q, k)),
    ("these are the scores", lambda q, k, v: q @ k.mT / math.sqrt(q.shape[-1])),
    ("axis of the one query", lambda q, k, v: _attend(q, k, v).squeeze(2)),
    ("every axis of length 1", lambda q, k, v: _attend(q, k, v).squeeze()),
    ("keys are added up", lambda q, k, v: _attend(q, k, k)),
    ("keys and values are swapped", lambda q, k, v: _attend(q, v, k)),
    ("overflows", _overflows),
    ("after the softmax", lambda q, k, v: _weights(q, k, 1) / math.sqrt(q.shape[-1]) @ v),
    ("changes its argument 1", lambda q, k, v: _attend(q.mul_(0.5), k, v)),
    ("raised", lambda q, k, v: q @ k / math.sqrt(q.shape[-1]) @ v),
    ("NaN", lambda q, k, v: _attend(q, k, v) * torch.nan),
]

# 6.4 bytes


def _bytes(n_layer, n_embd, n_tokens, batch_size, bytes_per_number, factor=2):
    return factor * n_layer * n_embd * n_tokens * batch_size * bytes_per_number


RIGHT["6.4"] = [
    _bytes,
    lambda *sizes: 2 * math.prod(sizes),
    lambda *sizes: float(2 * np.prod(sizes)),
    lambda L, d, n, B, b: sum(L * B * n * d * b for _ in ("keys", "values")),
    lambda L, d, n, B, b: torch.tensor([2, L, d, n, B, b]).prod(),
]
WRONG["6.4"] = [
    ("half of it", lambda L, d, n, B, b: L * d * n * B * b),
    ("queries are not kept", lambda *sizes: _bytes(*sizes, factor=3)),
    ("one layer", lambda L, d, n, B, b: 2 * d * n * B * b),
    ("one sequence", lambda L, d, n, B, b: 2 * L * d * n * b),
    ("bytes of one token", lambda L, d, n, B, b: 2 * L * d * B * b),
    ("how many numbers", lambda L, d, n, B, b: 2 * L * d * n * B),
    ("the width is missing", lambda L, d, n, B, b: 2 * L * n * B * b),
    ("bits", lambda *sizes: 8 * _bytes(*sizes)),
    ("width is squared", lambda L, d, n, B, b: 2 * L * d**2 * n * B * b),
    ("number of tokens is squared", lambda L, d, n, B, b: 2 * L * d * n**2 * B * b),
    ("4 bytes are taken", lambda L, d, n, B, b: 2 * L * d * n * B * 4),
    ("kilobytes", lambda *sizes: _bytes(*sizes) / 1000),
    ("mebibytes", lambda *sizes: _bytes(*sizes) / 2**20),
    ("megabytes", lambda *sizes: _bytes(*sizes) / 1e6),
    ("added", lambda *sizes: sum(sizes)),
    ("gigabytes", lambda *sizes: _bytes(*sizes) / 1e9),
    ("gibibytes", lambda *sizes: _bytes(*sizes) / 1024**3),
    ("twice the cache", lambda *sizes: _bytes(*sizes, factor=4)),
    ("2 bytes are taken", lambda L, d, n, B, b: 2 * L * d * n * B * 2),
    ("so multiply", lambda L, d, n, B, b: 2 * L * d * n * B / b),
    ("weights of the blocks", lambda L, d, n, B, b: 12 * L * d**2 * b),
    ("half the bytes of one sequence", lambda L, d, n, B, b: L * d * n * b),
    ("numbers the keys hold", lambda L, d, n, B, b: L * d * n * B),
    ("attention weights, a square", lambda L, d, n, B, b: 2 * L * B * n**2 * b),
    ("number is not the right one", lambda *sizes: _bytes(*sizes) + 1000),
    ("raised", lambda L, d, n, B: 2 * L * d * n * B),
    ("returns a str", lambda *sizes: str(_bytes(*sizes))),
]

# 6.5 the three loops

_TRUE = {"A": "mask with one query", "B": "stale cache", "C": "wrong position"}

RIGHT["6.5"] = [lambda: dict(_TRUE), lambda: dict(reversed(_TRUE.items()))]
WRONG["6.5"] = [
    ("loop A has another", lambda: {"A": "stale cache", "B": "mask with one query", "C": "wrong position"}),
    ("loop A has another", lambda: {"A": "wrong position", "B": "stale cache", "C": "mask with one query"}),
    ("loop B has another", lambda: {"A": "mask with one query", "B": "wrong position", "C": "stale cache"}),
    ("names one twice", lambda: _TRUE | {"C": "stale cache"}),
    ("none of the three names", lambda: _TRUE | {"C": "stale"}),
    ("three keys", lambda: {"A": "stale cache"}),
    ("three keys", lambda: list(_TRUE.values())),
    ("three keys", lambda: {key.lower(): name for key, name in _TRUE.items()}),
]
