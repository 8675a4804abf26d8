"""Answers to exercise 6.1: append to a cache."""

import numpy as np
import torch


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
    rows = torch.arange(length, length + new.shape[-2])
    store.index_copy_(2, rows, new)
    return int(rows[-1]) + 1


def _all_anew(store, length, new):
    end = length + new.shape[2]
    store.copy_(torch.cat([store[:, :, :length], new, store[:, :, end:]], dim=2))
    return end


def _in_numpy(store, length, new):
    store.numpy()[:, :, length : length + new.shape[2]] = new.numpy()
    return np.int64(length + new.shape[2])


def _first_row(store, length, new):
    end = length + new.shape[2]
    store[0, :, length:end] = new[0]
    return end


def _makes_another(store, length, new):
    store = torch.cat([store[:, :, :length], new], dim=2)
    return store.shape[2]


def _a_token_too_few(store, length, new):
    end = length + new.shape[2] - 1
    store[:, :, length:end] = new
    return end


def _clears(store, length, new):
    end = length + new.shape[2]
    store[:, :, length:end] = new
    store[:, :, end:] = 0
    return end


def _writes_nan(store, length, new):
    store[:, :, length : length + new.shape[2]] = torch.nan
    return length + new.shape[2]


def _clears_new(store, length, new):
    end = _append(store, length, new)
    new.zero_()
    return end


RIGHT = [_append, _token_by_token, _narrowed, _index_copied, _all_anew, _in_numpy]
WRONG = [
    ("with `new`, and it should", _writes_nan),
    ("right for one row; in a batch of 3", _first_row),
    ("look    line 2", _a_token_too_few),
    ("look    line 4", _clears),
    ("write into a slice of it", _makes_another),
    ("the number of tokens held now: the shape", lambda *case: [_append(*case)]),
    ("changes `new` in place", _clears_new),
    ("raised", lambda store, length, new: store.append(new)),
]
