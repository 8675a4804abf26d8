"""Exercise 1.6: the gradients of the two jobs."""

import torch
import torch.nn.functional as F

from utils.check.engine import Exercise, Verdict, by_cases, judge


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _gradient_cases():
    small = torch.randn(3, 2, generator=_generator(6))
    table = torch.randn(6, 4, generator=_generator(7))
    return [
        (small, torch.tensor([0]), torch.tensor([1])),
        (table, torch.tensor([0, 3, 3, 5]), torch.tensor([3, 1, 5, 0])),
        (table, torch.tensor([2, 2]), torch.tensor([4, 2])),
    ]


def _two_gradients(table, ids, targets, reduction="mean", change=lambda scores: scores):
    way_in = table.detach().clone().requires_grad_()
    way_out = table.detach().clone().requires_grad_()
    F.cross_entropy(change(way_in[ids] @ way_out.T), targets, reduction=reduction).backward()
    return way_in.grad, way_out.grad


def _summed(table, ids, targets):
    total = sum(_two_gradients(table, ids, targets))
    return total, total


GRADIENTS = Exercise(
    number="1.6",
    target="An example: table [[1, 0], [0, 1]], ids [0], targets [1] give [[0.7311, -0.7311], [0, 0]] for the look-up "
    "and [[0.7311, 0], [-0.7311, 0]] for the head.",
    probe=by_cases(
        _gradient_cases,
        right=_two_gradients,
        mistakes=(
            (
                "the two are swapped: the look-up's gradient comes first; it has rows of zeros for tokens not read.",
                lambda *case: _two_gradients(*case)[::-1],
            ),
            (
                "both are the gradient of one shared table; make two tables of equal values, each with its own.",
                _summed,
            ),
            (
                "these are the gradients of the summed loss; the mean over the predictions is wanted.",
                lambda *case: _two_gradients(*case, reduction="sum"),
            ),
            (
                "this is their sum; the two are wanted apart.",
                lambda *case: sum(_two_gradients(*case)),
            ),
            (
                "twice the look-up's gradient; the second must come from the head's table.",
                lambda *case: (_two_gradients(*case)[0],) * 2,
            ),
            (
                "twice the head's gradient; the first must come from the look-up's table.",
                lambda *case: (_two_gradients(*case)[1],) * 2,
            ),
            (
                "the second holds the first too: gradients add up until they are cleared.",
                lambda *case: (_two_gradients(*case)[0], _summed(*case)[0]),
            ),
            (
                "a softmax comes before the cross-entropy, which makes its own; give it the scores as they are.",
                lambda *case: _two_gradients(*case, change=lambda scores: scores.softmax(-1)),
            ),
            (
                "the loss compares with the ids that were read; the targets are what comes next.",
                lambda table, ids, targets: _two_gradients(table, ids, ids),
            ),
            (
                "these are the two tables; their gradients are wanted.",
                lambda table, ids, targets: (table, table),
            ),
            (
                "the sign is turned: these are the steps downhill, and the gradients point uphill.",
                lambda *case: tuple(-g for g in _two_gradients(*case)),
            ),
        ),
        signs=(
            (
                "a gradient is None: call backward on the loss, and make both tables leaves that require a gradient.",
                lambda result, want: isinstance(result, (tuple, list)) and any(part is None for part in result),
            ),
        ),
    ),
    meaning="the look-up's gradient touches only the tokens read; the head's touches every token there is.",
    hints=(
        "Make two separate tables with the values of `table`: one for the look-up, one for the head.",
        "`table.clone().detach().requires_grad_()` makes a leaf with its own gradient.",
        "Look up, score with the other table, take the mean cross-entropy, go backward once, and read two `.grad`s.",
    ),
)


def ex_1_6(answer) -> Verdict:
    """Exercise 1.6: the two gradients. answer(table, ids, targets) -> (of the look-up, of the head), each (V, d)."""
    return judge(GRADIENTS, answer)
