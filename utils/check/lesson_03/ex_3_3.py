"""Exercise 3.3: the token table's share. answer(vocab_size, n_ctx, n_embd, n_layer) -> float from 0 to 1."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_03.ex_3_2 import cases, parts
from utils.check.terms import Terms
from utils.counting import gpt_params

EXERCISE = Exercise(
    target="An example: V = 10, n = 4, d = 2 and one layer give 0.1887.",
    probe=Cases(
        cases,
        right=lambda V, n, d, L: V * d / gpt_params(V, n, d, L),
        terms=Terms(parts, combine=lambda terms: terms["the token table"] / sum(terms.values())),
    ),
    meaning="in a small model with a large vocabulary the table weighs most, and width and depth make it light.",
    hints=(
        "A share is a part divided by the whole. Here the part is the token table.",
        "The part has V rows of d numbers; the whole is exercise 3.2.",
        "Divide with `/`, and leave all digits: 0.1887 is only how we print it.",
    ),
)
