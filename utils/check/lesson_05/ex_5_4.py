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
    """A table and a head, the smallest model that can be trained: ids (B, T) -> logits (B, T, 6).

    Gradients of a step before stand in it, and its own are longer than 1, where many clip them.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6, bias=False))
    with torch.no_grad():
        model[1].weight *= 4
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    return model


class PlainOptimizer:
    """Gradient descent with momentum; the first optimizer of torch.optim would import for a second or more.

    gradients: what each step was given, in one row.
    """

    def __init__(self, model):
        self.gradients, self.param_groups = [], [{"params": list(model.parameters()), "lr": 0.5}]
        self.moved = [torch.zeros_like(parameter) for parameter in model.parameters()]

    def zero_grad(self, set_to_none=True):
        """Forget the gradients."""
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    @torch.no_grad()
    def step(self, closure=None):
        """One step against the gradients -> what the closure gives, if there is one, as torch's optimizers do."""
        with torch.enable_grad():
            loss = closure and closure()
        given = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in self.param_groups[0]["params"]]
        self.gradients.append(torch.cat([gradient.flatten() for gradient in given]))
        for parameter, moved, gradient in zip(self.param_groups[0]["params"], self.moved, given, strict=True):
            parameter -= moved.mul_(0.5).add_(self.param_groups[0]["lr"] * gradient)
        return loss


RESULTS = "the first loss", "the gradient of the first step", "the weights after two steps", "the second loss"


def _weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _twice(step):
    """Two steps on a fresh model, as a function of a batch -> RESULTS."""

    def run(inputs, targets):
        model = _fresh()
        optimizer = PlainOptimizer(model)
        first = step(model, optimizer, inputs.clone(), targets.clone())
        second = step(model, optimizer, inputs.flip(0), targets.flip(0))
        gradient = optimizer.gradients[0] if optimizer.gradients else torch.zeros_like(_weights(model))
        return first, gradient, _weights(model), second

    return run


def _loss(scores, targets):
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def _step(loss=_loss, zero="before", late=False):
    """A training step with another loss, without clearing the gradients in time, or with the loss after the step."""

    def step(model, optimizer, inputs, targets):
        value = loss(model(inputs), targets)
        if zero == "before":
            optimizer.zero_grad()
        value.backward()
        optimizer.step()
        if zero == "after":
            optimizer.zero_grad()
        return (loss(model(inputs), targets) if late else value).item()

    return step


LOSSES = {
    "only the last positions are compared; each has a target.": lambda s, y: _loss(s[:, -1:], y[:, -1:]),
    "the targets are shifted a second time: they come shifted already.": lambda s, y: _loss(s[:, :-1], y[:, 1:]),
    "a target of -100 is padding, and counts as a token here; leave it out.": lambda s, y: _loss(s, y.clamp(min=0)),
    "this is the mean of the rows' means; each token counts the same, whatever the length of its row.": (
        lambda s, y: sum(F.cross_entropy(*row) for row in zip(s, y, strict=True)) / len(y)
    ),
}
UNCLEARED = "the gradients of the step before are still there and add up: clear them before backward."
LATE = "this is the loss after the step; the one wanted is that from which the step is made."


def _steps(step):
    """How many steps the optimizer takes in one training step."""
    step(model := _fresh(), optimizer := PlainOptimizer(model), INPUTS.clone(), TARGETS.clone())
    return len(optimizer.gradients)


class _Probe(Cases):
    def __call__(self, function):
        try:
            super().__call__(function)
        except Unclear as error:
            if "raised" in error.seen or (steps := _steps(function)) == 1:
                raise
            cause = "the optimizer that is given takes no step; only its own `step` knows its rate."
            more = f"the optimizer takes {steps} steps for one batch; take one, from the loss of all of it."
            raise Wrong((more if steps else cause) + error.example) from None
        if getattr(call(self.view(function), INPUTS, TARGETS)[0], "requires_grad", False):
            raise Nearly("a tensor keeps the whole computation alive; return the loss as a number, with `.item()`.")


EXERCISE = Exercise(
    target="An example: on the check's first batch the loss is "
    f"{_loss(_fresh()(INPUTS), TARGETS).item():.2f}, and after the step it is lower.",
    probe=_Probe(
        lambda: [(INPUTS, TARGETS)],
        right=_step(),
        view=_twice,
        results=RESULTS,
        mistakes={UNCLEARED: (_step(zero=""), _step(zero="after")), LATE: _step(late=True)}
        | {diagnosis: _step(loss) for diagnosis, loss in LOSSES.items()},
        signs={
            "the step comes before backward: it follows the gradients that stood there.": (
                lambda result, want: bool((result[1] == 1).all())
            ),
            "the weights have not changed: a step uses what backward has made, and old gradients are cleared before "
            "backward, not after it.": lambda result, want: same(result[2], _weights(_fresh())),
        },
    ),
    meaning="forward, loss, clear, backward, step: every training run is this, many times.",
    hints=(
        "There are five parts: scores, loss, clear the old gradients, go backward, step.",
        "`F.cross_entropy` wants two dimensions of scores, (positions, V), and one of targets: flatten both.",
        "It skips targets of -100 by itself. Return `loss.item()`.",
    ),
)
