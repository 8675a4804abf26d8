"""Exercise 9.7: cache. answer(n_layer, n_embd, n_head, n_kv_head, n_tokens, bytes_per_number) -> int."""

import math

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

_TERMS = Terms(
    lambda L, d, H, G, n, b: {
        "the two, keys and values": 2,
        "the layers, each of which keeps its own": L,
        "the key-value heads": G,
        "the width of a head": d // H,
        "the tokens": n,
        "the bytes of a number": b,
    },
    combine=lambda terms: math.prod(terms.values()),
)
_bytes = _TERMS.count

EXERCISE = Exercise(
    target="An example: 2 layers of width 64, 4 heads, 2 key-value heads, 32 tokens and 4 bytes a number give "
    "16384 bytes.",
    probe=Cases(
        lambda: [
            (2, 64, 4, 2, 32, 4),
            (3, 35, 7, 1, 11, 2),
            (5, 54, 6, 6, 7, 1),
            (30, 576, 9, 3, 1, 4),  # SmolLM2-135M, a token
            (32, 4_096, 32, 8, 8_192, 2),  # Llama 3
            (33, 4_095, 15, 5, 131_071, 3),
        ],
        right=_bytes,
        mistakes={
            "keys and values are counted for every query head; the cache holds those of n_kv_head heads.": (
                lambda L, d, H, G, n, b: 2 * L * d * n * b
            ),
            "the share of the heads stands on its head: it is n_kv_head / n_head.": (
                lambda L, d, H, G, n, b: 2 * L * d * H // G * n * b
            ),
        },
        terms=_TERMS,
    ),
    meaning="sharing keys and values makes the cache smaller by n_head / n_kv_head, which is why large models share.",
    hints=(
        "As in exercise 6.4: how many numbers does one layer keep for one token?",
        "A head's key is n_embd / n_head wide. How many heads have keys of their own?",
        "Keys and values, in every layer, for every token; then the bytes of a number.",
    ),
)
