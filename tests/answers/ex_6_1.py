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


def _in_numpy(store, length, new):
    store.numpy()[:, :, length : length + new.shape[2]] = new.numpy()
    return np.int64(length + new.shape[2])


def _first_row(store, length, new):
    end = length + new.shape[2]
    store[0, :, length:end] = new[0]
    return end


def _a_token_too_few(store, length, new):
    end = length + new.shape[2] - 1
    store[:, :, length:end] = new
    return end


RIGHT = [_append, _token_by_token, _narrowed, _in_numpy]
WRONG = [
    ("the store is not right", _first_row),
    ("look    line 2", _a_token_too_few),
    ("held now alone: the right numbers in the shape (1,)", lambda *case: [_append(*case)]),
    ("changes `new` in place", lambda store, length, new: _append(store, length, new) + 0 * int(new.zero_().sum())),
    ("raised", lambda store, length, new: store.append(new)),
]
