"""Exercise 8.1: the FLOPs of one token in the forward pass."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.counting import gpt_params


def _size_cases():
    return [(3, 2, 1), (5, 2, 3), (7, 3, 2), (200, 64, 2), (50_257, 768, 12)]


def _flops(V, d, L):
    return 2 * (12 * L * d * d + V * d)


FLOPS = Exercise(
    number="8.1",
    target="An example: V = 10, d = 1 and one layer give 44 FLOPs.",
    probe=by_cases(
        _size_cases,
        right=_flops,
        mistakes=(
            (
                "this is how many numbers the matrices hold; each is multiplied and added, two operations.",
                lambda V, d, L: _flops(V, d, L) // 2,
            ),
            ("the head is missing: its scores cost 2 V d, tied or not.", lambda V, d, L: 24 * L * d * d),
            (
                "the head is missing, and each number is counted with one operation: it is multiplied and added.",
                lambda V, d, L: 12 * L * d * d,
            ),
            ("this is the head alone; the matrices of the blocks come before it.", lambda V, d, L: 2 * V * d),
            (
                "the token table is counted twice; the look-up costs nothing, the scores at the end do.",
                lambda V, d, L: _flops(V, d, L) + 2 * V * d,
            ),
            (
                "the look-up is counted as well, with one operation for each number; it picks a row and costs none.",
                lambda V, d, L: _flops(V, d, L) + V * d,
            ),
            (
                "the look-up is counted too, with d operations; it picks a row and costs none.",
                lambda V, d, L: _flops(V, d, L) + d,
            ),
            (
                "this is a token of training, forward and backward; the forward pass is a third of it.",
                lambda V, d, L: 3 * _flops(V, d, L),
            ),
            ("this is the backward pass; the forward pass is half of it.", lambda V, d, L: 2 * _flops(V, d, L)),
            (
                "this is 32 times too much: one token is meant, and an operation is one, whatever bits its number has.",
                lambda V, d, L: 32 * _flops(V, d, L),
            ),
            (
                "each number is counted with its 32 bits; it is multiplied and added, two operations.",
                lambda V, d, L: 16 * _flops(V, d, L),
            ),
            (
                "this is four times too much: an operation is one, whatever bytes its number has.",
                lambda V, d, L: 4 * _flops(V, d, L),
            ),
            (
                "this is eight times too much: an operation is one, whatever bits and bytes its number has.",
                lambda V, d, L: 8 * _flops(V, d, L),
            ),
            ("this is for 1,024 tokens; one token is meant.", lambda V, d, L: 1024 * _flops(V, d, L)),
            *(
                (f"this is in {unit}; the plain number is wanted.", lambda V, d, L, size=size: _flops(V, d, L) / size)
                for unit, size in (("millions", 1e6), ("billions", 1e9), ("trillions", 1e12))
            ),
            (
                "the layers are squared with the width; each block has its own 12 d², so the layers multiply once.",
                lambda V, d, L: 2 * (12 * (L * d) ** 2 + V * d),
            ),
            (
                "the layers multiply the head and not the blocks.",
                lambda V, d, L: 2 * (12 * d * d + L * V * d),
            ),
            *(
                (
                    f"a block's matrices are counted with {count} d²; attention has 4 d², the MLP 8 d².",
                    lambda V, d, L, count=count: 2 * (count * L * d * d + V * d),
                )
                for count in (9, 10, 11, 16)
            ),
            (
                "the head has V times d numbers; yours adds V and d.",
                lambda V, d, L: 2 * (12 * L * d * d + V + d),
            ),
            ("the head has V times d numbers; yours counts V times V.", lambda V, d, L: 2 * (12 * L * d * d + V * V)),
            *(
                (
                    "every parameter is counted; the position table, biases and layer norms are no matrices here.",
                    lambda V, d, L, n=n: 2 * gpt_params(V, n, d, L),
                )
                for n in (32, 1024)
            ),
            ("a block has 12 times the *square* of d; yours has 12 d.", lambda V, d, L: 2 * (12 * L * d + V * d)),
            ("one block is counted; there are n_layer of them.", lambda V, d, L: _flops(V, d, 1)),
            ("the head is counted once for each block; it comes once.", lambda V, d, L: L * _flops(V, d, 1)),
            (
                "the 2 reaches the blocks alone; the head's numbers are multiplied and added as well.",
                lambda V, d, L: 24 * L * d * d + V * d,
            ),
            (
                "the 2 reaches the head alone; the blocks' numbers are multiplied and added as well.",
                lambda V, d, L: 12 * L * d * d + 2 * V * d,
            ),
            ("the head has V times d numbers; yours counts V.", lambda V, d, L: 2 * (12 * L * d * d + V)),
            (
                "the head has V times d numbers; yours counts V times d².",
                lambda V, d, L: 2 * (12 * L * d * d + V * d * d),
            ),
            ("this is attention and the head; the MLP has 8 d² more.", lambda V, d, L: 2 * (4 * L * d * d + V * d)),
            ("this is the MLP and the head; attention has 4 d² more.", lambda V, d, L: 2 * (8 * L * d * d + V * d)),
            (
                "biases and layer norms are counted too; the matrices alone are wanted.",
                lambda V, d, L: _flops(V, d, L) + 26 * L * d,
            ),
            (
                "biases and layer norms are counted too; the matrices alone are wanted.",
                lambda V, d, L: 2 * (gpt_params(V, 1, d, L) - d),
            ),
            (
                "blocks and head are multiplied; they follow each other, so add.",
                lambda V, d, L: 2 * 12 * L * d * d * V * d,
            ),
            (
                "the sum is taken of 12 L d² and V before it is multiplied by d.",
                lambda V, d, L: 2 * (12 * L * d * d + V) * d,
            ),
        ),
    ),
    meaning="each number of a matrix works twice for each token; the head works even where it costs no memory.",
    hints=(
        "How many numbers do the matrices hold: those of one block, of all blocks, and of the head?",
        "The head's matrix has a row for each token of the vocabulary, as wide as the stream.",
        "Each of these numbers is used in one multiplication and one addition.",
    ),
)


def ex_8_1(answer) -> Verdict:
    """Exercise 8.1: the work of one token forward. answer(vocab_size, n_embd, n_layer) -> FLOPs, an int."""
    return judge(FLOPS, answer)
