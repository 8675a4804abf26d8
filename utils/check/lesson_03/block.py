"""Exercise 3.1: the parameters of one block."""

from utils.check.engine import Exercise, Verdict, by_cases, judge


def _width_cases():
    return [(2,), (5,), (64,), (768,)]


def block(d):
    """The parameters of a block of width d, an int (lesson 03, section 1)."""
    return 12 * d * d + 13 * d


BLOCK = Exercise(
    number="3.1",
    target="An example: a block of width 2 holds 74 numbers.",
    probe=by_cases(
        _width_cases,
        right=block,
        mistakes=(
            (
                "these are the matrices alone; biases and layer norms are parameters too.",
                lambda d: 12 * d * d,
            ),
            (
                "the biases are missing: nn.Linear has one number for each of its outputs beside the matrix.",
                lambda d: block(d) - 9 * d,
            ),
            (
                "4 d numbers are missing: are the two layer norms counted, and the biases of attention?",
                lambda d: block(d) - 4 * d,
            ),
            (
                "2 d numbers are missing: there are two layer norms, and each has a scale and a shift.",
                lambda d: block(d) - 2 * d,
            ),
            (
                "5 d numbers are missing: the MLP's two layers have biases, one of width 4 d and one of width d.",
                lambda d: block(d) - 5 * d,
            ),
            (
                "3 d numbers are missing: a bias has as many numbers as its layer has outputs. Which layer has 4 d?",
                lambda d: block(d) - 3 * d,
            ),
            (
                "3 d numbers are too many: a bias has as many numbers as its layer has outputs. Which has only d?",
                lambda d: block(d) + 3 * d,
            ),
            (
                "d numbers are missing: the last layer of attention or of the MLP has a bias too.",
                lambda d: block(d) - d,
            ),
            (
                "of queries, keys and values only one is counted; each has a matrix and a bias.",
                lambda d: block(d) - 2 * (d * d + d),
            ),
            (
                "attention is counted with one matrix; queries, keys, values and the way back have one each.",
                lambda d: block(d) - 3 * (d * d + d),
            ),
            (
                "attention's last layer, `c_proj`, is missing: what the heads found goes through one matrix more.",
                lambda d: block(d) - (d * d + d),
            ),
            (
                "the MLP is counted with one matrix; there is one to widen and one to narrow.",
                lambda d: 4 * d * d + 4 * d + 4 * d * d + 4 * d + 4 * d,
            ),
            (
                "the MLP is counted with one matrix; there is one to widen and one to narrow.",
                lambda d: 4 * d * d + 4 * d + 4 * d * d + d + 4 * d,
            ),
            (
                "the MLP is counted with matrices of d times d; its inner width is 4 d.",
                lambda d: 4 * d * d + 4 * d + 2 * d * d + 2 * d + 4 * d,
            ),
            (
                "queries, keys and values are counted for four heads; heads share the width, they add nothing.",
                lambda d: block(d) + 3 * 3 * (d * d + d),
            ),
            (
                "attention is counted four times; heads share the width, they add nothing.",
                lambda d: block(d) + 3 * (4 * d * d + 4 * d),
            ),
            (
                "this is attention alone; the MLP and two layer norms are in a block too.",
                lambda d: 4 * d * d + 4 * d,
            ),
            (
                "this is the MLP alone; attention and two layer norms are in a block too.",
                lambda d: 8 * d * d + 5 * d,
            ),
            (
                "2 d numbers are too many: the final layer norm stands after the blocks, not in one.",
                lambda d: block(d) + 2 * d,
            ),
            (
                "d² numbers are missing: a matrix of d times d is left out, such as that of attention's `c_proj`.",
                lambda d: block(d) - d * d,
            ),
            (
                "2 d² numbers are missing: queries, keys and values have a matrix each, and one is counted.",
                lambda d: block(d) - 2 * d * d,
            ),
            (
                "4 d² numbers are missing: attention has four matrices of d times d, the MLP two of d times 4 d.",
                lambda d: block(d) - 4 * d * d,
            ),
            (
                "4 d² numbers are too many: attention has four matrices of d times d, the MLP two of d times 4 d.",
                lambda d: block(d) + 4 * d * d,
            ),
            (
                "`c_attn` is counted as 3 d times 3 d; it takes d numbers in and gives 3 d.",
                lambda d: block(d) + 6 * d * d,
            ),
            ("biases and layer norms are 13 numbers here; each has as many as the width.", lambda d: 12 * d * d + 13),
            (
                "this is twice the block.",
                lambda d: 2 * block(d),
            ),
        ),
    ),
    meaning="a block grows with the square of the width, and a published width is enough to count it.",
    hints=(
        "List a block's tensors with their shapes: two layer norms, two layers in attention, two in the MLP.",
        "nn.Linear(a, b) holds a times b numbers and b more. A layer norm holds two vectors.",
        "`c_attn` goes from d to 3 d and `c_proj` from d to d; `c_fc` from d to 4 d, and the MLP's `c_proj` back.",
    ),
)


def ex_3_1(answer) -> Verdict:
    """Exercise 3.1: the parameters of one block. answer(n_embd) -> int."""
    return judge(BLOCK, answer)
