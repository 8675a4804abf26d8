"""Pictures: pure functions from data to a matplotlib Figure, and `show`, which puts one into a notebook."""

from utils.plots.style import show
from utils.plots.token_table import (
    drift,
    family_shares,
    gradient_parts,
    look_up,
    scores,
    table,
    token_probs,
)
from utils.plots.training import compared, losses, losses_by_kind

__all__ = [
    "compared",
    "drift",
    "family_shares",
    "gradient_parts",
    "look_up",
    "losses",
    "losses_by_kind",
    "scores",
    "show",
    "table",
    "token_probs",
]
