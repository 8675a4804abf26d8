"""The numbers that texts state without a cell that prints them: what each is, and how it is computed.

A callable is asked at test time, from the library, a closed form or a published source. It gives one number or
several: whole numbers for what a text writes out in full, others for what it rounds. Each holds in its own text only.
"""

import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from statistics import mean

import numpy as np
import torch

from utils.counting import GPT2_FAMILY, GPT3_FAMILY, kv_cache_bytes, ledger, training_bytes, tying_saving
from utils.environment import ROOT
from utils.experiments import scaling_law
from utils.experiments.facts import FactBook
from utils.inspection import attention_weights, lens
from utils.model import GPT
from utils.notebooks import counts
from utils.pretrained import COURSE_MODEL, KNOWN_CONFIGS, load_toy_gpt
from utils.sampling import generate
from utils.scaling import KNOWN_MODELS, compute_optimal, gpu_hours, matmul_flops, training_flops
from utils.start import install, smollm
from utils.text import names
from utils.toy_language import ToyLanguage
from utils.training import token_losses
from utils.widgets import AttentionExplorer, Lens, WidthExplorer
from utils.widgets.table_explorer import WIDTHS, random_rows

SMALL, XL = GPT2_FAMILY["GPT-2 small"], GPT2_FAMILY["GPT-2 XL"]
LARGEST = GPT3_FAMILY["GPT-3 175B"]
V, D = SMALL.vocab_size, SMALL.n_embd
TABLE = tying_saving(V, D)
CARD = 32_000 * 4_096  # the token table of lesson 07's open question, of a model with 7 billion parameters
BUDGET = 100_000 / 2 * 3_600 * 150e12  # FLOPs for the dollars of lesson 08's open question, at 2 dollars an hour
BENCH = "tests/benchmarks/generation.py, 2026-11-30"


def given(*numbers) -> Callable:
    """What a task or a question chooses freely: nothing to compute."""
    return lambda: numbers


def published(source: str, *numbers) -> Callable:
    """What a source says, and where; `source` is for the reader."""
    return lambda: numbers


def project() -> dict:
    """What pyproject.toml says of the course."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def total(config) -> int:
    """All unique parameters."""
    return sum(ledger(config).values())


@cache
def gpt3() -> int:
    """The parameters of the largest GPT-3, from GPT-2's formula."""
    return total(replace(SMALL, n_ctx=LARGEST["n_ctx"], **{k: LARGEST[k] for k in ("n_layer", "n_embd", "n_head")}))


def saved(config) -> float:
    """The share of the untied model that tying saves."""
    return tying_saving(config.vocab_size, config.n_embd) / total(replace(config, tied=False))


# --- lesson 01


def sure_from() -> int:
    """The first width from which on each of the panel's ten random rows matches itself best."""
    unsure = [width for width in WIDTHS if ((rows := random_rows(width)) @ rows.T).argmax(1).tolist() != [*range(10)]]
    return WIDTHS[WIDTHS.index(max(unsure)) + 1]


def overflow(dtype) -> int:
    """The first whole number whose exponential a float of this type cannot hold."""
    return next(n for n in range(1_000) if math.exp(n) > float(np.finfo(dtype).max))


# --- lesson 02


@cache
@torch.no_grad()
def loud_loss() -> int:
    """The first loss of GPT-2's shape with its table drawn from N(0, 1), every token a target; to the nearest 5.

    One block stands for twelve: the others change it by less than a half.
    """
    torch.manual_seed(0)
    model = GPT(replace(SMALL, n_layer=1))
    model.wte.reset_parameters()
    logits = model(torch.randint(V, (1, 512)))
    return 5 * round((logits.logsumexp(-1) - logits.mean(-1)).mean().item() / 5)


def plain_loss() -> int:
    """The mean first loss of the course model with all of its parts as PyTorch draws them."""
    rows = torch.randint(COURSE_MODEL.vocab_size, (64, 33), generator=torch.Generator().manual_seed(5))
    losses = []
    for seed in range(8):
        torch.manual_seed(seed)
        model = GPT(COURSE_MODEL)
        for name, part in model.named_modules():
            if name != "lm_head" and hasattr(part, "reset_parameters"):  # its weight is the token table's
                part.reset_parameters()
        losses.append(token_losses(model, rows).mean().item())
    return round(mean(losses))


def shown_words(panel) -> tuple[list[int], list[str]]:
    """The ids and words of the story that a panel of lesson 02 opens with, the start mark first."""
    language = ToyLanguage()
    ids = [language.start, *language.encode(panel.prompt.value)][: COURSE_MODEL.n_ctx]
    return ids, [language.vocab[token] for token in ids]


def copied_from() -> tuple[int, float]:
    """Where *and* stands before the second *Jack*, and what head 0 of layer 0 gives the first one from there."""
    ids, words = shown_words(AttentionExplorer())
    first, second = (place for place, word in enumerate(words) if word == "Jack")
    return second - 1, attention_weights(load_toy_gpt(), torch.tensor([ids]))[0, 0, 0, second - 1, first].item()


def free_choice() -> float:
    """How probable the model finds its favourite at the first *our* of the lens."""
    ids, words = shown_words(Lens())
    return lens(load_toy_gpt(), torch.tensor([ids]))[-1, 0, words.index("our")].softmax(-1).max().item()


# --- lessons 03 to 05


def crossing() -> list[int]:
    """The panel's neighbouring widths between which 12 blocks begin to weigh more than GPT-2's table."""
    widths = [width for _, width in WidthExplorer().width.options]
    heavy = [12 * (12 * d * d + 13 * d) > V * d for d in widths].index(True)
    return widths[heavy - 1 : heavy + 1]


def right_stories() -> float:
    """The share of 500 samples at temperature 1 without any slip, with the lesson's seed."""
    language, seed = ToyLanguage(), torch.Generator().manual_seed(0)
    rows = generate(load_toy_gpt(), torch.full((500, 1), language.start), 32, generator=seed)
    return mean(not language.errors(row) for row in rows)


# --- lessons 06 to 08


def full_cache() -> int:
    """Bytes of one full conversation with GPT-3 in 16 bits."""
    return kv_cache_bytes(LARGEST["n_layer"], LARGEST["n_embd"], LARGEST["n_ctx"], bytes_per_number=2)


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


def down(value: float, unit: int) -> int:
    """For *more than*: the next lower multiple of a unit."""
    return math.floor(value / unit) * unit


VALUES: dict[str, dict[str, Callable]] = {
    "everywhere": {
        "nothing and one": given(0, 1),
        "GPT-2 small": lambda: (V, SMALL.n_ctx, D, TABLE, total(SMALL)),
        "the course model's parameters and its table": lambda: (total(COURSE_MODEL), tying_saving(200, 64)),
    },
    "00": {},
    "01": {
        "zeros of a one-hot row": lambda: V - 1,
        "width from which a row is sure of itself": sure_from,
        "exponentials that overflow": lambda: (overflow(np.float32), overflow(np.float16)),
        "a flat distribution over 50,000": lambda: 1 / 50_000,
        "two points of score as a ratio": lambda: math.exp(2),
        "blocks of GPT-2 XL and small": lambda: (XL.n_layer, SMALL.n_layer),
        "a shift of all scores": given(1_000),
    },
    "02": {
        "parameters of attention": lambda: sum(p.numel() for p in GPT(COURSE_MODEL).h[0].attn.parameters()),
        "first losses": lambda: (plain_loss(), loud_loss(), math.log(V) + D * 0.02**2 / 2),
        "words that BERT hides": published("Devlin et al. 2019, section 3.1", 0.15),
        "blocks of GPT-3, a head of 768 / 8": lambda: (LARGEST["n_layer"], D // 8),
        "a head that copies": copied_from,
        "a bound on its attention, which test_inspection.py measures": given(0.9),
        "a free choice in the lens": free_choice,
    },
    "03": {
        "the family's sizes": lambda: [n for c in GPT2_FAMILY.values() for n in (c.n_layer, c.n_embd, c.n_head)],
        "the family's first counts": published("Radford et al. 2019, table 2", 117e6, 345e6, 762e6, 1_542e6),
        "GPT-3, in billions": lambda: round(gpt3() / 1e9),
        "heads times width in rows 1.3B and 13B": published("Brown et al. 2020, table 2.1", 24 * 128, 40 * 128),
        "width of as much table as blocks": lambda: round(V / (12 * 12)),
        "between which widths the panel shows it": crossing,
        "bytes of GPT-2 small's file": lambda: 4 * total(SMALL),
        "with twelve masks of the context's square": lambda: 4 * (total(SMALL) + 12 * SMALL.n_ctx**2),
        "bytes to train a parameter, and GPT-3": lambda: (training_bytes(1), training_bytes(gpt3())),
        "a billion parameters, to use and to train": lambda: [1e9 * size for size in (4, 8, training_bytes(1))],
        "memory of graphics cards": published("NVIDIA data sheets: V100 16 GB (2017), A100 80 GB (2020)", 16e9, 80e9),
        "the tolerance of exercise 3.6": given(0.01),
    },
    "04": {
        "a tiny temperature, which test_claims.py tries": given(Fraction(1, 10**40)),
        "an even chance": lambda: 1 / COURSE_MODEL.vocab_size,
        "stories without a slip": right_stories,
        "letters of a long name": lambda: len("Alexandrinabellamarie"),
        "the first of two by a score 2 higher, and sharpened": lambda: [1 / (1 + math.exp(-x)) for x in (2, 2 / 0.5)],
    },
    "05": {
        "spread of a fresh table": lambda: GPT(COURSE_MODEL).wte.weight.std().item(),
        "what tying saves": lambda: (saved(COURSE_MODEL), saved(SMALL)),
        "which of twenty stories it is": lambda: math.log(20) / (ToyLanguage().stories(1, seed=0)[0].shape[1] - 1),
        "first names": lambda: len(names().train) + len(names().valid),
        "a temperature, a friend's loss": given(0.8, 0.4),
        "two probabilities": given(0.5, 0.125),
        "their mean, and their losses": lambda: ((0.5 + 0.125) / 2, math.log(4), math.log(2) + math.log(8)),
        "first losses of GPT-2's shape": lambda: (loud_loss(), math.log(V)),
    },
    "06": {
        "bits of a half": lambda: torch.finfo(torch.bfloat16).bits,
        "a text of 1,000 tokens and one more": lambda: 1_000 + 1,
        "products for a token: blocks, scores": lambda: (12 * SMALL.n_layer * D**2, TABLE),
        "scores that are not needed": lambda: TABLE * (SMALL.n_ctx - 1),
        "conversations as large as the weights": lambda: math.ceil(2 * gpt3() / full_cache()),
        "the eleventh position": lambda: range(11)[-1],
    },
    "07": {
        "large vocabularies": lambda: down(KNOWN_CONFIGS["Llama-3-8B"]["vocab_size"], 100_000),
        "Llama-3's MLP, in widths": lambda: KNOWN_CONFIGS["Llama-3-8B"]["intermediate_size"] / 4_096,
        "the card's vocabulary, a width in a question": given(32_000, 2_048),
        "its table, and less than this share for two": lambda: (CARD, math.ceil(200 * CARD / 7e9) / 100),
        "weights in 16 bits, in 4, in training": lambda: [7e9 * size for size in (2, 0.5, training_bytes(1))],
        "a large model's table in a question": given(0.03),
    },
    "08": {
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
        "what tying saves": lambda: saved(SMALL),
        "more than so many tokens": lambda: down(best_ratio(), 10),
        "root of two, twice twenty": lambda: (math.sqrt(2), 2 * 20),
    },
    "README": {
        "exercises": lambda: sum(map(counts.exercises, counts.lessons())),
        "oldest Python": lambda: tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "requires-python"
        ][2:],
        "newest Python": published("PyPI: the wheels of torch 2.13.0", 3.14),
        "space on the disk": lambda: (install.SPACE, install.GPU_SPACE, round(smollm.SIZE, -6)),
        "the second shape": given(65, 128, 4),
        "tokens a second": published(BENCH, 4_230, 4_548, 5_911, 1_830, 849, 876, 3_299, 1_258, 17.9, 18.1, 32.8, 32.9),
        "ratios of the last two": lambda: (5_911 / 1_830, 3_299 / 1_258, 32.8 / 32.9),
        "of the limit that memory sets": published(BENCH, 34, 0.95, 0.99),
    },
}


def of(text: str, without: str | None = None) -> frozenset[Fraction]:
    """The values that a text may state: those of its own, such as "03" or "README", and those of all; not one entry."""
    entries = [(table, what) for table in ("everywhere", text) for what in VALUES.get(table, {}) if what != without]
    return frozenset().union(*(_entry(*entry) for entry in entries))


@cache
def _entry(table: str, what: str) -> frozenset[Fraction]:
    found = VALUES[table][what]()
    return frozenset(Fraction(str(value)) for value in (found if isinstance(found, list | tuple) else [found]))
