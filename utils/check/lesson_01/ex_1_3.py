"""Exercise 1.3: what tying saves. answer(vocab_size, n_embd, tied_total) -> (numbers, of tied, of untied)."""

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _saving(vocab_size, n_embd, tied_total):
    saved = vocab_size * n_embd
    return saved, saved / tied_total, saved / (tied_total + saved)


def _with(shares):
    """A mistake in the shares alone: (number saved, size of the tied model) -> the two of them."""
    return lambda vocab_size, n_embd, tied_total: (
        vocab_size * n_embd,
        *shares(vocab_size * n_embd, tied_total),
    )


EXERCISE = Exercise(
    target="An example: V = 10, d = 2 in a tied model of 100 numbers give (20, 0.2, 0.1667).",
    probe=Cases(
        lambda: [(10, 2, 100), (200, 64, 114_944), (50_257, 768, 124_439_808)],
        right=_saving,
        mistakes={
            "the two shares are swapped: the untied model is the larger one, so its share is the smaller.": (
                _with(lambda saved, total: (saved / (total + saved), saved / total))
            ),
            "the shares are in per cent; give fractions, 0.2 and not 20.": (
                _with(lambda saved, total: (100 * saved / total, 100 * saved / (total + saved)))
            ),
            "the untied model has one table more than the tied one, so its total is larger, not smaller.": (
                _with(lambda saved, total: (saved / total, saved / (total - saved)))
            ),
            "both shares are of the tied model; the second is of the model that keeps two tables.": (
                _with(lambda saved, total: (saved / total, saved / total))
            ),
            "both shares are of the untied model; the first is of the model as it is, with one table.": (
                _with(lambda saved, total: (saved / (total + saved), saved / (total + saved)))
            ),
            "the fractions stand on their heads: what is saved is the part, and the model the whole.": (
                _with(lambda saved, total: (total / saved, (total + saved) / saved))
            ),
            "these are the shares of all the rest; the shares of the saved numbers are wanted.": (
                _with(lambda saved, total: (1 - saved / total, 1 - saved / (total + saved)))
            ),
            "`tied_total` is taken for the untied model: it counts the table once, and not twice.": (
                _with(lambda saved, total: (saved / (total - saved), saved / total))
            ),
            "the untied model is not twice as large: it has one table more, and the rest once.": (
                _with(lambda saved, total: (saved / total, saved / (2 * total)))
            ),
            "two tables are counted as saved; one of the two stays.": lambda v, d, total: _saving(v, 2 * d, total),
        },
    ),
    meaning="one number, two honest percentages: a share means nothing until its base is named.",
    hints=(
        "What is saved is one whole table. How many numbers does it hold?",
        "`tied_total` is the model with one table. How large would it be with a second one?",
        "Each share is the same number of saved parameters, divided by another total.",
    ),
)
