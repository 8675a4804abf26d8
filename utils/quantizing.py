"""Fewer bits for each number: blocks of neighbouring numbers that share a scale and a minimum, as in Q4_1 files."""

import copy

import torch
from torch import nn

from utils import validate

BLOCK = 32  # numbers that share a scale and a minimum, as in llama.cpp's formats


def quantize(numbers, bits) -> torch.Tensor:
    """The nearest numbers that `bits` bits can say, in blocks of 32 numbers that follow each other.

    numbers: float, of any shape with a multiple of 32 numbers -> the same shape. In each block the smallest and the
    largest number stay, with 2^bits - 2 others evenly between them. bits: from 1 to 16. Raises TypeError or ValueError
    for anything else.
    """
    validate.instance("numbers", numbers, torch.Tensor)
    bits = validate.whole_number("bits", bits, high=16)
    if not numbers.is_floating_point():
        raise TypeError(f"numbers is of {numbers.dtype}; give a tensor of floats.")
    if numbers.numel() % BLOCK:
        raise ValueError(f"numbers has shape {tuple(numbers.shape)}; give a multiple of {BLOCK} numbers.")
    blocks = numbers.reshape(-1, BLOCK)
    low, high = blocks.aminmax(dim=-1, keepdim=True)
    scale = ((high - low) / (2**bits - 1)).clamp(min=torch.finfo(blocks.dtype).tiny)
    return (low + scale * ((blocks - low) / scale).round()).view(numbers.shape)


@torch.no_grad()
def quantized(model, bits):
    """A copy of a model whose matrices, tables included, hold what `bits` bits a number can say; norms stay.

    Raises TypeError for what is no model, and what quantize raises.
    """
    validate.instance("model", model, nn.Module)
    twin = copy.deepcopy(model)
    for parameter in twin.parameters():
        if parameter.ndim == 2:
            parameter.copy_(quantize(parameter, bits))
    return twin
