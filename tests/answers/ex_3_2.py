"""Answers to exercise 3.2: the parameters of a tied GPT-2."""

from decimal import Decimal

import numpy as np
import torch

from utils.counting import gpt_params, ledger
from utils.model import GPTConfig


def _without_brackets(vocab_size, n_ctx, n_embd, n_layer):
    tables = (vocab_size + n_ctx) * n_embd
    blocks = n_layer * 12 * n_embd**2 + 13 * n_embd
    return tables + blocks + 2 * n_embd


RIGHT = [
    lambda V, n, d, L: V * d + n * d + L * (12 * d * d + 13 * d) + 2 * d,
    lambda V, n, d, L: sum(ledger(GPTConfig(V, n, d, L, n_head=1)).values()),
    lambda *sizes: torch.tensor(float(gpt_params(*sizes)), dtype=torch.float64),
    lambda V, n, d, L: Decimal(gpt_params(V, n, d, L)),
    lambda vocab_size, n_ctx, n_embd, n_layer: np.int64(gpt_params(vocab_size, n_ctx, n_embd, n_layer)),
]
WRONG = [
    ("counted twice: the token table", lambda *sizes: gpt_params(*sizes, tied=False)),
    ("the position table and the final layer norm", lambda V, n, d, L: V * d + L * (12 * d * d + 13 * d)),
    ("look    line 3", _without_brackets),
    ("these are millions", lambda *sizes: gpt_params(*sizes) / 1e6),
    ("1 too much", lambda *sizes: gpt_params(*sizes) + 1),
    ("raised", lambda cfg: gpt_params(cfg.vocab_size, cfg.n_ctx, cfg.n_embd, cfg.n_layer)),
    ("the sum of this is wanted", lambda V, n, d, L: (V * d, n * d, L * (12 * d * d + 13 * d), 2 * d)),
]
