"""The numbers in lesson 04."""

import math
from fractions import Fraction
from statistics import mean

import torch

from utils.notebooks.values.sources import given
from utils.pretrained import COURSE_MODEL, load_toy_gpt
from utils.sampling import generate
from utils.toy_language import ToyLanguage


def right_stories() -> float:
    """The share of 500 samples at temperature 1 without any slip, with the lesson's seed."""
    language, seed = ToyLanguage(), torch.Generator().manual_seed(0)
    rows = generate(load_toy_gpt(), torch.full((500, 1), language.start), 32, generator=seed)
    return mean(not language.errors(row) for row in rows)


VALUES = {
    "a tiny temperature, which test_claims.py tries": given(Fraction(1, 10**40)),
    "an even chance": lambda: 1 / COURSE_MODEL.vocab_size,
    "stories without a slip": right_stories,
    "letters of a long name": lambda: len("Alexandrinabellamarie"),
    "the first of two by a score 2 higher, and sharpened": lambda: [1 / (1 + math.exp(-x)) for x in (2, 2 / 0.5)],
}
