"""Exercise 2.4: from one wide vector to several heads, and back."""

import torch

from utils.check.engine import Exercise, Verdict, Wrong, by_cases, judge
from utils.check.lesson_02.parts import normal


def _split_cases():
    return [
        (torch.arange(8).view(1, 2, 4), 2),
        (normal(2, 3, 12, seed=1), 4),
        (normal(3, 5, 6, seed=2), 3),
        (normal(2, 4, 6, seed=3), 1),
    ]


def _split(x, n_head):
    return x.unflatten(-1, (n_head, -1)).transpose(1, 2)


def _merge_cases():
    return [(_split(*case).contiguous(),) for case in _split_cases()]  # as attention's result is


def _merge(x):
    return x.transpose(1, 2).flatten(2)


_split_by_cases = by_cases(
    _split_cases,
    right=_split,
    mistakes=(
        (
            "the words are mixed: the numbers fill (B, H, T, d_head) in the order in which they lie. "
            "First cut the width alone, then exchange two places.",
            lambda x, n_head: x.reshape(len(x), n_head, x.shape[1], -1),
        ),
        (
            "the width is cut well, and the places are (B, T, H, d_head); the heads belong before the words.",
            lambda x, n_head: x.unflatten(-1, (n_head, -1)),
        ),
        (
            "head 0 has every H-th number; a head takes d_head neighbours, head 0 the first of them.",
            lambda x, n_head: x.unflatten(-1, (-1, n_head)).permute(0, 3, 1, 2),
        ),
        (
            "n_head and d_head are swapped: there are n_head heads, and each is d / n_head wide.",
            lambda x, n_head: x.unflatten(-1, (-1, n_head)).transpose(1, 2),
        ),
        (
            "the heads stand before the batch, (H, B, T, d_head); the batch comes first.",
            lambda x, n_head: _split(x, n_head).transpose(0, 1),
        ),
        (
            "words and d_head are exchanged, (B, H, d_head, T); exchange words and heads.",
            lambda x, n_head: _split(x, n_head).mT,
        ),
        (
            "the words and not the width are shared out: each head needs all the words, and a part of their numbers.",
            lambda x, n_head: x.unflatten(1, (n_head, -1)),
        ),
        (
            "every head has the whole width; each takes a part of it, d / n_head numbers.",
            lambda x, n_head: x[:, None].expand(-1, n_head, -1, -1),
        ),
        (
            "this is x as it was; the heads need a place of their own.",
            lambda x, n_head: x,
        ),
        (
            "the heads stand last, (B, T, d_head, H); they belong before the words.",
            lambda x, n_head: x.unflatten(-1, (n_head, -1)).transpose(2, 3),
        ),
        (
            "the heads run backwards: the first d_head columns are head 0.",
            lambda x, n_head: _split(x, n_head).flip(1),
        ),
        (
            "this is the first head alone; all of them are wanted, in a place of their own.",
            lambda x, n_head: _split(x, n_head)[:, 0],
        ),
    ),
)

_merge_by_cases = by_cases(
    _merge_cases,
    right=_merge,
    mistakes=(
        (
            "the words are mixed: the heads still stand before the words. "
            "First bring the words forward again, then join the width.",
            lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
        (
            "the numbers of the heads alternate: head 0's d_head numbers come first, then head 1's.",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        (
            "the words are in front again, and the heads still have a place of their own: join the last two.",
            lambda x: x.transpose(1, 2),
        ),
        (
            "the heads are added up; put them side by side, which keeps all their numbers.",
            lambda x: x.sum(1),
        ),
        (
            "the heads are averaged; put them side by side, which keeps all their numbers.",
            lambda x: x.mean(1, dtype=torch.float32),
        ),
        (
            "the heads stand one behind the other along the words; put them side by side along the width.",
            lambda x: x.flatten(1, 2),
        ),
        (
            "the words are joined too, into one row for each sequence; join the heads alone.",
            lambda x: x.transpose(1, 2).flatten(1),
        ),
        (
            "the words are joined too, into one row for each sequence; join the heads alone.",
            lambda x: x.flatten(1),
        ),
        (
            "the heads run backwards: head 0's numbers come first.",
            lambda x: _merge(x.flip(1)),
        ),
        (
            "this is the first head alone; all of them belong side by side.",
            lambda x: x[:, 0],
        ),
        (
            "the exchange is of words and d_head; it is the heads that have to change places with the words.",
            lambda x: x.mT.reshape(len(x), x.shape[2], -1),
        ),
        (
            "the width comes before the words, (B, d, T); the words come first.",
            lambda x: _merge(x).mT,
        ),
        (
            "this is x as it was; the heads have to become one width again.",
            lambda x: x,
        ),
    ),
)


def _heads_probe(split_heads, merge_heads):
    for name, probe, function in (
        ("split_heads", _split_by_cases, split_heads),
        ("merge_heads", _merge_by_cases, merge_heads),
    ):
        try:
            probe(function)
        except Wrong as diagnosis:
            raise Wrong(f"`{name}`: {diagnosis}") from None


HEADS = Exercise(
    number="2.4",
    target="An example: split_heads of the words [[[0, 1, 2, 3], [4, 5, 6, 7]]] with 2 heads gives "
    "[[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]], and merge_heads of that gives the words again.",
    probe=_heads_probe,
    meaning="heads are a way to read the same numbers: splitting and merging add no parameter and lose nothing.",
    hints=(
        "Each of the two has two steps: one changes how the width is cut, one exchanges two places of the shape.",
        "To split, cut the last place d into H and d_head, then let heads and words change places. Print both shapes.",
        "To merge, go the same steps backwards. If `view` complains after an exchange, `reshape` copies where it must.",
    ),
    parts=("split_heads", "merge_heads"),
)


def ex_2_4(split_heads, merge_heads=None) -> Verdict:
    """Exercise 2.4: heads, two functions.

    split_heads(x (B, T, d), n_head) -> (B, H, T, d_head); merge_heads(x (B, H, T, d_head)) -> (B, T, d).
    """
    return judge(HEADS, split_heads, merge_heads)
