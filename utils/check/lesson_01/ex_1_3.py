"""Exercise 1.3: what tying saves. answer(vocab_size, n_embd, tied_total) -> (numbers, of tied, of untied)."""

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _saving(vocab_size, n_embd, tied_total, shares=lambda saved, total: (saved / total, saved / (total + saved))):
    saved = vocab_size * n_embd
    return saved, *shares(saved, tied_total)


_SHARES = {
    "the two shares are swapped: the larger, untied model has the smaller share.": lambda s, t: (s / (t + s), s / t),
    "the shares are in per cent; give fractions, 0.2 and not 20.": lambda s, t: (100 * s / t, 100 * s / (t + s)),
    "the untied model has a table more, so its total is larger, not smaller.": lambda s, t: (s / t, s / (t - s)),
    "a fraction stands on its head: what is saved is the part.": lambda s, t: (t / s, (t + s) / s),
    "`tied_total` is taken for the untied model; it counts the table once.": lambda s, t: (s / (t - s), s / t),
    "the untied model is not twice as large; it has one table more.": lambda s, t: (s / t, s / (2 * t)),
    "`//` drops what is behind the point; a share is made with `/`.": lambda s, t: (s // t, s // (t + s)),
}

EXERCISE = Exercise(
    target="An example: V = 10, d = 2 in a tied model of 100 numbers give (20, 0.2, 0.1667).",
    probe=Cases(
        lambda: [(10, 2, 100), (200, 64, 114_944), (50_257, 768, 124_439_808)],
        right=_saving,
        mistakes={text: lambda *a, shares=shares: _saving(*a, shares) for text, shares in _SHARES.items()} | {},
    ),
    meaning="one number, two honest percentages: a share means nothing until its base is named.",
    hints=(
        "What is saved is one whole table. How many numbers does it hold?",
        "`tied_total` is the model with one table. How large would it be with a second one?",
        "Each share is the same number of saved parameters, divided by another total.",
    ),
)
