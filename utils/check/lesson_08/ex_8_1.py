"""Exercise 8.1: the work of one token forward. answer(vocab_size, n_embd, n_layer) -> FLOPs, an int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms
from utils.counting import gpt_params

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
        lambda: [(3, 2, 1), (5, 2, 3), (7, 3, 2), (200, 64, 2), (50_257, 768, 12)],
        right=_flops,
        mistakes={
            "this is how many numbers the matrices hold; each is multiplied and added, two operations.": (
                lambda V, d, L: _flops(V, d, L) // 2
            ),
            "the look-up is counted as well; it picks a row and costs none, the scores at the end do.": (
                lambda V, d, L: _flops(V, d, L) + 2 * V * d
            ),
            "this is a token of training, or its backward pass; the forward pass alone is a third of it, or half.": (
                *(lambda V, d, L: 3 * _flops(V, d, L), lambda V, d, L: 2 * _flops(V, d, L)),
            ),
            "every parameter is counted; the position table, biases and layer norms are no matrices here.": tuple(
                lambda V, d, L, n=n: 2 * gpt_params(V, n, d, L) for n in (32, 1024)
            ),
            "a block has 12 times the *square* of d; yours has 12 d.": lambda V, d, L: 2 * (12 * L * d + V * d),
            "blocks and head are multiplied; they follow each other, so add.": lambda V, d, L: 24 * L * V * d**3,
        },
        terms=_TERMS,
    ),
    meaning="each number of a matrix works twice for each token; the head works even where it costs no memory.",
    hints=(
        "How many numbers do the matrices hold: those of one block, of all blocks, and of the head?",
        "The head's matrix has a row for each token of the vocabulary, as wide as the stream.",
        "Each of these numbers is used in one multiplication and one addition.",
    ),
)
