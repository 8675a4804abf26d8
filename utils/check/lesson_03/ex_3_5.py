"""Exercise 3.5: bytes while training with AdamW. answer(n_params, weight_bytes) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms

_TERMS = Terms(lambda n, w: {"the weights": n * w, "the gradients": n * w, "a moment of AdamW": (2, 4 * n)})

EXERCISE = Exercise(
    target="An example: 3 parameters of 4 bytes take 48 bytes while they are trained.",
    probe=Cases(
        lambda: [(10, 2), (10, 4), (114_944, 4), (7, 1), (124_439_808, 2), (1_557_611_201, 4)],
        right=_TERMS.count,
        mistakes={
            "the moments are counted in weight_bytes; they have 4 bytes, whatever the weights have.": (
                lambda n, w: n * 4 * w
            ),
            "the gradients are counted in 4 bytes; they have weight_bytes, as the weights.": lambda n, w: n * (w + 12),
        },
        terms=_TERMS,
    ),
    meaning="training takes four times the room of float32 weights, before a single activation is stored.",
    hints=(
        "Four numbers belong to each parameter while it is trained: itself, its gradient, and two moments.",
        "Two of the four have weight_bytes; the moments have 4 bytes, also beside weights in 2.",
        "Add the bytes of one parameter, then multiply by their number.",
    ),
)
