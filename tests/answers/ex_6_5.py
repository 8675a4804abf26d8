"""Answers to exercise 6.5: the faults of three loops."""

import types

_FAULTS = {"A": "mask with one query", "B": "stale cache", "C": "wrong position"}

RIGHT = [lambda: dict(_FAULTS), lambda: dict(reversed(_FAULTS.items())), lambda: types.MappingProxyType(_FAULTS)]
WRONG = [
    ("loop A has another", lambda: {"A": "stale cache", "B": "mask with one query", "C": "wrong position"}),
    ("loop B has another", lambda: {"A": "mask with one query", "B": "wrong position", "C": "stale cache"}),
    ("none of the names", lambda: _FAULTS | {"C": "stale"}),
    ("none of the names", lambda: _FAULTS | {"C": ["stale cache"]}),
    ("yours is a list", lambda: list(_FAULTS.values())),
    ("with the keys", lambda: {key.lower(): name for key, name in _FAULTS.items()}),
    ("returns None", lambda: print(end="")),
]
