"""Exercise 8.1: the work of one token forward. answer(vocab_size, n_embd, n_layer) -> FLOPs, an int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

_TERMS = Terms(
    lambda V, d, L: {
        "the matrix `c_attn`": (L, 2 * 3 * d * d),
        "attention's `c_proj`": (L, 2 * d * d),
        "the matrix `c_fc`": (L, 2 * 4 * d * d),
        "the MLP's `c_proj`": (L, 2 * 4 * d * d),
        "the head": 2 * V * d,
    }
)
_flops = _TERMS.count

EXERCISE = Exercise(
    target="An example: V = 10, d = 1 and one layer give 44 FLOPs.",
    probe=Cases(
        lambda: [(3, 2, 1), (5, 2, 3), (7, 3, 2), (200, 64, 2), (50_257, 768, 12), (50_257, 12_289, 97)],
        right=_flops,
        terms=_TERMS,
    ),
    meaning="each number of a matrix works twice for each token; the head works even where it costs no memory.",
    hints=(
        "How many numbers do the matrices hold: those of one block, of all blocks, and of the head?",
        "The head's matrix has a row for each token of the vocabulary, as wide as the stream.",
        "Each of these numbers is used in one multiplication and one addition.",
    ),
)
