"""Answers to exercise 5.5: find the bug."""

_TRUE = {"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}


def _prints():
    print({"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}, end="")


RIGHT = [lambda: dict(_TRUE), lambda: dict(reversed(_TRUE.items()))]
WRONG = [
    ("loop A has another", lambda: _TRUE | {"A": "no shift"}),
    ("loop B has another", lambda: _TRUE | {"B": "double shift"}),
    ("loop D has another", lambda: _TRUE | {"D": "double shift"}),
    ("none of the names", lambda: _TRUE | {"D": "too short"}),
    ("with the keys", lambda: {"A": "double shift"}),
    ("look    line 2", _prints),
]
