"""Answers to exercise 0.1: how many numbers a table holds."""

from decimal import Decimal

import numpy as np
import torch

RIGHT = [
    lambda table: table.numel(),
    lambda table: len(table) * len(table[0]),
    lambda table: torch.tensor(table.shape).prod(),
    lambda table, *, times=1: np.prod(table.shape) * times,
    torch.numel,
    lambda table: Decimal(table.numel()),
]
WRONG = [
    ("missing here: the width of a row", len),
    ("brackets of a call", lambda table: table.numel),
    ("same result in every case", lambda table: 12),
    ("number is not the right one", lambda table: 2 * (table.shape[0] + table.shape[1])),
    ("in the shape (1,); a single number", lambda table: torch.tensor([table.numel()])),
    ("returns a text", lambda table: str(table.numel())),
]
