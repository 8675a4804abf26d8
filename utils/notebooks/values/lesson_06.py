"""The numbers in lesson 06."""

import math

import torch

from utils.counting import kv_cache_bytes
from utils.notebooks.values.sizes import LARGEST, SMALL, TABLE, D, gpt3


def full_cache() -> int:
    """Bytes of one full conversation with GPT-3 in 16 bits."""
    return kv_cache_bytes(LARGEST["n_layer"], LARGEST["n_embd"], LARGEST["n_ctx"], bytes_per_number=2)


VALUES = {
    "bits of a half": lambda: torch.finfo(torch.bfloat16).bits,
    "a text of 1,000 tokens and one more": lambda: 1_000 + 1,
    "products for a token: blocks, scores": lambda: (12 * SMALL.n_layer * D**2, TABLE),
    "scores that are not needed": lambda: TABLE * (SMALL.n_ctx - 1),
    "conversations as large as the weights": lambda: math.ceil(2 * gpt3() / full_cache()),
    "the eleventh position": lambda: range(11)[-1],
}
