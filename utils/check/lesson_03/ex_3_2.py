"""Exercise 3.2: the parameters of a tied GPT-2. answer(vocab_size, n_ctx, n_embd, n_layer) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms
from utils.counting import gpt_params

LARGE = 40_001, 1_027, 770, 1  # a count that float32 rounds, of a model that can still be made


def cases():
    """Sizes V, n, d, L from tiny to GPT-2 small, and one beside it."""
    return [(10, 4, 2, 1), (7, 5, 4, 3), (8, 4, 6, 2), (200, 32, 64, 2), (50_257, 1_024, 768, 12), LARGE]


def parts(V, n, d, L):
    """What a tied GPT-2 holds, by name."""
    return {
        "the token table": V * d,
        "the position table": n * d,
        "the blocks' matrices": (L, 12 * d * d),
        "the blocks' biases": (L, 9 * d),
        "the layer norms in the blocks": (L, 4 * d),
        "the final layer norm": 2 * d,
    }


def _with(more):
    """The count and more, which is made of V, n, d and L."""
    return lambda *sizes: gpt_params(*sizes) + more(*sizes)


EXERCISE = Exercise(
    target="An example: V = 10, n = 4, d = 2 and one layer give 106.",
    probe=Cases(
        cases,
        right=gpt_params,
        mistakes={
            "tables and final layer norm are counted once for each block; only the blocks repeat.": (
                lambda V, n, d, L: L * gpt_params(V, n, d, 1)
            )
        },
        terms=Terms(parts),
    ),
    meaning="four numbers on a model card give the exact size of any GPT-2, and heads are not among them.",
    hints=(
        "There are four parts: two tables, the blocks, one last layer norm.",
        "Exercise 3.1 counts one block. How often does each of the four parts occur?",
        "The head is tied: it reads the token table and brings nothing of its own.",
    ),
)
