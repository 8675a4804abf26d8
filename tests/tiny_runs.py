"""What the tests of the model and of training share: seeded numbers, a tiny model, a quiet run."""

import copy

import torch

from utils.model import GPT, GPTConfig
from utils.training import train

TINY = {"vocab_size": 12, "n_ctx": 8, "n_embd": 16, "n_layer": 1, "n_head": 2}


def rng(seed):
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def random_ids(batch, length, vocab_size=200, seed=1):
    """Random tokens (batch, length)."""
    return torch.randint(vocab_size, (batch, length), generator=rng(seed))


def far(found, wanted):
    """The largest difference, in units of the largest number wanted."""
    return ((found - wanted).abs().max() / wanted.abs().max()).item()


def make(seed=0, **changes):
    """A fresh tiny GPT."""
    torch.manual_seed(seed)
    return GPT(GPTConfig(**TINY | changes))


def data(m=40, length=9, seed=1, ignored=0.0):
    """Random rows; a share of the tokens after the first is -100."""
    generator = rng(seed)
    rows = torch.randint(12, (m, length), generator=generator)
    rows[:, 1:][torch.rand(m, length - 1, generator=generator) < ignored] = -100
    return rows


VALID = {"valid_rows": data(10, seed=2), "valid_every": 5}


def changed(place, value):
    """Rows with one wrong place."""
    rows = data()
    rows[place] = value
    return rows


def fit(model, rows, steps=5, **options):
    """train, quietly and in small batches."""
    return train(model, rows, **{"steps": steps, "batch_size": 4, "progress": False} | options)


def at_step(k, act):
    """What train's watch may be: `act` is called after step k."""
    return lambda history: act() if len(history.train_loss) == k else None


def interrupt():
    """Raise what Ctrl-C raises."""
    raise KeyboardInterrupt


def weights(model):
    """A copy of the weights."""
    return copy.deepcopy(model.state_dict())


def same(a, b):
    """Whether two state dicts are equal bit for bit; NaN equals NaN."""
    return all(torch.equal(a[name].nan_to_num(), b[name].nan_to_num()) for name in a)
