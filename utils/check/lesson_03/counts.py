"""Exercises 3.1, 3.2 and 3.3: one block, the whole model, and the token table's share of it."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.counting import gpt_params


def _width_cases():
    return [(2,), (5,), (64,), (768,)]


def _block(d):
    return 12 * d * d + 13 * d


BLOCK = Exercise(
    number="3.1",
    target="An example: a block of width 2 holds 74 numbers.",
    probe=by_cases(
        _width_cases,
        right=_block,
        mistakes=(
            (
                "these are the matrices alone; biases and layer norms are parameters too.",
                lambda d: 12 * d * d,
            ),
            (
                "the biases are missing: nn.Linear has one number for each of its outputs beside the matrix.",
                lambda d: _block(d) - 9 * d,
            ),
            (
                "4 d numbers are missing: are the two layer norms counted, and the biases of attention?",
                lambda d: _block(d) - 4 * d,
            ),
            (
                "2 d numbers are missing: there are two layer norms, and each has a scale and a shift.",
                lambda d: _block(d) - 2 * d,
            ),
            (
                "5 d numbers are missing: the MLP's two layers have biases, one of width 4 d and one of width d.",
                lambda d: _block(d) - 5 * d,
            ),
            (
                "3 d numbers are missing: a bias has as many numbers as its layer has outputs. Which layer has 4 d?",
                lambda d: _block(d) - 3 * d,
            ),
            (
                "3 d numbers are too many: a bias has as many numbers as its layer has outputs. Which has only d?",
                lambda d: _block(d) + 3 * d,
            ),
            (
                "d numbers are missing: the last layer of attention or of the MLP has a bias too.",
                lambda d: _block(d) - d,
            ),
            (
                "of queries, keys and values only one is counted; each has a matrix and a bias.",
                lambda d: _block(d) - 2 * (d * d + d),
            ),
            (
                "attention is counted with one matrix; queries, keys, values and the way back have one each.",
                lambda d: _block(d) - 3 * (d * d + d),
            ),
            (
                "attention's last layer, `c_proj`, is missing: what the heads found goes through one matrix more.",
                lambda d: _block(d) - (d * d + d),
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
                lambda d: _block(d) + 3 * 3 * (d * d + d),
            ),
            (
                "attention is counted four times; heads share the width, they add nothing.",
                lambda d: _block(d) + 3 * (4 * d * d + 4 * d),
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
                lambda d: _block(d) + 2 * d,
            ),
            (
                "this is twice the block.",
                lambda d: 2 * _block(d),
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


def _size_cases():
    return [(10, 4, 2, 1), (7, 5, 4, 3), (200, 32, 64, 2), (50_257, 1_024, 768, 12)]


_TOTAL_MISTAKES = (
    (
        "the token table is counted twice; a tied head has no numbers of its own.",
        lambda V, n, d, L: gpt_params(V, n, d, L, tied=False),
    ),
    (
        "the position table is missing: n rows of d numbers.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - n * d,
    ),
    (
        "the token table is missing: V rows of d numbers.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - V * d,
    ),
    (
        "both tables are missing: V rows and n rows of d numbers.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - V * d - n * d,
    ),
    (
        "the final layer norm is missing, after the last block.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - 2 * d,
    ),
    (
        "the final layer norm is counted with one vector; it has a scale and a shift.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - d,
    ),
    (
        "the final layer norm is counted in every block; it comes once.",
        lambda V, n, d, L: gpt_params(V, n, d, L) + 2 * d * (L - 1),
    ),
    (
        "one block is counted; there are n_layer of them.",
        lambda V, n, d, L: gpt_params(V, n, d, 1),
    ),
    (
        "tables and final layer norm are counted once for each block; only the blocks repeat.",
        lambda V, n, d, L: L * gpt_params(V, n, d, 1),
    ),
    (
        "V numbers are too many: GPT-2's head has no bias.",
        lambda V, n, d, L: gpt_params(V, n, d, L) + V,
    ),
    (
        "there is a second table and a bias for the head; a tied head has neither.",
        lambda V, n, d, L: gpt_params(V, n, d, L, tied=False) + V,
    ),
    (
        "a position is counted as one number; it is a row of d numbers.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - n * d + n,
    ),
    (
        "the blocks are counted by their matrices alone; biases and layer norms are parameters too.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - 13 * d * L,
    ),
    (
        "this is 12 L d², the blocks' matrices; biases, layer norms and two tables are parameters too.",
        lambda V, n, d, L: 12 * L * d * d,
    ),
    (
        "these are the blocks; two tables and the final layer norm come with them.",
        lambda V, n, d, L: L * _block(d),
    ),
    (
        "these are the two tables alone; the blocks and the final layer norm come with them.",
        lambda V, n, d, L: V * d + n * d,
    ),
    (
        "the layer norms in the blocks are missing, two in each, with two vectors each.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - 4 * d * L,
    ),
)

TOTAL = Exercise(
    number="3.2",
    target="An example: V = 10, n = 4, d = 2 and one layer give 106.",
    probe=by_cases(_size_cases, right=gpt_params, mistakes=_TOTAL_MISTAKES),
    meaning="four numbers on a model card give the exact size of any GPT-2, and heads are not among them.",
    hints=(
        "There are four parts: two tables, the blocks, one last layer norm.",
        "Exercise 3.1 counts one block. How often does each of the four parts occur?",
        "The head is tied: it reads the token table and brings nothing of its own.",
    ),
)


def _share(V, n, d, L):
    return V * d / gpt_params(V, n, d, L)


SHARE = Exercise(
    number="3.3",
    target="An example: V = 10, n = 4, d = 2 and one layer give 0.1887.",
    probe=by_cases(
        _size_cases,
        right=_share,
        mistakes=(
            (
                "the share is in per cent; give a fraction from 0 to 1.",
                lambda *sizes: 100 * _share(*sizes),
            ),
            (
                "this is the share of the untied model, which has one table more; divide by the tied total.",
                lambda V, n, d, L: V * d / gpt_params(V, n, d, L, tied=False),
            ),
            (
                "the position table is counted in; the token table's share alone is wanted.",
                lambda V, n, d, L: (V + n) * d / gpt_params(V, n, d, L),
            ),
            (
                "this is the share of all the rest.",
                lambda *sizes: 1 - _share(*sizes),
            ),
            (
                "the table is divided by the rest; a share is of the whole, the table included.",
                lambda V, n, d, L: V * d / (gpt_params(V, n, d, L) - V * d),
            ),
            (
                "the table is divided by the blocks; a share is of the whole model.",
                lambda V, n, d, L: V * d / (L * _block(d)),
            ),
            (
                "the fraction stands on its head: the table is the part, and the model the whole.",
                lambda *sizes: 1 / _share(*sizes),
            ),
            (
                "both tables of an untied model are counted; a tied model has one.",
                lambda V, n, d, L: 2 * V * d / gpt_params(V, n, d, L, tied=False),
            ),
            (
                "two token tables are divided by a total that holds one.",
                lambda *sizes: 2 * _share(*sizes),
            ),
            (
                "the share is rounded down to a whole number: `/` divides, and `//` drops what is behind the point.",
                lambda *sizes: 0,
            ),
            (
                "this is the position table's share; V rows are the token table, n rows the position table.",
                lambda V, n, d, L: n * d / gpt_params(V, n, d, L),
            ),
            (
                "this is the size of the table; divide it by the size of the model.",
                lambda V, n, d, L: V * d,
            ),
            (
                "the number of rows is divided by the total; each row has d numbers.",
                lambda V, n, d, L: V / gpt_params(V, n, d, L),
            ),
        ),
    ),
    meaning="in a small model with a large vocabulary the table weighs most, and width and depth make it light.",
    hints=(
        "A share is a part divided by the whole. Here the part is the token table.",
        "The part has V rows of d numbers; the whole is exercise 3.2.",
        "Divide with `/`, and leave all digits: 0.1887 is only how we print it.",
    ),
)


def ex_3_1(answer) -> Verdict:
    """Exercise 3.1: the parameters of one block. answer(n_embd) -> int."""
    return judge(BLOCK, answer)


def ex_3_2(answer) -> Verdict:
    """Exercise 3.2: the parameters of a tied GPT-2. answer(vocab_size, n_ctx, n_embd, n_layer) -> int."""
    return judge(TOTAL, answer)


def ex_3_3(answer) -> Verdict:
    """Exercise 3.3: the token table's share. answer(vocab_size, n_ctx, n_embd, n_layer) -> float from 0 to 1."""
    return judge(SHARE, answer)
