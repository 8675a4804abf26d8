"""Exercise 6.4: bytes. answer(n_layer, n_embd, n_tokens, batch_size, bytes_per_number) -> int."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

_TERMS = Terms(
    lambda L, d, n, B, b: {
        "the two, keys and values": 2,
        "the layers, each of which keeps its own": L,
        "the width, as a key is a vector of `n_embd` numbers": d,
        "the tokens": n,
        "the sequences of the batch": B,
        "the bytes of a number": b,
    },
    combine=lambda terms: math.prod(terms.values()),
)

EXERCISE = Exercise(
    target="An example: 2 layers of width 64, 32 tokens, a batch of 1 and 4 bytes a number give 32768 bytes.",
    probe=Cases(
        lambda: [
            (2, 64, 32, 1, 4),
            (3, 5, 7, 2, 4),
            (12, 768, 1024, 1, 4),
            (96, 12_288, 2_048, 1, 2),
            (2, 10, 3, 5, 1),
            (97, 12_289, 2_049, 3, 1),
        ],
        right=_TERMS.count,
        terms=_TERMS,
    ),
    meaning="the cache grows with every token of every sequence, so in long contexts it outgrows the weights.",
    hints=(
        "How many numbers does one layer keep for one token? It keeps two vectors of the width.",
        "Every layer does so, for every token of every sequence.",
        "That counts numbers. Each of them takes some bytes.",
    ),
)
