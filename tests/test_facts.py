"""The book of facts: its frequencies, its rows, and its entropy from three sides."""

import math
from collections import Counter

import pytest
import torch

from utils.experiments.facts import FactBook, zipf


@pytest.fixture(scope="module")
def book():
    return FactBook()


def by_hand(n_subjects, n_relations):
    """(subject, relation) -> probability, from the harmonic numbers."""
    subjects, relations = (sum(1 / rank for rank in range(1, n + 1)) for n in (n_subjects, n_relations))
    pairs = [(s, r) for s in range(n_subjects) for r in range(n_relations)]
    return {(s, r): 1 / (s + 1) / subjects / (r + 1) / relations for s, r in pairs}


def test_every_pair_has_one_fact_and_the_likeliest_stands_first(book):
    assert book.facts.shape == (2304, 3)
    assert book.facts.dtype == torch.int64
    assert book.probs.dtype == torch.float64
    subjects, relations, objects = (book.facts - torch.tensor([0, 48, 96])).T.tolist()
    wanted = by_hand(48, 48)
    pairs = list(zip(subjects, relations, strict=True))
    assert set(pairs) == set(wanted)
    assert book.probs.tolist() == pytest.approx([wanted[pair] for pair in pairs])
    assert (book.probs.diff() <= 0).all()
    assert book.probs.sum().item() == pytest.approx(1)
    assert set(objects) == set(range(32))
    assert [book.vocab[token] for token in (0, 47, 48, 95, 96, 127)] == [
        "subject 1", "subject 48", "relation 1", "relation 48", "object 1", "object 32",
    ]  # fmt: skip
    assert len(book.vocab) == 128


def test_objects_follow_no_pattern(book):
    """Nothing but memory tells them: neither subject nor relation says more about the object than chance does."""
    objects = torch.zeros(48, 48, dtype=torch.int64)
    objects[book.facts[:, 0], book.facts[:, 1] - 48] = book.facts[:, 2] - 96
    repeats = [(table[1:] == table[:-1]).double().mean().item() for table in (objects, objects.T)]
    assert repeats == pytest.approx([1 / 32, 1 / 32], abs=0.015)  # 4 standard errors of 2256 comparisons
    counts = torch.bincount(objects.flatten(), minlength=32)
    assert ((counts - 72) ** 2 / 72).sum() < 65  # chi-squared with 31 degrees of freedom: p about 0.0004


def test_rows_are_facts_as_often_as_stated(book):
    rows = book.rows(200_000, seed=3)
    assert rows.shape == (200_000, 3)
    assert rows.dtype == torch.int64
    facts = {tuple(fact): p for fact, p in zip(book.facts.tolist(), book.probs.tolist(), strict=True)}
    counts = Counter(map(tuple, rows.tolist()))
    assert set(counts) <= set(facts)
    for fact, p in facts.items():
        assert counts[fact] / 200_000 == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 200_000))


def test_same_seed_same_rows_and_more_only_add(book):
    rows = book.rows(100, seed=3)
    assert torch.equal(FactBook().rows(1000, seed=3)[:100], rows)
    assert not torch.equal(book.rows(100, seed=4), rows)
    assert not torch.equal(FactBook(seed=1).facts, book.facts)
    assert torch.equal(FactBook(seed=1).probs, book.probs)


def test_the_first_rows_are_written_down(book):
    """The same on every platform: these very tokens."""
    assert book.rows(3, seed=1).tolist() == [[4, 86, 100], [0, 86, 111], [1, 51, 108]]
    assert book.facts[:3].tolist() == [[0, 48, 123], [0, 49, 116], [1, 48, 104]]


@pytest.mark.parametrize("sizes", [(3, 4, 2), (5, 2, 7), (1, 3, 1)])
def test_the_floor_by_enumeration(sizes):
    """-log p of both targets given what stands before them, summed over every row that can be."""
    small, joint = FactBook(*sizes, seed=2), by_hand(*sizes[:2])
    subjects = Counter()
    for (subject, _), p in joint.items():
        subjects[subject] += p
    relation = -sum(p * math.log(p / subjects[subject]) for (subject, _), p in joint.items())
    known = 0  # -log 1: each pair has one object
    assert len({(fact[0], fact[1]) for fact in small.facts.tolist()}) == len(small.facts) == len(joint)
    assert small.entropy_floor() == pytest.approx((relation + known) / 2)


def test_the_gap_of_a_model_that_holds_the_likeliest_facts():
    """By hand, for probabilities 4/9, 2/9, 2/9, 1/9: what is missing costs ln 5 on every second target."""
    small = FactBook(2, 2, 5)
    wanted = [share / 9 * math.log(5) / 2 for share in (9, 5, 3, 1, 0)]
    assert [small.gap_if_held(k) for k in range(5)] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: FactBook(n_subjects=0), ValueError, "n_subjects=0"),
        (lambda: FactBook(n_relations=2.0), TypeError, "n_relations=2.0"),
        (lambda: FactBook(n_objects=0), ValueError, "n_objects=0"),
        (lambda: FactBook(seed=-1), ValueError, "seed=-1"),
        (lambda: FactBook().rows(0, seed=1), ValueError, "n=0"),
        (lambda: FactBook().rows(5, seed="a"), TypeError, "seed='a'"),
        (lambda: zipf(-3), ValueError, "n=-3"),
        (lambda: FactBook(2, 2, 5).gap_if_held(5), ValueError, "k=5 is more than the book holds; give a"),
        (lambda: FactBook(2, 2, 5).gap_if_held(-1), ValueError, "k=-1"),
    ],
)
def test_bad_input(refused, call, kind, words):
    with refused(kind, words, "whole number from"):
        call()
