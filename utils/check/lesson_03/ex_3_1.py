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
        lambda: [(2,), (5,), (64,), (768,)],
        right=Terms(_parts).count,
        mistakes={
            "these are the matrices; biases and layer norms are parameters too.": lambda d: 12 * d * d,
            "the biases are missing: nn.Linear has one number for each of its outputs.": lambda d: 12 * d * d + 4 * d,
            "2 d too many: the final layer norm stands after the blocks.": lambda d: 12 * d * d + 15 * d,
            "3 d too many: a bias has as many numbers as its layer has outputs.": lambda d: 12 * d * d + 16 * d,
            "3 d² missing: `c_attn` gives 3 d numbers, the MLP's `c_proj` takes 4 d.": lambda d: 9 * d * d + 13 * d,
            "the MLP is counted with matrices of d times d; its inner width is 4 d.": lambda d: 6 * d * d + 10 * d,
            "this is attention alone; the MLP and two layer norms are in a block too.": lambda d: 4 * d * d + 4 * d,
            "this is the MLP alone; attention and two layer norms are in a block too.": lambda d: 8 * d * d + 5 * d,
            "biases and layer norms are 13 numbers here; each has as many as the width.": lambda d: 12 * d * d + 13,
            "`c_attn` is counted as 3 d times 3 d; it takes d numbers in.": lambda d: 18 * d * d + 13 * d,
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
