"""Exercise 5.4: one training step. answer(model, optimizer, inputs, targets) -> the loss, a float."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from utils.check.calling import Nearly, Unclear, Wrong, call
from utils.check.compare import brief, differs, same
from utils.check.engine import Exercise


def _batches():
    inputs = torch.tensor([[1, 2, 3, 4], [5, 0, 2, 0]])
    targets = torch.tensor([[2, 3, 4, 1], [0, 2, -100, -100]])
    return [(inputs, targets), (inputs.flip(0), targets.flip(0))]


def _fresh():
    """A table and a head, the smallest model that can be trained: ids (B, T) -> logits (B, T, 6)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6, bias=False))


class _Optimizer:
    """Plain gradient descent, which notes its steps; the first of torch.optim would import for a second or more."""

    def __init__(self, model, events):
        self.param_groups, self.events = [{"params": list(model.parameters()), "lr": 0.5}], events

    def __repr__(self):
        return "an optimizer"

    def zero_grad(self, set_to_none=True):
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    @torch.no_grad()
    def step(self):
        self.events.append("step")
        for parameter in self.param_groups[0]["params"]:
            if parameter.grad is not None:
                parameter -= self.param_groups[0]["lr"] * parameter.grad


def _weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _run(step, through=lambda step, *args: step(*args)):
    """Two steps of a function on a fresh model -> their losses, the weights after them, and what happened when."""
    model, events = _fresh(), []
    optimizer = _Optimizer(model, events)
    model[0].weight.register_hook(lambda gradient: events.append("backward"))
    losses = [through(step, model, optimizer, *batch) for batch in _batches()]
    return losses, _weights(model), events


def _loss(scores, inputs, targets):
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def _step(loss=_loss, zero=True):
    """A training step with another loss, or without clearing the gradients."""

    def step(model, optimizer, inputs, targets):
        value = loss(model(inputs), inputs, targets)
        if zero:
            optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.item()

    return step


FAULTS = {
    "the gradients of the step before are still there and add up: clear them before backward.": _step(zero=False),
    "this is the loss of each row, averaged; take the mean over all positions that count.": _step(
        lambda scores, x, y: torch.stack([F.cross_entropy(*row) for row in zip(scores, y, strict=True)]).mean()
    ),
    "a softmax comes before cross_entropy, which takes one itself: give it the scores.": _step(
        lambda scores, x, y: _loss(scores.softmax(-1), x, y)
    ),
    "only the last position of each row is compared; every position has a target.": _step(
        lambda scores, x, y: F.cross_entropy(scores[:, -1], y[:, -1])
    ),
    "the last position of each row is left out; the targets come shifted already, so every position counts.": _step(
        lambda scores, x, y: _loss(scores[:, :-1], x, y[:, :-1])
    ),
    "the targets are shifted a second time: they come shifted already.": _step(
        lambda scores, x, y: _loss(scores[:, :-1], x, y[:, 1:])
    ),
    "positions with a target of -100 are counted; cross_entropy leaves them out if they stay -100.": _step(
        lambda scores, x, y: _loss(scores, x, y.clamp(min=0))
    ),
}


@functools.cache
def _right():
    return _run(_step())


class _Probe:
    """Two steps of the student's function, beside two of the right one and of each fault."""

    def __call__(self, function):
        wanted_losses, wanted, _ = _right()
        losses, weights, events = _run(function, through=_called)
        if any(loss is None for loss in losses):
            raise Unclear("your function returns None; return the loss, as a number.")
        if same(weights, _weights(_fresh())):
            raise Unclear(f"the weights have not changed: {_unchanged(events)}")
        if not same(weights, wanted):
            raise _fault(losses, weights)
        if not same(losses, wanted_losses):
            problem = next(filter(None, map(differs, losses, wanted_losses)), "")
            shown = f"\n  yours   {brief(losses[0])}\n  wanted  {brief(wanted_losses[0])}"
            raise Unclear(f"the weights are right and the loss is not: {problem}", shown)
        if any(getattr(loss, "requires_grad", False) for loss in losses):
            raise Nearly("a tensor keeps the whole computation alive; return the loss as a number, with `.item()`.")

    def agrees(self, function):
        return same(_run(function, through=_called)[:2], _right()[:2])

    @staticmethod
    def rows():
        return FAULTS.items()


def _fault(losses, weights):
    for diagnosis, fault in FAULTS.items():
        faulty_losses, faulty, _ = _run(fault)
        if same(weights, faulty) and same(losses[:1], faulty_losses[:1]):
            return Wrong(diagnosis)
    return Unclear(
        "after two steps the weights are not those of a plain training step; which of its five parts differs?"
    )


def _called(function, *args):
    try:
        return call(function, *args, in_place=True)
    except Unclear as error:
        if "does not require grad" not in error.seen:
            raise
        said = "the loss hangs on no weight: are the scores made under `no_grad`, cut off, or turned into ids?"
        raise Unclear(said, error.example) from None


def _unchanged(events):
    """Why the weights are what they were, from what happened when."""
    if "backward" not in events:
        return "nothing went backward, so there is no gradient."
    if "step" not in events:
        return "the optimizer has made no step."
    if events.index("step") < events.index("backward"):
        return "the step comes before backward, when there are no gradients yet."
    return "the gradients are cleared after backward, so the step has nothing to use; clear before it."


_FIRST = _batches()[0]
EXERCISE = Exercise(
    target="An example: on the check's first batch the loss is "
    f"{_loss(_fresh()(_FIRST[0]), *_FIRST).item():.2f}, and after the step it is lower.",
    probe=_Probe(),
    meaning="forward, loss, clear, backward, step: every training run is this, many times.",
    hints=(
        "There are five parts: scores, loss, clear the old gradients, go backward, step.",
        "`F.cross_entropy` wants two dimensions of scores, (positions, V), and one of targets: flatten both.",
        "It skips targets of -100 by itself. Return `loss.item()`.",
    ),
)
