"""The scaling law: the fit against closed forms, the gap of models that hold known facts, the shipped measurements."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

from utils.counting import gpt_params, unique_params
from utils.experiments import scaling_law
from utils.experiments.facts import FactBook
from utils.experiments.scaling_law import (
    SEEDS,
    WIDTHS,
    config,
    facts_held,
    fit_power_law,
    gap,
    learning_rate,
    measure,
    shipped_measurements,
    trained,
)  # fmt: skip
from utils.model import GPT, GPTConfig

SIZES = [700, 2_000, 5_000, 17_000, 60_000]


# ---- the fit


@pytest.mark.parametrize("slope", [-0.7, -0.076, 0.5])
def test_an_exact_power_law_is_found(slope):
    law = fit_power_law(SIZES, [3.5 * size**slope for size in SIZES])
    assert (law.slope, law.intercept) == pytest.approx((slope, math.log(3.5)))
    assert law.residuals == pytest.approx([0] * 5, abs=1e-9)
    assert law(1e6) == pytest.approx(3.5 * 1e6**slope)
    assert law(np.array([1, 10])) == pytest.approx([3.5, 3.5 * 10**slope])


def test_the_fit_is_that_of_least_squares():
    gaps = np.exp(np.random.default_rng(0).normal(size=5))
    law = fit_power_law(np.array(SIZES), gaps)
    assert (law.slope, law.intercept) == pytest.approx(tuple(np.polyfit(np.log(SIZES), np.log(gaps), 1)))
    assert law.residuals == pytest.approx(np.log(gaps) - np.log(law(SIZES)))


@pytest.mark.parametrize(
    ("sizes", "gaps", "words"),
    [
        ([1, 2], [1, 2], "at least 3"),
        ([5, 5, 5, 9], [1, 2, 3, 4], "3 different sizes"),
        ([1, 2, 3], [1, 2], "(3,) and gaps (2,)"),
        ([[1, 2, 3]], [[1, 2, 3]], "(1, 3)"),
        ([1, 2, 3], [1, 0, 2], "gaps holds 0"),
        ([1, -2, 3], [1, 1, 2], "n_params holds -2"),
        ([1, 2, 3], [1, math.nan, 2], "gaps holds nan"),
        ([1, 2, math.inf], [1, 1, 2], "n_params holds inf"),
    ],
)
def test_points_without_a_line_are_refused(refused, sizes, gaps, words):
    with refused(ValueError, words):
        fit_power_law(sizes, gaps)


# ---- the gap


class Told(nn.Module):
    """A model that gives the relations their true probabilities, and each object the logits that it was told."""

    def __init__(self, book, object_logits):
        super().__init__()
        self.config = GPTConfig(len(book.vocab), n_ctx=2, n_embd=1, n_layer=1, n_head=1)
        relations = (book.probs[:, None] * nn.functional.one_hot(book.facts[:, 1], len(book.vocab))).sum(0)
        self.relations, self.table = relations.log(), torch.zeros(3, 7, 10).double()
        self.table[book.facts[:, 0], book.facts[:, 1]] = object_logits

    def forward(self, ids):
        objects = self.table[ids[:, 0], ids[:, 1]]  # (B, V)
        return torch.stack([self.relations.expand_as(objects), objects], dim=1)  # (B, 2, V)


@pytest.fixture
def small():
    return FactBook(n_subjects=3, n_relations=4, n_objects=3, seed=2)


@pytest.mark.parametrize("n_known", [0, 5, 12])
def test_the_gap_of_a_model_that_holds_some_facts(small, n_known):
    """It is certain of those, and knows of the others only that some object follows: ln 3 nats each."""
    logits = torch.full((12, 10), -math.inf).double()
    logits[:, 7:] = 0
    logits[range(n_known), small.facts[:n_known, 2]] = 1e3
    told = Told(small, logits)
    assert gap(told, small) == pytest.approx(small.gap_if_held(n_known), abs=1e-9)
    assert facts_held(told, small).tolist() == [number < n_known for number in range(12)]


def test_held_is_more_than_half_of_the_probability(small):
    logits = torch.full((12, 10), -math.inf).double()
    logits[range(12), small.facts[:, 2]] = torch.tensor([1.01, 0.99] * 6).double().log()
    logits[:, 0] = 0
    assert facts_held(Told(small, logits), small).tolist() == [True, False] * 6


# ---- the models and what was measured


@pytest.mark.parametrize("width", WIDTHS)
def test_the_sizes_are_those_of_the_models(width):
    made, (point,) = GPT(config(width)), [point for point in shipped_measurements() if point.width == width]
    assert point.n_params() == unique_params(made) == gpt_params(128, 2, width, 1)
    body = unique_params(made.h) + unique_params(made.ln_f)
    assert point.n_params("without both tables") == body == point.n_params() - 130 * width


def test_the_shipped_file_is_of_this_recipe():
    written = json.loads(scaling_law.MEASUREMENTS.read_text(encoding="utf-8"))
    recipe, points = written["recipe"], written["measurements"]
    assert recipe == {"steps": scaling_law.STEPS, "batch_size": scaling_law.BATCH, "seeds": list(SEEDS)}
    assert [point["width"] for point in points] == list(WIDTHS)
    assert [point["lr"] for point in points] == [round(learning_rate(width), 5) for width in WIDTHS]
    assert [round(learning_rate(width), 4) for width in WIDTHS] == [0.02, 0.02, 0.02, 0.0141, 0.01]
    assert {len(point[name]) for point in points for name in ("gaps", "held")} == {len(SEEDS)}


def test_mean_and_spread_of_a_measurement():
    point = scaling_law.Measurement(8, (1.0, 2.0, 6.0), (5, 5, 5))
    assert point.gap == 3
    assert point.spread == pytest.approx(math.sqrt((4 + 1 + 9) / 2))


def test_an_unknown_convention_is_refused(refused):
    with refused(ValueError, "'all'", "'without both tables'"):
        shipped_measurements()[0].n_params("all")


def test_the_shipped_points_lie_near_a_line_and_bend_more_without_the_tables():
    points = shipped_measurements()
    assert points[-1].n_params() > 75 * points[0].n_params(), "the sizes span almost two decades"
    law, body = (
        fit_power_law([point.n_params(convention) for point in points], [point.gap for point in points])
        for convention in ("all unique parameters", "without both tables")
    )
    assert (round(law.slope, 2), round(body.slope, 2)) == (-0.72, -0.58)
    assert max(map(abs, law.residuals)) < 0.11 < 0.16 < max(map(abs, body.residuals)) < 0.17
    assert np.sign(law.residuals).tolist() == np.sign(body.residuals).tolist() == [-1, -1, 1, 1, -1], "a bend"


def test_the_facts_held_say_what_the_gap_is():
    """Without any fit: what the most frequent facts leave, for as many of them as the models hold on average."""
    for point in shipped_measurements():
        assert point.gap == pytest.approx(scaling_law.BOOK.gap_if_held(round(np.mean(point.held))), rel=0.12)


def test_trained_again_a_small_model_has_the_same_gap():
    """Another machine's rounding works like another seed, so the bound is four spreads or more."""
    point, bound = shipped_measurements()[1], 0.15
    assert 4 * point.spread < bound * point.gap
    found = measure(point.width, progress=False)
    assert found == pytest.approx(point.gap, rel=bound)


def test_training_leaves_the_callers_random_numbers_and_threads_alone():
    threads, seen = torch.get_num_threads(), []
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    torch.set_num_threads(2)
    try:
        model = trained(4, seed=1, steps=2, progress=False, watch=lambda _: seen.append(torch.get_num_threads()))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert seen == [1, 1]
    assert torch.equal(torch.rand(3), wanted)
    assert measure(4, seed=1, steps=2, progress=False) == gap(model) != measure(4, seed=2, steps=2, progress=False)


def test_a_book_that_a_model_holds_whole_leaves_no_gap():
    """The bend of a book that runs out: 36 facts are no load for width 16."""
    book = FactBook(n_subjects=6, n_relations=6, n_objects=4)
    model = trained(16, steps=300, book=book, progress=False)
    assert model.config.vocab_size == 16
    assert facts_held(model, book).all()
    assert 0 <= gap(model, book) < 0.01


@pytest.mark.parametrize(
    ("sizes", "kind", "words"),
    [
        ({"width": 0}, ValueError, "width=0"),
        ({"width": "4"}, TypeError, "width='4'"),
        ({"width": 4, "seed": -1}, ValueError, "seed=-1"),
        ({"width": 4, "steps": 0}, ValueError, "steps=0"),
    ],
)
def test_bad_sizes(refused, sizes, kind, words):
    with refused(kind, words):
        measure(**sizes)
