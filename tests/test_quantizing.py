"""Fewer bits: against a plain loop, the format of Q4_1, and a bound on the error."""

import struct

import pytest
import torch

from utils.pretrained import COURSE_MODEL, dequantize_q4_1, load_toy_gpt
from utils.quantizing import quantize, quantized


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8])
def test_each_number_goes_to_the_nearest_level_of_its_block(bits):
    numbers = torch.randn(3, 2, 32, generator=torch.Generator().manual_seed(bits))
    made = quantize(numbers, bits)
    for block, found in zip(numbers.view(-1, 32).tolist(), made.view(-1, 32).tolist(), strict=True):
        low, high = min(block), max(block)
        levels = [low + (high - low) * step / (2**bits - 1) for step in range(2**bits)]
        wanted = [min(levels, key=lambda level, number=number: abs(level - number)) for number in block]
        assert found == pytest.approx(wanted, abs=1e-6)


def test_four_bits_are_what_a_block_of_the_file_says():
    numbers = torch.linspace(-1.0, 2.0, 32)
    scale, levels = 3.0 / 15, ((numbers + 1.0) / (3.0 / 15)).round().int().tolist()
    packed = bytes(low | high << 4 for low, high in zip(levels[:16], levels[16:], strict=True))
    block = struct.pack("<ee", scale, -1.0) + packed
    assert torch.allclose(quantize(numbers, 4), dequantize_q4_1(block), atol=2e-3)  # the file's scale has 16 bits


def test_equal_numbers_stay_and_quantising_twice_changes_nothing_more():
    assert torch.equal(quantize(torch.full((64,), 3.25), 4), torch.full((64,), 3.25))
    once = quantize(torch.randn(320, generator=torch.Generator().manual_seed(0)), 4)
    assert torch.allclose(quantize(once, 4), once, atol=1e-6)


def test_a_quantised_model_is_another_one_still_tied_and_keeps_its_norms():
    model = load_toy_gpt()
    twin = quantized(model, 4)
    assert twin.lm_head.weight is twin.wte.weight is not model.wte.weight
    assert twin.config == COURSE_MODEL
    for (name, ours), theirs in zip(model.named_parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs) == (ours.ndim == 1), name


@pytest.mark.parametrize(
    ("numbers", "bits", "error", "words"),
    [
        (torch.ones(33), 4, ValueError, "multiple of 32"),
        (torch.ones(32), 0, ValueError, "bits=0"),
        (torch.ones(32), 17, ValueError, "bits=17"),
        ([1.0] * 32, 4, TypeError, "numbers"),
        (torch.arange(32), 4, TypeError, "int64; give a tensor of floats"),
    ],
)
def test_bad_input_is_one_sentence(numbers, bits, error, words):
    with pytest.raises(error, match=words):
        quantize(numbers, bits)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="model=3"):
        quantized(3, 4)
