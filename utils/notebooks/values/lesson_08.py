"""The numbers in lesson 08."""

import math

from utils.counting import training_bytes
from utils.experiments import scaling_law
from utils.experiments.facts import FactBook
from utils.notebooks.values.sizes import down, gpt3, total
from utils.notebooks.values.sources import given, published
from utils.pretrained import COURSE_MODEL
from utils.scaling import KNOWN_MODELS, compute_optimal, gpu_hours, matmul_flops, training_flops

BUDGET = 100_000 / 2 * 3_600 * 150e12  # FLOPs for the dollars of the open question, at 2 dollars an hour


def rule_of_two_n() -> tuple[float, float, float]:
    """What 2N counts too much, leaves out, and is too low by, as shares of the course model's forward pass."""
    parts = matmul_flops(COURSE_MODEL, COURSE_MODEL.n_ctx)
    work, rule = sum(parts.values()), 2 * total(COURSE_MODEL) * COURSE_MODEL.n_ctx
    compared = parts["attention scores"] + parts["weighted sum"]
    return (rule - (work - compared)) / work, compared / work, (work - rule) / work


def best_ratio() -> float:
    """Tokens for each parameter, by the constants of Hoffmann et al. 2022 (appendix D.3), for Chinchilla's budget.

    The best N is where the slopes of 406.4 / N^0.34 and 410.7 / D^0.28 balance, with D = C / 6N.
    """
    budget = math.prod(KNOWN_MODELS["Chinchilla"])
    best = (0.34 * 406.4 / (0.28 * 410.7) * budget**0.28) ** (1 / 0.62)
    return budget / best**2


VALUES = {
    "the rule, term by term": rule_of_two_n,
    "a GPU sustains, in TFLOP/s": given(150),
    "facts read by a model": lambda: scaling_law.STEPS * scaling_law.BATCH,
    "its learning rates": lambda: [scaling_law.learning_rate(width) for width in (4, 16, 32, 64)],
    "facts of the smaller book": lambda: len(FactBook(n_subjects=24, n_relations=24).facts),
    "Chinchilla and Gopher": published("Hoffmann et al. 2022, tables 1 and 3", 70e9, 1.4e12, 280e9, 0.3e12),
    "Llama-3-8B's tokens for a parameter": lambda: math.ceil(15e12 / KNOWN_MODELS["Llama-3-8B"][0] / 100) * 100,
    "bytes to train GPT-3": lambda: training_bytes(gpt3()),
    "more than so many years": lambda: down(gpu_hours(training_flops(gpt3(), 300e9), 28e12) / 24 / 365.25, 50),
    "a budget, and its hours": lambda: (100_000, 100_000 // 2),
    "what it buys at 150 TFLOP/s": lambda: (BUDGET, *compute_optimal(BUDGET)),
    "more than so many tokens": lambda: down(best_ratio(), 10),
    "root of two, twice twenty": lambda: (math.sqrt(2), 2 * 20),
}
