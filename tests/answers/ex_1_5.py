"""Answers to exercise 1.5: the stable softmax with top-k."""

import numpy as np
import torch


def _less(subtract):
    """The answer with a softmax that takes subtract(logits) from every score."""

    def likeliest(logits, k):
        exponentials = np.exp(logits - subtract(logits))
        probs = exponentials / exponentials.sum()
        ids = np.argsort(-probs)[:k]
        return ids, probs[ids]

    return likeliest


_picked = _less(np.max)


def _with_torch(logits, k):
    top = torch.tensor(logits).softmax(0).topk(k)
    return top.indices, top.values


def _turned_too_late(logits, k):
    shifted = np.exp(logits - logits.max())
    probs = shifted / shifted.sum()
    ids = np.argsort(probs)[:k][::-1]
    return ids, probs[ids]


RIGHT = [
    _picked,
    _with_torch,
    lambda logits, k: [part.tolist() for part in _picked(logits, k)],
    lambda logits, k: tuple(tuple(part) for part in _picked(logits, k)),
    lambda logits, k: _picked(logits.astype(np.float32), k),
]
WRONG = [
    ("overflows", _less(lambda logits: 0)),
    ("overflows", lambda logits, k: _less(lambda logits: 0)(logits.astype(np.longdouble), k)),
    ("close together", _less(np.mean)),
    ("close together", _less(lambda logits: logits[0])),
    ("far below 0", _less(lambda logits: abs(logits).max())),
    ("wrong order", lambda logits, k: [part[::-1] for part in _picked(logits, k)]),
    ("look    line 4", _turned_too_late),
    ("as floats", lambda logits, k: np.stack(_picked(logits, k))),
    ("missing: result 2 of 2", lambda logits, k: _picked(logits, k)[0]),
    ("rounded", lambda logits, k: (_picked(logits, k)[0], _picked(logits, k)[1].round(4))),
]
