"""What the tests of training share: a tiny model, random rows, a quiet run."""

import copy

import torch

from utils.model import GPT, GPTConfig
from utils.training import train

TINY = {"vocab_size": 12, "n_ctx": 8, "n_embd": 16, "n_layer": 1, "n_head": 2}


def make(seed=0, **changes):
    """A fresh tiny GPT."""
    torch.manual_seed(seed)
    return GPT(GPTConfig(**TINY | changes))


def data(m=40, length=9, seed=1, ignored=0.0):
    """Random rows; a share of the tokens after the first is -100."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randint(12, (m, length), generator=generator)
    mask = torch.rand(m, length - 1, generator=generator) < ignored
    rows[:, 1:][mask] = -100
    return rows


def fit(model, rows, steps=5, **options):
    """train, quietly and in small batches."""
    return train(model, rows, **{"steps": steps, "batch_size": 4, "progress": False} | options)


def weights(model):
    """A copy of the weights."""
    return copy.deepcopy(model.state_dict())


def same(a, b):
    """Whether two state dicts are equal bit for bit; NaN equals NaN."""
    return all(torch.equal(a[name].nan_to_num(), b[name].nan_to_num()) for name in a)


def changed(place, value):
    """Rows with one wrong place."""
    rows = data()
    rows[place] = value
    return rows
