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

__all__ = ["drift", "family_shares", "gradient_parts", "look_up", "scores", "show", "table", "token_probs"]
