"""The numbers in lesson 09."""

from inspect import signature

from utils.experiments.llama_steps import STEPS, after
from utils.notebooks.values.sizes import SMALL, saved
from utils.notebooks.values.sources import given, published
from utils.pretrained import COURSE_MODEL, KNOWN_CONFIGS, TINY_LLAMA, count_from_hf
from utils.start import smollm
from utils.training import train

FILE = smollm.SIZE  # bytes of SmolLM2's file
NUMBERS = sum(count_from_hf(KNOWN_CONFIGS["SmolLM2-135M"]).values())
N = TINY_LLAMA.n_ctx


def counts_by_step() -> list[int]:
    """The parameters of the model after each change."""
    return [sum(p.numel() for p in after(step).parameters()) for step in STEPS]


VALUES = {
    "the models on the way to Llama": counts_by_step,
    "shifts of five norms": lambda: 5 * COURSE_MODEL.n_embd,
    "a position, a year, a theta": given(700, 2021, 10),
    "positions in training, the hole, the largest distance": lambda: (N, N + 1, N - 1),
    "the MLP's inner width": lambda: TINY_LLAMA.n_inner,
    "the share of numbers saved": lambda: round(1 - counts_by_step()[-1] / counts_by_step()[0], 1),
    "temperatures to try": given(0.7, 1.5),
    "the file, the numbers in 32 and 16 bits, bits a number": lambda: (
        FILE,
        4 * NUMBERS,
        2 * NUMBERS,
        8 * FILE / NUMBERS,
    ),
    "what tying saves": lambda: saved(SMALL),
    "bits of a number in Q8_0": lambda: 8 * (2 + 32) / 32,
    "learning rates": lambda: (signature(train).parameters["lr"].default, 5e-3),
    "positions in a question": given(50, 47, 1_050, 1_047),
    "the context that SmolLM2 was made for": published("its config.json", 8_192),
}
