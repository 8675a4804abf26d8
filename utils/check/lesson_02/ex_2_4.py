"""Exercise 2.4: heads, two functions.

split_heads(x (B, T, d), n_head) -> (B, H, T, d_head); merge_heads(x (B, H, T, d_head)) -> (B, T, d).
"""

import torch

from utils.check.calling import Unclear, Wrong
from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _split_cases():
    shapes = ((1, 3, 8), 2), ((2, 3, 12), 4), ((3, 5, 6), 3), ((2, 4, 6), 1), ((1, 1, 4), 1)
    return [(torch.arange(8.0).view(1, 2, 4), 2), *((normal(*shape, seed=1), n_head) for shape, n_head in shapes)]


def _split(x, n_head):
    return x.unflatten(-1, (n_head, -1)).transpose(1, 2)


def _merge_cases():
    return [(_split(*case).contiguous(),) for case in _split_cases()]  # as attention's result is


def _merge(x):
    return x.transpose(1, 2).flatten(2)


_SPLIT = {
    "the words are mixed: first cut the width alone, then exchange two dimensions.": (
        lambda x, H: x.reshape(len(x), H, x.shape[1], -1)
    ),
    "head 0 has every H-th number; a head takes d_head neighbours, head 0 the first of them.": (
        lambda x, H: x.unflatten(-1, (-1, H)).permute(0, 3, 1, 2)
    ),
}
_MERGE = {
    "the words are mixed: first bring them forward again, then join the width.": (
        lambda x: x.reshape(len(x), x.shape[2], -1),
        lambda x: x.flatten(2),
    )
}


class _Heads:
    """Both functions, each by its own cases; a verdict names the one that it is about."""

    split = Cases(_split_cases, right=_split, mistakes=_SPLIT)
    merge = Cases(_merge_cases, right=_merge, mistakes=_MERGE)

    def __call__(self, split_heads, merge_heads):
        for name, probe, function in (("split", self.split, split_heads), ("merge", self.merge, merge_heads)):
            try:
                probe(function)
            except Unclear as unclear:
                raise Unclear(f"`{name}_heads`: {unclear.seen}", unclear.example) from None
            except Wrong as diagnosis:
                raise Wrong(f"`{name}_heads`: {diagnosis}") from None

    def agrees(self, split_heads, merge_heads):
        return self.split.agrees(split_heads) and self.merge.agrees(merge_heads)

    def rows(self):
        """Each diagnosis with a pair of answers that must get it."""
        yield from ((f"`split_heads`: {text}", (mistake, _merge)) for text, mistake in self.split.rows())
        yield from ((f"`merge_heads`: {text}", (_split, mistake)) for text, mistake in self.merge.rows())


EXERCISE = Exercise(
    target="An example: split_heads of the words [[[0, 1, 2, 3], [4, 5, 6, 7]]] with 2 heads gives "
    "[[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]], and merge_heads of that gives the words again.",
    probe=_Heads(),
    meaning="heads are a way to read the same numbers: splitting and merging add no parameter and lose nothing.",
    hints=(
        "Each of the two has two steps: one changes how the width is cut, one exchanges two dimensions.",
        "To split, cut the last dimension d into H and d_head, then exchange heads and words. Print both shapes.",
        "To merge, go the same steps backwards. If `view` complains after an exchange, `reshape` copies where it must.",
    ),
    parts=("split_heads", "merge_heads"),
)
