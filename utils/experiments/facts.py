"""A book of facts whose entropy is known and whose facts are asked for with unequal frequency.

A row is one fact: a subject, a relation, an object. Subject and relation are drawn independently, each by Zipf's law;
the object of each pair is fixed, and only memory can tell it. So the one thing that costs a perfect model anything is
the draw of the relation, and whatever a model loses beyond that, it loses on facts that it does not hold.
"""

import math

import numpy as np
import torch

from utils import validate


def zipf(n: int) -> np.ndarray:
    """Zipf's law: the probability of each of n ranks is in proportion to 1 / rank -> (n,), float64, sums to 1.

    Raises TypeError or ValueError unless n is a whole number from 1.
    """
    weights = 1 / np.arange(1, validate.whole_number("n", n) + 1)
    return weights / weights.sum()


class FactBook:
    """One fact for each pair of a subject and a relation; the likeliest fact stands first.

    `facts` (F, 3), int64: the ids of subject, relation and object; `probs` (F,), float64: how often each fact is asked
    for, in sum 1; `vocab`: a string for each id. seed: which objects belong to which pairs.
    Raises TypeError or ValueError for a size that is not a whole number from 1.
    """

    def __init__(self, n_subjects=48, n_relations=48, n_objects=32, seed=0):
        sizes = {"subject": n_subjects, "relation": n_relations, "object": n_objects}
        for name, size in sizes.items():
            validate.whole_number(f"n_{name}s", size)
        self.vocab = [f"{name} {number}" for name, size in sizes.items() for number in range(1, size + 1)]
        self._subjects, self._relations = zipf(n_subjects), zipf(n_relations)
        rng = np.random.default_rng(validate.whole_number("seed", seed, low=0))
        self._n_objects = n_objects
        self._objects = rng.integers(n_objects, size=(n_subjects, n_relations))
        probs = np.outer(self._subjects, self._relations)  # (subjects, relations)
        order = np.argsort(-probs.ravel(), kind="stable")
        self.facts = self._rows(*np.unravel_index(order, probs.shape))  # (F, 3)
        self.probs = torch.from_numpy(probs.ravel()[order])  # (F,)

    def _rows(self, subjects, relations):
        """The facts about these pairs, two arrays (n,), as ids (n, 3)."""
        n_subjects, n_relations = self._objects.shape
        objects = n_subjects + n_relations + self._objects[subjects, relations]
        return torch.from_numpy(np.stack([subjects, n_subjects + relations, objects], axis=1))

    def rows(self, n: int, seed: int) -> torch.Tensor:
        """n facts, drawn by their frequency -> ids (n, 3), int64. The same seed gives the same; a larger n only adds.

        Raises TypeError or ValueError unless n is a whole number from 1, and seed one from 0.
        """
        validate.whole_number("n", n)
        u = np.random.default_rng(validate.whole_number("seed", seed, low=0)).random((n, 2))
        # without the last edge, which rounding can leave below a u
        subjects = np.searchsorted(self._subjects.cumsum()[:-1], u[:, 0], side="right")
        relations = np.searchsorted(self._relations.cumsum()[:-1], u[:, 1], side="right")
        return self._rows(subjects, relations)

    def entropy_floor(self) -> float:
        """Nats per predicted token: half of the relation's entropy, since a row's other target costs nothing.

        The object is certain once the fact is known; the subject stands first and is not predicted.
        """
        return float(-(self._relations * np.log(self._relations)).sum() / 2)

    def gap_if_held(self, k: int) -> float:
        """Nats per predicted token above the floor, for a model that holds the k likeliest facts and no other.

        Of the others it knows only that some object follows: ln(objects) nats each, on one of a row's two targets.
        Raises TypeError or ValueError unless k is a whole number from 0 to F.
        """
        if validate.whole_number("k", k, low=0) > len(self.facts):
            raise ValueError(f"k={k} is more than the book holds; give a whole number from 0 to {len(self.facts)}.")
        return self.probs[k:].sum().item() * math.log(self._n_objects) / 2
