"""Answers to exercise 5.1: the shift."""

import torch


def _to_columns(rows):
    inputs = rows[:-1]
    targets = rows[:, 1:]
    return inputs, targets


def _by_two(rows):
    inputs = rows[:, :-1]
    targets = rows[:, 2:]
    return inputs, targets


RIGHT = [
    lambda rows: (rows[:, :-1], rows[:, 1:]),
    lambda rows: [rows[:, :-1].clone(), rows[:, 1:].clone()],
    lambda rows: (rows.narrow(1, 0, rows.shape[1] - 1), rows.narrow(1, 1, rows.shape[1] - 1)),
    lambda rows: torch.stack([rows[:, :-1], rows[:, 1:]]),
    lambda rows: (rows.numpy()[:, :-1], rows.numpy()[:, 1:]),
    lambda rows: ([row[:-1] for row in rows.tolist()], [row[1:] for row in rows.tolist()]),
]
WRONG = [
    ("look    line 2", _to_columns),
    ("look    line 3", _by_two),
    ("one place too early", lambda rows: (rows[:, 1:], torch.cat([rows[:, 2:], rows[:, :1]], 1))),
    ("the targets alone; missing: the inputs", lambda rows: rows[:, 1:]),
    ("as floats", lambda rows: (rows[:, :-1].float(), rows[:, 1:].float())),
    ("the inputs: the shape is (2,)", lambda rows: (rows.flatten()[:-1], rows[:, 1:])),
]
