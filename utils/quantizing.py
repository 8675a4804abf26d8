"""Fewer bits for each number: blocks of neighbouring numbers that share a scale and a minimum, as in Q4_1 files."""

import copy

import torch

from utils import validate

BLOCK = 32  # numbers that share a scale and a minimum, as in llama.cpp's formats
OVERHEAD = 32  # bits of the two, 16 each


def quantize(numbers, bits) -> torch.Tensor:
    """The nearest numbers that `bits` bits can say, in blocks of 32 along the last dimension.

    numbers (..., m) float, m a multiple of 32 -> (..., m). In each block the smallest and the largest number stay and
    2^bits - 2 steps lie evenly between them. bits: from 1 to 16. Raises TypeError or ValueError for anything else.
    """
    validate.instance("numbers", numbers, torch.Tensor)
    bits = validate.whole_number("bits", bits, high=16)
    if numbers.ndim == 0 or numbers.shape[-1] % BLOCK:
        raise ValueError(f"numbers has shape {tuple(numbers.shape)}; give rows whose length is a multiple of {BLOCK}.")
    blocks = numbers.unflatten(-1, (-1, BLOCK))  # (..., m / 32, 32)
    low, high = blocks.aminmax(dim=-1, keepdim=True)  # (..., m / 32, 1) twice
    scale = ((high - low) / (2**bits - 1)).clamp(min=torch.finfo(blocks.dtype).tiny)
    return (low + scale * ((blocks - low) / scale).round()).flatten(-2)  # (..., m)


@torch.no_grad()
def quantized(model, bits):
    """A copy of a model whose matrices, tables included, hold what `bits` bits a number can say; norms stay.

    Raises ValueError for a width that is no multiple of 32.
    """
    twin = copy.deepcopy(model)
    for parameter in twin.parameters():
        if parameter.ndim == 2:
            parameter.copy_(quantize(parameter, bits))
    return twin


def bits_a_number(bits) -> float:
    """What a number takes with its share of its block's scale and minimum: bits + 1 in blocks of 32."""
    return bits + OVERHEAD / BLOCK
