"""Sizes and sums that several texts state."""

import math
from dataclasses import replace
from functools import cache

import torch

from utils.counting import GPT2_FAMILY, GPT3_FAMILY, ledger, tying_saving
from utils.model import GPT

SMALL, XL = GPT2_FAMILY["GPT-2 small"], GPT2_FAMILY["GPT-2 XL"]
LARGEST = GPT3_FAMILY["GPT-3 175B"]
V, D = SMALL.vocab_size, SMALL.n_embd
TABLE = tying_saving(V, D)


def total(config) -> int:
    """All unique parameters."""
    return sum(ledger(config).values())


@cache
def gpt3() -> int:
    """The parameters of the largest GPT-3, from GPT-2's formula."""
    return total(replace(SMALL, n_ctx=LARGEST["n_ctx"], **{k: LARGEST[k] for k in ("n_layer", "n_embd", "n_head")}))


def saved(config) -> float:
    """The share of the untied model that tying saves."""
    return tying_saving(config.vocab_size, config.n_embd) / total(replace(config, tied=False))


@cache
@torch.no_grad()
def loud_loss() -> int:
    """The first loss of GPT-2's shape with its table drawn from N(0, 1), every token a target; to the nearest 5.

    One block stands for twelve: the others change it by less than a half.
    """
    torch.manual_seed(0)
    model = GPT(replace(SMALL, n_layer=1))
    model.wte.reset_parameters()
    logits = model(torch.randint(V, (1, 512)))
    return 5 * round((logits.logsumexp(-1) - logits.mean(-1)).mean().item() / 5)


def down(value: float, unit: int) -> int:
    """For *more than*: the next lower multiple of a unit."""
    return math.floor(value / unit) * unit
