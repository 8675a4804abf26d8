"""Exercise 1.6: the two gradients. answer(table, ids, targets) -> (of the look-up, of the head), each (V, d)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _cases():
    small, table = (torch.randn(shape, generator=torch.Generator().manual_seed(6)) for shape in ((3, 2), (6, 4)))
    ids, targets = ([0], [0, 3, 3, 5], [2, 2]), ([1], [3, 1, 5, 0], [4, 2])
    return list(zip((small, table, table), map(torch.tensor, ids), map(torch.tensor, targets), strict=True))


def _gradients(table, ids, targets, loss=F.cross_entropy):
    way_in, way_out = (table.detach().clone().requires_grad_() for _ in range(2))
    loss(way_in[ids] @ way_out.T, targets).backward()
    return way_in.grad, way_out.grad


def _of_rows(table, ids, targets):
    """The gradients of the rows that were read, (T, d), and of the head."""
    rows, head = table[ids].requires_grad_(), table.clone().requires_grad_()
    F.cross_entropy(rows @ head.T, targets).backward()
    return rows.grad, head.grad


_MISTAKES = {
    "both are the gradient of one shared table; each of two has its own.": lambda *a: (sum(_gradients(*a)),) * 2,
    "`nll_loss` takes log-probabilities; `cross_entropy` takes scores.": lambda *a: _gradients(*a, F.nll_loss),
    "the targets are the next tokens already; shift nothing.": lambda *a: _gradients(a[0], a[1][:-1], a[2][1:]),
    "this is a gradient for each token read; add them up, in the row of each one's token.": _of_rows,
    "a token that comes twice keeps one of its gradients: `+=` at ids writes each row once; add with `index_add_`.": (
        lambda *a: (torch.zeros_like(a[0]).index_put((a[1],), _of_rows(*a)[0]), _of_rows(*a)[1])
    ),
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
            )
        },
    ),
    meaning="the look-up's gradient touches only the tokens read; the head's touches every token there is.",
    hints=(
        "Make two separate tables with the values of `table`: one for the look-up, one for the head.",
        "`table.clone().detach().requires_grad_()` makes a leaf with its own gradient.",
        "Look up, score with the other table, take the mean cross-entropy, go backward once, and read two `.grad`s.",
    ),
)
