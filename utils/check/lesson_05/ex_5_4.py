"""Exercise 5.4: one training step. answer(model, optimizer, inputs, targets) -> the loss, a float."""

import torch
import torch.nn.functional as F
from torch import nn

from utils.check.calling import Nearly, Unclear, Wrong, call
from utils.check.cases import Cases
from utils.check.compare import same
from utils.check.engine import Exercise

INPUTS = torch.tensor([[1, 2, 3, 4], [5, 0, 2, 0]])
TARGETS = torch.tensor([[2, 3, 4, 1], [0, 2, -100, -100]])


def _fresh():
    """A table and a head, the smallest model that can be trained: ids (B, T) -> logits (B, T, 6)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6, bias=False))


class PlainOptimizer:
    """Gradient descent as it is; the first optimizer of torch.optim would import for a second or more."""

    def __init__(self, model):
        self.steps, self.param_groups = 0, [{"params": list(model.parameters()), "lr": 0.5}]

    def zero_grad(self, set_to_none=True):
        """Forget the gradients."""
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    @torch.no_grad()
    def step(self, closure=None):
        """One step against the gradients -> what the closure gives, if there is one, as torch's optimizers do."""
        with torch.enable_grad():
            loss = closure and closure()
        self.steps += 1
        for parameter in self.param_groups[0]["params"]:
            if parameter.grad is not None:
                parameter -= self.param_groups[0]["lr"] * parameter.grad
        return loss


def _weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _twice(step):
    """Two steps on a fresh model, as a function of a batch -> the weights after them and the two losses."""

    def run(inputs, targets):
        model = _fresh()
        optimizer = PlainOptimizer(model)
        first = step(model, optimizer, inputs.clone(), targets.clone())
        second = step(model, optimizer, inputs.flip(0), targets.flip(0))
        return _weights(model), first, second

    return run


def _loss(scores, targets):
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def _step(loss=_loss, zero=True):
    """A training step with another loss, or without clearing the gradients."""

    def step(model, optimizer, inputs, targets):
        value = loss(model(inputs), targets)
        if zero:
            optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.item()

    return step


LOSSES = {
    "only the last positions are compared; each has a target.": lambda s, y: _loss(s[:, -1:], y[:, -1:]),
    "the targets are shifted a second time: they come shifted already.": lambda s, y: _loss(s[:, :-1], y[:, 1:]),
}
UNCLEARED = "the gradients of the step before are still there and add up: clear them before backward."


def _steps(step):
    """How many steps the optimizer takes in one training step."""
    step(model := _fresh(), optimizer := PlainOptimizer(model), INPUTS.clone(), TARGETS.clone())
    return optimizer.steps


class _Probe(Cases):
    def __call__(self, function):
        try:
            super().__call__(function)
        except Unclear as error:
            if "raised" in error.seen or _steps(function):
                raise
            cause = "the optimizer that is given takes no step; only its own `step` knows its rate."
            raise Wrong(cause + error.example) from None
        if getattr(call(self.view(function), INPUTS, TARGETS)[1], "requires_grad", False):
            raise Nearly("a tensor keeps the whole computation alive; return the loss as a number, with `.item()`.")


EXERCISE = Exercise(
    target="An example: on the check's first batch the loss is "
    f"{_loss(_fresh()(INPUTS), TARGETS).item():.2f}, and after the step it is lower.",
    probe=_Probe(
        lambda: [(INPUTS, TARGETS)],
        right=_step(),
        view=_twice,
        results=("the weights after two steps", "the first loss", "the second loss"),
        mistakes={UNCLEARED: _step(zero=False)} | {diagnosis: _step(loss) for diagnosis, loss in LOSSES.items()},
        signs={
            "the weights have not changed: a step uses what backward has made, and old gradients are cleared before "
            "backward, not after it.": lambda result, want: same(result[0], _weights(_fresh())),
        },
    ),
    meaning="forward, loss, clear, backward, step: every training run is this, many times.",
    hints=(
        "There are five parts: scores, loss, clear the old gradients, go backward, step.",
        "`F.cross_entropy` wants two dimensions of scores, (positions, V), and one of targets: flatten both.",
        "It skips targets of -100 by itself. Return `loss.item()`.",
    ),
)
