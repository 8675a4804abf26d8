"""Answers to exercise 5.4: one training step."""

import torch
import torch.nn.functional as F
from torch import nn


def _step(made, loss=lambda scores, x, y: F.cross_entropy(scores.flatten(0, 1), y.flatten())):
    def step(model, optimizer, inputs, targets):
        value = loss(model(inputs), inputs, targets)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return made(value)

    return step


def _with_autograd(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).transpose(1, 2), targets, ignore_index=-100)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


def _with_a_closure(model, optimizer, inputs, targets):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


def _zero_at_the_end(model, optimizer, inputs, targets):
    counted = targets != -100
    loss = nn.CrossEntropyLoss()(model(inputs)[counted], targets[counted])
    loss.backward()
    optimizer.step()
    model.zero_grad()
    return loss.detach()


def _summed(model, optimizer, inputs, targets):
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def _cleared_late(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


RIGHT = [_step(torch.Tensor.item), _with_autograd, _with_a_closure]
WRONG = [
    ("still there and add up", _zero_at_the_end),
    ("look    line 3", _summed),
    ("have not changed", _cleared_late),
    ("keeps the whole computation", _step(lambda value: value)),
    ("the first loss: it is None", _step(lambda value: None)),
    ("the first loss: the number", _step(lambda value: 2 * value.item())),
    ("flatten both", _step(torch.Tensor.item, lambda scores, x, y: F.cross_entropy(scores, y))),
    (
        "takes no step",
        lambda model, optimizer, x, y: _step(torch.Tensor.item)(model, torch.optim.SGD(model.parameters()), x, y),
    ),
    ("the first loss: the number", _step(torch.Tensor.item, lambda scores, x, y: scores.square().mean())),
]
