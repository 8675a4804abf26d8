"""Exercises 5.4 and 5.5: one training step, and four loops with a fault each."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from utils.check.compare import brief, same
from utils.check.engine import Exercise, Verdict, Wrong, call, judge


class _Tiny(nn.Module):
    """A table and a head, the smallest model that can be trained: ids (B, T) -> logits (B, T, 6)."""

    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(6, 4)
        self.lm_head = nn.Linear(4, 6, bias=False)

    def forward(self, ids):
        return self.lm_head(self.wte(ids))


def _batches():
    inputs = torch.tensor([[1, 2, 3, 4], [5, 0, 2, 0]])
    targets = torch.tensor([[2, 3, 4, 1], [0, 2, -100, -100]])
    return [(inputs, targets), (inputs.flip(0), targets.flip(0))]


class _Noting(torch.optim.SGD):
    """Plain gradient descent that notes when it is asked to do what."""

    def __init__(self, parameters, events):
        super().__init__(parameters, lr=0.5)
        self.events = events

    def zero_grad(self, *args, **kwargs):
        self.events.append("clear")
        super().zero_grad(*args, **kwargs)

    def step(self, *args, **kwargs):
        self.events.append("step")
        return super().step(*args, **kwargs)


def _run(step, through=lambda step, *args: step(*args)):
    """Two steps of a function on a fresh model -> their losses, the weights after them, and what happened when."""
    torch.manual_seed(1)
    model, events = _Tiny(), []
    optimizer = _Noting(model.parameters(), events)
    model.wte.weight.register_hook(lambda gradient: events.append("backward"))
    losses = [through(step, model, optimizer, *batch) for batch in _batches()]
    return losses, torch.cat([parameter.detach().flatten() for parameter in model.parameters()]), events


def _step(loss=None, zero=True):
    """A training step with another loss, or without clearing the gradients."""

    def faulty(model, optimizer, inputs, targets):
        value = (loss or _right_loss)(model(inputs), inputs, targets)
        if zero:
            optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.item()

    return faulty


def _right_loss(logits, inputs, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _double_shift(logits, inputs, targets):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())


def _no_shift(logits, inputs, targets):
    return F.cross_entropy(logits.flatten(0, 1), inputs.flatten())


def _padding(logits, inputs, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.clamp(min=0).flatten())


def _summed(logits, inputs, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")


def _by_all(logits, inputs, targets):
    return _summed(logits, inputs, targets) / targets.numel()


def _uphill(model, optimizer, inputs, targets):
    loss = _right_loss(model(inputs), inputs, targets)
    optimizer.zero_grad()
    (-loss).backward()
    optimizer.step()
    return loss.item()


def _row_means(logits, inputs, targets):
    return torch.stack([F.cross_entropy(*row) for row in zip(logits, targets, strict=True)]).mean()


def _softmaxed(logits, inputs, targets):
    return F.cross_entropy(logits.flatten(0, 1).softmax(-1), targets.flatten())


def _last_place(logits, inputs, targets):
    return F.cross_entropy(logits[:, -1], targets[:, -1])


def _mixed_axes(logits, inputs, targets):
    return F.cross_entropy(logits.transpose(0, 1).flatten(0, 1), targets.flatten())


def _back_again(logits, inputs, targets):
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), targets[:, :-1].flatten())


def _twice(model, optimizer, inputs, targets):
    first = _step()(model, optimizer, inputs, targets)
    _step()(model, optimizer, inputs, targets)
    return first


_FAULTS = (
    ("this is the loss of each row, averaged; take the mean over all places that count.", _step(_row_means)),
    ("a softmax comes before cross_entropy, which takes one itself: give it the scores.", _step(_softmaxed)),
    ("only the last place of each row is compared; every place has a target.", _step(_last_place)),
    ("scores and targets are flattened in another order, so they belong to other places.", _step(_mixed_axes)),
    ("the targets are shifted back: they come shifted already.", _step(_back_again)),
    ("there are two steps; one batch has one.", _twice),
    ("the gradients of the step before are still there and add up: clear them before backward.", _step(zero=False)),
    ("the targets are shifted a second time: they come shifted already.", _step(_double_shift)),
    ("the model is asked for the token that it reads: compare its scores with the targets.", _step(_no_shift)),
    ("places with a target of -100 are counted; cross_entropy leaves them out if they stay -100.", _step(_padding)),
    ("the loss is summed; take the mean over the places that count.", _step(_summed)),
    ("the sum is divided by all places; divide by those that count, without the -100.", _step(_by_all)),
    ("the loss is going up: step against the gradient, not along it.", _uphill),
)


_OTHER_LOSSES = (
    ("; it is rounded", lambda loss: round(loss, 1)),
    ("; it is rounded", lambda loss: round(loss, 2)),
    ("; it is rounded", lambda loss: round(loss, 3)),
    ("; this is the perplexity", math.exp),
    ("; its sign is turned", lambda loss: -loss),
)


def _unchanged(events):
    """Why the weights are what they were, from what happened when."""
    if "backward" not in events:
        return "nothing went backward, so there is no gradient."
    if "step" not in events:
        return "the optimizer has made no step."
    if events.index("step") < events.index("backward"):
        return "the step comes before backward, when there are no gradients yet."
    return "the gradients are cleared after backward, so the step has nothing to use; clear before it."


def _step_probe(function):
    wanted_losses, wanted, _ = _run(_step())
    losses, weights, events = _run(function, through=lambda *args: call(*args, in_place=True))
    if any(loss is None for loss in losses):
        raise Wrong("your function returns None; return the loss, as a number.")
    if any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses):
        raise Wrong("a tensor keeps the whole computation alive; return the loss as a number, with `.item()`.")
    if same(losses, tuple(wanted_losses)) and same(weights, wanted):
        return
    torch.manual_seed(1)
    if same(weights, torch.cat([parameter.detach().flatten() for parameter in _Tiny().parameters()])):
        raise Wrong(f"the weights have not changed: {_unchanged(events)}")
    for diagnosis, fault in _FAULTS:
        faulty_losses, faulty, _ = _run(fault)
        if same(weights, faulty) and same(losses[:1], tuple(faulty_losses[:1])):
            raise Wrong(diagnosis)
    if same(weights, wanted):
        why = next((why for why, change in _OTHER_LOSSES if same(losses, tuple(map(change, wanted_losses)))), "")
        shown = f"\n  yours   {brief(losses[0])}\n  wanted  {wanted_losses[0]:.4f}"
        raise Wrong(f"the weights are right and the loss is not{why}.{shown}")
    raise Wrong("after two steps the weights are not those of a plain training step; which of its five parts differs?")


STEP = Exercise(
    number="5.4",
    target="An example: on the check's first batch the loss is about 1.7, and after the step it is lower.",
    probe=_step_probe,
    meaning="forward, loss, clear, backward, step: every training run is this, many times.",
    hints=(
        "There are five parts: scores, loss, clear the old gradients, go backward, step.",
        "`F.cross_entropy` wants two axes of scores, (places, V), and one of targets: flatten both.",
        "It skips targets of -100 by itself. Return `loss.item()`.",
    ),
)

BUG_NAMES = ("double shift", "no shift", "no zero_grad", "loss on padding")
_RIGHT_BUGS = {"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}
_LOOK_AT = {
    "A": "write down, for a row of five tokens, which token is compared with the scores of the first place.",
    "B": "print a parameter's gradient after the first and after the second step, on the same batch.",
    "C": "look at what becomes of a target of -100, and which token has the id that it becomes.",
    "D": "its loss falls to nearly 0 at once; what does the model have to know for that?",
}


def _bugs_probe(function):
    answer = call(function)
    if not isinstance(answer, dict) or set(answer) != set(_RIGHT_BUGS):
        raise Wrong(f'a dict with the four keys "A", "B", "C", "D" is wanted, and yours is {answer!r:.80}.')
    for loop, name in answer.items():
        if name not in BUG_NAMES:
            raise Wrong(f"loop {loop}: {name!r:.40} is none of the four names {', '.join(map(repr, BUG_NAMES))}.")
    for loop, name in _RIGHT_BUGS.items():
        if answer[loop] != name:
            raise Wrong(f"loop {loop} has another fault than {answer[loop]!r}: {_LOOK_AT[loop]}")


BUGS = Exercise(
    number="5.5",
    target=f"The result is a dict: for each of the loops A to D one of {', '.join(map(repr, BUG_NAMES))}.",
    probe=_bugs_probe,
    meaning="each of these faults lets the program run, and with AdamW the loss falls; only reading the code finds it.",
    hints=(
        "Compare each loop with the five parts of a step, line by line. Exactly one line differs.",
        "Two of the loops compare scores with the wrong token, one counts what should not count, one never forgets.",
    ),
)


def ex_5_4(answer) -> Verdict:
    """Exercise 5.4: one training step. answer(model, optimizer, inputs, targets) -> the loss, a float."""
    return judge(STEP, answer)


def ex_5_5(answer) -> Verdict:
    """Exercise 5.5: find the bug. answer() -> {"A": name, "B": name, "C": name, "D": name}."""
    return judge(BUGS, answer)
