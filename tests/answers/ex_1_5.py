"""Answers to exercise 1.5: the stable softmax with top-k."""

import numpy as np
import torch


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


def _upwards(logits, k):
    probs = _probs(logits)
    ids = np.argsort(probs)[::-1][:k]
    return ids, probs[ids]


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


def _the_last_k(logits, k):
    shifted = np.exp(logits - logits.max())
    probs = shifted / shifted.sum()
    ids = np.argsort(probs)[-k:]
    return ids, probs[ids]


def _turned_too_late(logits, k):
    shifted = np.exp(logits - logits.max())
    probs = shifted / shifted.sum()
    ids = np.argsort(probs)[:k][::-1]
    return ids, probs[ids]


RIGHT = [
    _picked,
    _upwards,
    _with_torch,
    _logsumexp,
    lambda logits, k: list(_picked(logits, k)),
    lambda logits, k: tuple(tuple(part) for part in _picked(logits, k)),
    lambda logits, k: tuple(part.tolist() for part in _picked(logits, k)),
    lambda logits, k: _picked(logits.astype(np.float32), k),
    _less(np.max),
]
WRONG = [
    ("overflows", _naive),
    ("overflows", lambda logits, k: _naive(logits.astype(np.longdouble), k)),
    ("close together", _less(np.mean)),
    ("close together", _less(lambda logits: logits[0])),
    ("far below 0", _less(lambda logits: abs(logits).max())),
    ("wrong order", _the_last_k),
    ("look    line 4", _turned_too_late),
    ("as floats", lambda logits, k: np.stack(_picked(logits, k))),
    ("as floats", lambda logits, k: (_picked(logits, k)[0] / 1, _picked(logits, k)[1])),
    ("2 results are wanted", lambda logits, k: _picked(logits, k)[0]),
    ("rounded", lambda logits, k: (_picked(logits, k)[0], _picked(logits, k)[1].round(4))),
    ("`logits` in place", lambda logits, k: (np.argsort(-logits)[:k], _probs(np.negative(logits, out=logits))[:k])),
]
