"""A scaling law at course size: how the gap to a known floor falls with the size of the model, at the same tokens.

Models of several widths read one book of facts. A larger model holds more of the facts, the frequent ones first.
"""

import json
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from utils import validate
from utils.counting import conventions
from utils.experiments.facts import FactBook
from utils.model import GPT, GPTConfig
from utils.pretrained import DATA
from utils.training import token_losses, train

MEASUREMENTS = DATA / "scaling.json"
WIDTHS, SEEDS = (4, 8, 16, 32, 64), (0, 1, 2)
STEPS, BATCH, ROWS = 800, 512, 400_000
BOOK = FactBook()


def config(width, book=BOOK) -> GPTConfig:
    """The model of one width: one layer and one head, over the book's tokens, for rows of two inputs."""
    width = validate.whole_number("width", width)
    return GPTConfig(vocab_size=len(book.vocab), n_ctx=2, n_embd=width, n_layer=1, n_head=1)


def learning_rate(width) -> float:
    """One rule for all widths, from a sweep: 0.02, and from width 16 on 0.08 / sqrt(width)."""
    return min(0.02, 0.08 / width**0.5)


def trained(width, seed=0, steps=STEPS, book=BOOK, **options) -> GPT:
    """A GPT of this width that has read BATCH facts a step. seed: its first weights, and the facts that it reads.

    options: watch and progress, as for utils.training.train. Raises TypeError or ValueError for sizes that are not
    whole numbers in range.
    """
    rows = book.rows(ROWS, seed=1 + validate.whole_number("seed", seed, low=0))
    with torch.random.fork_rng(devices=[]):  # leave the caller's random numbers alone
        torch.manual_seed(seed)
        model = GPT(config(width, book))
    with _one_thread():
        train(model, rows, steps, BATCH, learning_rate(width), seed, **options)
    return model


@contextmanager
def _one_thread():
    """Train on one thread: on a busy machine, two took twenty times as long for models this small."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def gap(model, book=BOOK) -> float:
    """How far a model's loss is above the book's floor, in nats per predicted token.

    Exact: every fact counts with its own probability, so nothing is drawn.
    """
    losses = token_losses(model, book.facts, batch_size=4096).double()  # (F, 2)
    return (book.probs @ losses).mean().item() - book.entropy_floor()


def facts_held(model, book=BOOK) -> torch.Tensor:
    """Which facts a model holds -> bool (F,): it gives the right object more than half of the probability."""
    return token_losses(model, book.facts, batch_size=4096)[:, 1] < np.log(2)


def measure(width, seed=0, steps=STEPS, book=BOOK, **options) -> float:
    """Train one model and measure it -> its gap, in nats per predicted token. Arguments: those of `trained`."""
    return gap(trained(width, seed, steps, book, **options), book)


@dataclass(frozen=True)
class Measurement:
    """What was measured at one width: for each of SEEDS, the gap in nats per token and the number of facts held."""

    width: int
    gaps: tuple[float, ...]
    held: tuple[int, ...]

    @property
    def gap(self) -> float:
        """The mean gap."""
        return float(np.mean(self.gaps))

    @property
    def spread(self) -> float:
        """The standard deviation of a gap from seed to seed."""
        return float(np.std(self.gaps, ddof=1))

    def n_params(self, convention="all unique parameters") -> int:
        """The model's size under a convention of utils.counting.conventions; ValueError for another name."""
        counts = conventions(config(self.width))
        validate.one_of("convention", convention, counts)
        return counts[convention]


def shipped_measurements() -> list[Measurement]:
    """The measurements in utils/data/scaling.json, smallest width first; utils.experiments.recipes makes them again."""
    found = json.loads(MEASUREMENTS.read_text(encoding="utf-8"))["measurements"]
    return [Measurement(point["width"], tuple(point["gaps"]), tuple(point["held"])) for point in found]


@dataclass(frozen=True)
class PowerLaw:
    """gap = exp(intercept) * N ** slope. residuals: ln(gap) minus the line, for each point; 0.05 is about 5 %."""

    slope: float
    intercept: float
    residuals: tuple[float, ...]

    def __call__(self, n_params):
        """The gap that the law gives for a size, or for an array of sizes."""
        return np.exp(self.intercept) * np.asarray(n_params, dtype=float) ** self.slope


def fit_power_law(n_params, gaps) -> PowerLaw:
    """A straight line through ln(gap) against ln(N), by ordinary least squares.

    n_params, gaps: as many numbers above 0 each, of at least 3 different sizes. Raises ValueError otherwise.
    """
    sizes, heights = np.asarray(n_params, dtype=float), np.asarray(gaps, dtype=float)
    _require_points(sizes, heights)
    x, y = np.log(sizes), np.log(heights)
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    intercept = y.mean() - slope * x.mean()
    return PowerLaw(float(slope), float(intercept), tuple((y - slope * x - intercept).tolist()))


def _require_points(sizes, heights):
    if sizes.ndim != 1 or sizes.shape != heights.shape or len(np.unique(sizes)) < 3:
        raise ValueError(
            f"n_params has shape {sizes.shape} and gaps {heights.shape}; give two lists of one length, with at least "
            "3 different sizes, since any 2 points lie on a line."
        )
    for name, values in (("n_params", sizes), ("gaps", heights)):
        wrong = values[~((values > 0) & (values < np.inf))]
        if len(wrong):
            raise ValueError(f"{name} holds {wrong[0]:g}, which has no logarithm; give numbers above 0.")
