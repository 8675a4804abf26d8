"""Exercise 2.1: tokens and positions. answer(ids (B, T), wte (V, d), wpe (n, d)) -> (B, T, d)."""

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    small = torch.tensor([[1.0, 1], [2, 2], [3, 3], [4, 4]])
    positions = torch.tensor([[10.0, 0], [20, 0], [30, 0], [40, 0], [50, 0], [60, 0]])
    return [
        (torch.tensor([[3, 1, 3], [0, 0, 2]]), small, positions),
        (torch.tensor([[0, 4, 2, 4], [1, 1, 3, 0]]), normal(5, 3, seed=1), normal(9, 3, seed=2)),
        (torch.tensor([[2, 0, 1], [0, 0, 2], [1, 2, 1]]), normal(3, 4, seed=3), normal(12, 4, seed=4)),
        (torch.tensor([[3, 0, 2, 1, 1]]), normal(7, 2, seed=5), normal(7, 2, seed=6)),
        (torch.tensor([[1], [2]]), normal(3, 2, seed=7), normal(4, 2, seed=8)),
    ]


def embed(ids, wte, wpe):
    """The vectors (B, T, d) that go into the first block: token rows plus position rows."""
    return wte[ids] + wpe[: ids.shape[1]]


EXERCISE = Exercise(
    target="An example: ids [[1, 1]] with wte = [[1, 1], [2, 2]] and wpe = [[10, 0], [20, 0], [30, 0]] "
    "gives [[[12, 2], [22, 2]]].",
    probe=Cases(
        _cases,
        right=embed,
        mistakes={
            "the position table is read at the token's id; read it at the token's position.": (
                lambda ids, wte, wpe: wte[ids] + wpe[ids],
                lambda ids, wte, wpe: (wte + wpe)[ids],
            ),
            "positions are counted from 1; the first token stands at position 0.": (
                lambda ids, wte, wpe: wte[ids] + wpe[1 : ids.shape[1] + 1]
            ),
            "tokens and positions stand side by side, so the vectors are twice as wide; add them.": (
                lambda ids, wte, wpe: torch.cat([wte[ids], wpe[: ids.shape[1]].expand(len(ids), -1, -1)], -1)
            ),
            "the positions run along the batch; they run along a sequence, and every sequence starts at 0.": (
                lambda ids, wte, wpe: wte[ids] + wpe[: len(ids), None]
            ),
            "the positions are counted on from one sequence to the next; every sequence starts at 0.": (
                lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(ids.numel()).view(ids.shape)]
            ),
            "every token has one and the same position row; each has its own, at 0, 1, 2 and so on, up to T - 1.": (
                lambda ids, wte, wpe: wte[ids] + wpe[0],
                lambda ids, wte, wpe: wte[ids] + wpe[len(ids)],
                lambda ids, wte, wpe: wte[ids] + wpe[ids.shape[1] - 1],
                lambda ids, wte, wpe: wte[ids] + wpe[ids.shape[1]],
            ),
            "the whole position table is added; take as many of its rows as there are tokens.": (
                lambda ids, wte, wpe: wte[ids] + wpe
            ),
            "the two tables are swapped: ids choose rows of wte, positions choose rows of wpe.": (
                lambda ids, wte, wpe: wpe[ids] + wte[: ids.shape[1]]
            ),
            "the number of the position is added; add the row that wpe has for it.": (
                lambda ids, wte, wpe: wte[ids] + torch.arange(ids.shape[1])[:, None]
            ),
            "the token rows are multiplied by the root of the width, as in the first transformer; not so in GPT-2.": (
                lambda ids, wte, wpe: wte[ids] * wte.shape[1] ** 0.5 + wpe[: ids.shape[1]]
            ),
        },
    ),
    meaning="what a token is and where it stands become one vector, and the model learns to tell the two apart.",
    hints=(
        "Two look-ups and a sum. Which numbers choose the rows of each table?",
        "Indexing a table with ids of shape (B, T) gives (B, T, d). The positions are 0, 1, ... up to T - 1.",
        "The position rows have the shape (T, d). Adding them to (B, T, d) gives each sequence the same ones.",
    ),
)
