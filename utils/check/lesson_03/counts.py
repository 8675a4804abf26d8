"""Exercises 3.2 and 3.3: the whole model, and the token table's share of it."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.check.lesson_03.block import block
from utils.counting import gpt_params


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
        "there is a second token table, and no position table: n rows of d numbers belong in its place.",
        lambda V, n, d, L: gpt_params(V, n, d, L, tied=False) - n * d,
    ),
    (
        "both tables are counted twice; each is there once, and a tied head reads the token table.",
        lambda V, n, d, L: gpt_params(V, n, d, L) + (V + n) * d,
    ),
    (
        "the causal mask is counted; it is computed, and not a parameter.",
        lambda V, n, d, L: gpt_params(V, n, d, L) + n * n * L,
    ),
    (
        "tables and matrices alone are counted; biases and layer norms are parameters too.",
        lambda V, n, d, L: 12 * L * d * d + (V + n) * d,
    ),
    (
        "this is 12 L d² and the token table; the position table, biases and layer norms are parameters too.",
        lambda V, n, d, L: 12 * L * d * d + V * d,
    ),
    (
        "the layer norms are missing, those in the blocks and the final one.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - 4 * d * L - 2 * d,
    ),
    (
        "the biases of the blocks are missing, 9 d in each.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - 9 * d * L,
    ),
    (
        "the position table and the final layer norm are missing.",
        lambda V, n, d, L: gpt_params(V, n, d, L) - n * d - 2 * d,
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
        lambda V, n, d, L: L * block(d),
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
                lambda V, n, d, L: V * d / (L * block(d)),
            ),
            (
                "the table is divided by the two tables; a share is of the whole model.",
                lambda V, n, d, L: V / (V + n),
            ),
            (
                "the blocks are counted as 12 L d², and the rest is left out; divide by the whole of exercise 3.2.",
                lambda V, n, d, L: V * d / (V * d + 12 * L * d * d),
            ),
            (
                "the whole is counted without the position table.",
                lambda V, n, d, L: V * d / (gpt_params(V, n, d, L) - n * d),
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


def ex_3_2(answer) -> Verdict:
    """Exercise 3.2: the parameters of a tied GPT-2. answer(vocab_size, n_ctx, n_embd, n_layer) -> int."""
    return judge(TOTAL, answer)


def ex_3_3(answer) -> Verdict:
    """Exercise 3.3: the token table's share. answer(vocab_size, n_ctx, n_embd, n_layer) -> float from 0 to 1."""
    return judge(SHARE, answer)
