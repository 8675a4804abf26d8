"""The numbers in lesson 07."""

import math

from utils.counting import training_bytes
from utils.notebooks.values.sizes import down
from utils.notebooks.values.sources import given
from utils.pretrained import KNOWN_CONFIGS

CARD = 32_000 * 4_096  # the token table of the open question, of a model with 7 billion parameters


VALUES = {
    "large vocabularies": lambda: down(KNOWN_CONFIGS["Llama-3-8B"]["vocab_size"], 100_000),
    "Llama-3's MLP, in widths": lambda: KNOWN_CONFIGS["Llama-3-8B"]["intermediate_size"] / 4_096,
    "the card's vocabulary, a width in a question": given(32_000, 2_048),
    "its table, and less than this share for two": lambda: (CARD, math.ceil(200 * CARD / 7e9) / 100),
    "weights in 16 bits, in 4, in training": lambda: [7e9 * size for size in (2, 0.5, training_bytes(1))],
    "a large model's table in a question": given(0.03),
}
