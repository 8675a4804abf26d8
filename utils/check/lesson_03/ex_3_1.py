"""Exercise 3.1: the parameters of one block. answer(n_embd) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms


def _parts(d):
    return {
        "the matrix of `c_attn`": 3 * d * d,
        "the bias of `c_attn`": 3 * d,
        "the matrix of attention's `c_proj`": d * d,
        "the bias of attention's `c_proj`": d,
        "the matrix of `c_fc`": 4 * d * d,
        "the bias of `c_fc`": 4 * d,
        "the matrix of the MLP's `c_proj`": 4 * d * d,
        "the bias of the MLP's `c_proj`": d,
        "a layer norm": (2, 2 * d),
    }


EXERCISE = Exercise(
    target="An example: a block of width 2 holds 74 numbers.",
    probe=Cases(
        lambda: [(2,), (5,), (64,), (768,), (100_003,)],
        right=Terms(_parts).count,
        mistakes={
            "these are the matrices; biases and layer norms are parameters too.": lambda d: 12 * d * d,
            "the MLP is counted with matrices of d times d; its inner width is 4 d.": lambda d: 6 * d * d + 10 * d,
        },
        terms=Terms(_parts),
    ),
    meaning="a block grows with the square of the width, and a published width is enough to count it.",
    hints=(
        "List a block's tensors with their shapes: two layer norms, two layers in attention, two in the MLP.",
        "nn.Linear(a, b) holds a times b numbers and b more. A layer norm holds two vectors.",
        "`c_attn` goes from d to 3 d and `c_proj` from d to d; `c_fc` from d to 4 d, and the MLP's `c_proj` back.",
    ),
)
