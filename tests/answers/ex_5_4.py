"""Answers to exercise 5.4: one training step."""

import torch
import torch.nn.functional as F
from torch import nn


def _step(loss=lambda scores, x, y: F.cross_entropy(scores.flatten(0, 1), y.flatten()), made=torch.Tensor.item):
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


def _zero_at_the_end(model, optimizer, inputs, targets):
    loss = nn.CrossEntropyLoss()(model(inputs).reshape(-1, 6), targets.reshape(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return float(loss)


def _masked_by_hand(model, optimizer, inputs, targets):
    counted = targets != -100
    loss = F.cross_entropy(model(inputs)[counted], targets[counted])
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def _cleared_late(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def _stepped_early(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    optimizer.step()
    loss.backward()
    return loss.item()


def _summed(model, optimizer, inputs, targets):
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def _uphill(model, optimizer, inputs, targets):
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    (-loss).backward()
    optimizer.step()
    return loss.item()


def _shifted_back(model, optimizer, inputs, targets):
    scores = model(inputs)[:, 1:]
    loss = F.cross_entropy(scores.flatten(0, 1), targets[:, :-1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


RIGHT = [_step(), _with_autograd, _zero_at_the_end, _masked_by_hand]
WRONG = [
    ("cleared after backward", _cleared_late),
    ("before backward", _stepped_early),
    ("look    line 3", _summed),
    ("look    line 5", _uphill),
    ("plain training step", _shifted_back),
    ("keeps the whole computation", _step(made=lambda value: value)),
    ("returns None", _step(made=lambda value: None)),
    ("the loss is not.", _step(made=lambda value: 2 * value.item())),
    ("raised", _step(lambda scores, x, y: F.cross_entropy(scores, y))),
    ("plain training step", lambda *case: (_step()(*case), _step()(*case))[0]),
]
