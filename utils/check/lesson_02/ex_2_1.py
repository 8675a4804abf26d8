"""Exercise 2.1: tokens and positions. answer(ids (B, T), wte (V, d), wpe (n, d)) -> (B, T, d)."""

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    small = torch.tensor([[1.0, 1], [2, 2], [3, 3], [4, 4]])
    positions = torch.tensor([[10.0, 0], [20, 0], [30, 0], [40, 0], [50, 0], [60, 0]])
    texts = [[0, 4, 2, 4], [1, 1, 3, 0]], [[2, 0, 1], [0, 0, 2], [1, 2, 1]], [[3, 0, 2, 1, 1]], [[1], [2]]
    sizes = (5, 9, 3), (3, 12, 4), (7, 7, 2), (3, 4, 2)  # V, n, d
    tables = [(normal(V, d, seed=1), normal(n, d, seed=2)) for V, n, d in sizes]
    random = [(torch.tensor(ids), *pair) for ids, pair in zip(texts, tables, strict=True)]
    return [(torch.tensor([[3, 1, 3], [0, 0, 2]]), small, positions), *random]


def embed(ids, wte, wpe):
    """The vectors (B, T, d) that go into the first block: token rows plus position rows."""
    return wte[ids] + wpe[: ids.shape[1]]


def _read_at(position):
    """Tokens and positions with the position table read at position(ids)."""
    return lambda ids, wte, wpe: wte[ids] + wpe[position(ids)]


_MISTAKES = {
    "the position table is read at the token's id; read it at its position.": (
        _read_at(lambda ids: ids),
        lambda ids, wte, wpe: (wte + wpe)[ids],
    ),
    "the position rows are the table's last; take the first T.": _read_at(lambda ids: slice(-ids.shape[1], None)),
    "tokens and positions stand side by side, so the vectors are twice as wide; add them.": (
        lambda ids, wte, wpe: torch.cat([wte[ids], wpe[: ids.shape[1]].expand(len(ids), -1, -1)], -1)
    ),
    "the positions run along the batch; every sequence starts at 0.": _read_at(lambda ids: (slice(len(ids)), None)),
}

EXERCISE = Exercise(
    target="An example: ids [[1, 1]] with wte = [[1, 1], [2, 2]] and wpe = [[10, 0], [20, 0], [30, 0]] "
    "gives [[[12, 2], [22, 2]]].",
    probe=Cases(_cases, right=embed, mistakes=_MISTAKES),
    meaning="what a token is and where it stands become one vector, and the model learns to tell the two apart.",
    hints=(
        "Two look-ups and a sum. Which numbers choose the rows of each table?",
        "Indexing a table with ids of shape (B, T) gives (B, T, d). The positions are 0, 1, ... up to T - 1.",
        "The position rows have the shape (T, d). Adding them to (B, T, d) gives each sequence the same ones.",
    ),
)
