"""Pictures: pure functions from data to a matplotlib Figure, and `show`, which puts one into a notebook."""

from utils.plots.cache import cache_beside_weights
from utils.plots.counting import parameter_bars
from utils.plots.generation import temperatures
from utils.plots.llama import heads, loss_by_change, turning_pairs
from utils.plots.model_map import assembly_line, model_map
from utils.plots.scaling import budget_map
from utils.plots.scaling_law import held_by_rank, scaling_law
from utils.plots.style import show
from utils.plots.token_table import drift, family_shares, gradient_parts, look_up, scores, table, token_probs
from utils.plots.training import compared, losses, losses_by_kind

__all__ = [
    "assembly_line",
    "budget_map",
    "cache_beside_weights",
    "compared",
    "drift",
    "family_shares",
    "gradient_parts",
    "heads",
    "held_by_rank",
    "look_up",
    "loss_by_change",
    "losses",
    "losses_by_kind",
    "model_map",
    "parameter_bars",
    "scaling_law",
    "scores",
    "show",
    "table",
    "temperatures",
    "token_probs",
    "turning_pairs",
]
