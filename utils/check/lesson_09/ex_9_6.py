"""Exercise 9.6: count. answer(vocab_size, n_embd, n_layer, n_head, n_kv_head, n_inner, tied) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms


def _cases():
    small = (10, 4, 1, 2, 1, 3), (7, 12, 3, 6, 2, 20), (11, 8, 2, 4, 4, 5), (5, 24, 2, 6, 3, 7)
    published = (49_152, 576, 30, 9, 3, 1_536, True), (128_256, 4_096, 32, 32, 8, 14_336, False)  # SmolLM2, Llama 3
    large = 128_257, 4_110, 33, 15, 5, 14_337, True  # too large for 32 bits and for float32
    return [*((*sizes, tied) for sizes in small for tied in (True, False)), *published, large]


def _parts(V, d, L, H, G, d_ff, tied):
    kept = G * d // H
    return {
        "the token table": V * d,
        "`q_proj`": (L, d * d),
        "`k_proj`": (L, d * kept),
        "`v_proj`": (L, d * kept),
        "`o_proj`": (L, d * d),
        "`gate_proj`": (L, d * d_ff),
        "`up_proj`": (L, d * d_ff),
        "`down_proj`": (L, d_ff * d),
        "`ln_1`": (L, d),
        "`ln_2`": (L, d),
        "the final norm": d,
        "the table of an untied head": 0 if tied else V * d,
    }


_TERMS = Terms(_parts)
_count = _TERMS.count


def _plus(*more):
    """The count and something more, of V, d, L, d_ff and the width of all keys; one function for each."""
    return tuple(
        lambda V, d, L, H, G, d_ff, tied, add=add: _count(V, d, L, H, G, d_ff, tied) + add(V, d, L, d_ff, d // H * G)
        for add in more
    )


_MISTAKES = {
    "keys are counted as wide as the queries; there are n_kv_head heads of them, and as many of values.": (
        lambda *sizes: _count(*sizes[:4], sizes[3], *sizes[5:])
    ),
    "biases are counted; a Llama has none.": _plus(
        lambda V, d, L, d_ff, kept: L * (3 * d + 2 * kept + 2 * d_ff), lambda V, d, L, d_ff, kept: L * (d + 2 * kept)
    ),
    "a norm is counted as 2 d numbers; an RMSNorm has a scale and no shift.": _plus(
        lambda V, d, L, *_: (2 * L + 1) * d, lambda V, d, L, *_: 2 * L * d
    ),
    "`a + b if tied else c` is one choice, a + b or c; put brackets round what hangs on the tie.": (
        lambda *sizes: _count(*sizes) if sizes[-1] else sizes[0] * sizes[1],
        lambda *sizes: sizes[0] * sizes[1] if sizes[-1] else _count(*sizes),
    ),
    "the table or the final norm, or both, are counted once for each block; only the blocks repeat.": (
        lambda *sizes: sizes[2] * _count(*sizes[:2], 1, *sizes[3:]),
        *_plus(lambda V, d, L, *_: (L - 1) * V * d, lambda V, d, L, *_: (L - 1) * d),
    ),
}

EXERCISE = Exercise(
    target="An example: V = 3, d = 2, one layer, 2 heads, 1 key-value head and d_ff = 5 give 54 parameters tied, 60 "
    "untied.",
    probe=Cases(_cases, right=_count, mistakes=_MISTAKES, terms=_TERMS),
    meaning="your formula gives 134,515,008 for SmolLM2 and 8,030,261,248 for Llama 3 8B, to the last number.",
    hints=(
        "List the parts as in lesson 03: table, blocks, final norm, perhaps a head. There are no biases or positions.",
        "Attention has four matrices. Two of them are d by d; those of keys and values are narrower.",
        "The MLP has three matrices of d times d_ff numbers. A norm has d numbers, and a block has two norms.",
    ),
)
