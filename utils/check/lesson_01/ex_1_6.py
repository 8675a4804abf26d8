"""Exercise 1.6: the two gradients. answer(table, ids, targets) -> (of the look-up, of the head), each (V, d)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _cases():
    small, table = (torch.randn(shape, generator=torch.Generator().manual_seed(6)) for shape in ((3, 2), (6, 4)))
    ids, targets = ([0], [0, 3, 3, 5], [2, 2]), ([1], [3, 1, 5, 0], [4, 2])
    return list(zip((small, table, table), map(torch.tensor, ids), map(torch.tensor, targets), strict=True))


def _gradients(table, ids, targets, reduction="mean", change=lambda scores, dim: scores):
    way_in, way_out = (table.detach().clone().requires_grad_() for _ in range(2))
    F.cross_entropy(change(way_in[ids] @ way_out.T, -1), targets, reduction=reduction).backward()
    return way_in.grad, way_out.grad


_MISTAKES = {
    "the two are swapped: the look-up's gradient comes first.": lambda *a: _gradients(*a)[::-1],
    "both are the gradient of one shared table; each of two has its own.": lambda *a: (sum(_gradients(*a)),) * 2,
    "these are the gradients of the summed loss; its mean is wanted.": lambda *a: _gradients(*a, "sum"),
    "a softmax comes before the cross-entropy, which makes its own.": lambda *a: _gradients(*a, change=F.softmax),
    "ids and targets are swapped: ids choose the rows.": lambda table, ids, targets: _gradients(table, targets, ids),
}

EXERCISE = Exercise(
    target="An example: table [[1, 0], [0, 1]], ids [0], targets [1] give [[0.7311, -0.7311], [0, 0]] for the look-up "
    "and [[0.7311, 0], [-0.7311, 0]] for the head.",
    probe=Cases(
        _cases,
        right=_gradients,
        mistakes=_MISTAKES,
        signs={
            "a gradient is None: call backward on the loss, and make both tables leaves that require a gradient.": (
                lambda result, want: isinstance(result, (tuple, list)) and any(part is None for part in result)
            ),
        },
    ),
    meaning="the look-up's gradient touches only the tokens read; the head's touches every token there is.",
    hints=(
        "Make two separate tables with the values of `table`: one for the look-up, one for the head.",
        "`table.clone().detach().requires_grad_()` makes a leaf with its own gradient.",
        "Look up, score with the other table, take the mean cross-entropy, go backward once, and read two `.grad`s.",
    ),
)
