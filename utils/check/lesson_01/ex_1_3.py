"""Exercise 1.3: what tying saves. answer(vocab_size, n_embd, tied_total) -> (numbers, of tied, of untied)."""

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _saving(vocab_size, n_embd, tied_total, untied=lambda total, saved: total + saved):
    saved = vocab_size * n_embd
    return saved, saved / tied_total, saved / untied(tied_total, saved)


EXERCISE = Exercise(
    target="An example: V = 10, d = 2 in a tied model of 100 numbers give (20, 0.2, 0.1667).",
    probe=Cases(
        lambda: [(10, 2, 100), (200, 64, 114_944), (50_257, 768, 124_439_808)],
        right=_saving,
        mistakes={
            "the untied model is not twice as large; it has one table more.": (
                lambda *sizes: _saving(*sizes, lambda total, saved: 2 * total)
            )
        },
    ),
    meaning="one number, two honest percentages: a share means nothing until its base is named.",
    hints=(
        "What is saved is one whole table. How many numbers does it hold?",
        "`tied_total` is the model with one table. How large would it be with a second one?",
        "Each share is the same number of saved parameters, divided by another total.",
    ),
)
