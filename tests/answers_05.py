"""Answers to lesson 05's exercises, right and wrong: what tests/test_check.py tries."""

import torch
import torch.nn.functional as F
from torch import nn

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 5.1 the shift

RIGHT["5.1"] = [
    lambda rows: (rows[:, :-1], rows[:, 1:]),
    lambda rows: [rows[:, :-1].clone(), rows[:, 1:].clone()],
    lambda rows: (rows.narrow(1, 0, rows.shape[1] - 1), rows.narrow(1, 1, rows.shape[1] - 1)),
    lambda rows: torch.stack([rows[:, :-1], rows[:, 1:]]),
    lambda rows: (rows.numpy()[:, :-1], rows.numpy()[:, 1:]),
    lambda rows: (torch.stack([row[:-1] for row in rows]), torch.stack([row[1:] for row in rows])),
]
WRONG["5.1"] = [
    ("swapped", lambda rows: (rows[:, 1:], rows[:, :-1])),
    ("both are the inputs", lambda rows: (rows[:, :-1], rows[:, :-1])),
    ("both are the targets", lambda rows: (rows[:, 1:], rows[:, 1:])),
    ("nothing is shifted", lambda rows: (rows, rows)),
    ("rows are cut", lambda rows: (rows[:-1], rows[1:])),
    ("shifted by two", lambda rows: (rows[:, :-2], rows[:, 2:])),
    ("first token", lambda rows: (rows, torch.cat([rows[:, 1:], rows[:, :1]], 1))),
    ("inputs are whole", lambda rows: (rows, rows[:, 1:])),
    ("targets are whole", lambda rows: (rows[:, :-1], rows)),
    ("the wrong way", lambda rows: (rows, torch.cat([rows[:, -1:], rows[:, :-1]], 1))),
    ("-100 fills", lambda rows: (rows, torch.cat([rows[:, 1:], torch.full_like(rows[:, :1], -100)], 1))),
    ("joined first", lambda rows: (rows.reshape(-1)[:-1], rows.reshape(-1)[1:])),
    ("only the last token", lambda rows: (rows[:, :-1], rows[:, -1:])),
    ("targets alone", lambda rows: rows[:, 1:]),
    ("inputs alone", lambda rows: rows[:, :-1]),
    ("only the last token", lambda rows: (rows[:, :-1], rows[:, -1])),
    ("returns None", lambda rows: None if rows.numel() else rows),
]

# 5.2 the loss


def _picked(logp, targets):
    return logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _with_a_loop(logits, targets):
    total = 0.0
    for b, row in enumerate(targets):
        for t, token in enumerate(row):
            total -= logits[b, t].log_softmax(0)[token]
    return total / targets.numel()


RIGHT["5.2"] = [
    _with_a_loop,
    lambda logits, t: F.cross_entropy(logits.transpose(1, 2), t),
    lambda logits, t: (logits.logsumexp(-1) - _picked(logits, t)).mean(),
    lambda logits, t: -_picked(logits.log_softmax(-1), t).mean().item(),
    lambda logits, t: F.nll_loss(logits.log_softmax(-1).flatten(0, 1), t.flatten()),
]
WRONG["5.2"] = [
    ("sign is turned", lambda logits, t: _picked(logits.log_softmax(-1), t).mean()),
    ("sum over all places", lambda logits, t: -_picked(logits.log_softmax(-1), t).sum()),
    ("one loss for each place", lambda logits, t: -_picked(logits.log_softmax(-1), t)),
    ("mean probability", lambda logits, t: _picked(logits.softmax(-1), t).mean()),
    ("logarithm is taken of the mean", lambda logits, t: -_picked(logits.softmax(-1), t).mean().log()),
    ("softmax is missing", lambda logits, t: -_picked(logits, t).mean()),
    ("overflows", lambda logits, t: -_picked(logits.exp() / logits.exp().sum(-1, keepdim=True), t).log().mean()),
    ("rounds to 0", lambda logits, t: -_picked(logits.softmax(-1).log(), t).mean()),
    ("cuts off every large loss", lambda logits, t: -_picked((logits.softmax(-1) + 1e-9).log(), t).mean()),
    ("cuts off every large loss", lambda logits, t: -_picked(logits.softmax(-1).clamp(1e-12).log(), t).mean()),
    ("along the batch", lambda logits, t: -_picked(F.log_softmax(logits, dim=0), t).mean()),
    ("number of rows", lambda logits, t: -_picked(logits.log_softmax(-1), t).sum() / len(t)),
    ("whole vocabulary", lambda logits, t: -(logits.log_softmax(-1) * F.one_hot(t, logits.shape[-1])).mean()),
    ("all log-probabilities", lambda logits, t: -F.log_softmax(logits, dim=-1).mean()),
    ("each row has a loss", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean(dim=1)),
    ("perplexity", lambda logits, t: torch.exp(-_picked(logits.log_softmax(-1), t).mean())),
    ("likeliest token", lambda logits, t: -logits.log_softmax(-1).max(-1).values.mean()),
    ("entropy", lambda logits, t: torch.distributions.Categorical(logits=logits).entropy().mean()),
    ("only the first place", lambda logits, t: F.cross_entropy(logits[:, 0], t[:, 0])),
    ("base 10", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean() / 2.302585),
    ("not the right one", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean() + 1),
    ("taken twice", lambda logits, t: F.cross_entropy(logits.softmax(-1).flatten(0, 1), t.flatten())),
    ("along the places", lambda logits, t: -_picked(logits.log_softmax(1), t).mean()),
    ("base 2", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean() / torch.log(torch.tensor(2.0))),
    ("raised", lambda logits, t: F.cross_entropy(logits, t)),
]

# 5.3 perplexity

RIGHT["5.3"] = [
    lambda losses: losses.mean().exp(),
    lambda losses: torch.e ** losses.mean().item(),
    lambda losses: losses.exp().log().mean().exp(),
    lambda losses: losses.flatten().exp().pow(1 / losses.numel()).prod(),
]
WRONG["5.3"] = [
    ("exponentials are averaged", lambda losses: losses.exp().mean()),
    ("base is 2", lambda losses: 2 ** losses.mean()),
    ("summed", lambda losses: losses.sum().exp()),
    ("sign is turned", lambda losses: (-losses.mean()).exp()),
    ("mean loss", lambda losses: losses.mean()),
    ("one number for each place", lambda losses: losses.exp()),
    ("each row", lambda losses: losses.mean(-1).exp()),
    ("base is 10", lambda losses: 10 ** losses.mean()),
    ("exponentials are summed", lambda losses: losses.exp().sum()),
    ("number of rows", lambda losses: torch.exp(losses.sum() / len(losses))),
    ("those are averaged", lambda losses: losses.mean(dim=-1).exp().mean()),
    ("largest loss", lambda losses: losses.max().exp()),
    ("whole number", lambda losses: round(losses.mean().exp().item())),
    ("median", lambda losses: losses.median().exp()),
]


# 5.4 one step


def _step(loss=lambda scores, x, y: F.cross_entropy(scores.flatten(0, 1), y.flatten()), zero=True, **left_out):
    def step(model, optimizer, inputs, targets):
        value = loss(model(inputs), inputs, targets)
        if zero:
            optimizer.zero_grad()
        if left_out.get("backward", True):
            (value * left_out.get("sign", 1)).backward()
        if left_out.get("step", True):
            optimizer.step()
        return left_out.get("returns", torch.Tensor.item)(value)

    return step


def _with_autograd(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).transpose(1, 2), targets, ignore_index=-100)
    for parameter, gradient in zip(
        model.parameters(), torch.autograd.grad(loss, list(model.parameters())), strict=True
    ):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


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


def _divided_by_all(model, optimizer, inputs, targets):
    losses = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="none")
    loss = losses.mean()
    optimizer.zero_grad()
    loss.backward()
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


RIGHT["5.4"] = [_step(), _with_autograd, _zero_at_the_end, _masked_by_hand]
WRONG["5.4"] = [
    ("still there and add up", _step(zero=False)),
    ("no step", _step(step=False)),
    ("nothing went backward", _step(backward=False)),
    ("cleared after backward", _cleared_late),
    ("before backward", _stepped_early),
    ("divided by all places", _divided_by_all),
    ("keeps the whole computation", _step(returns=lambda value: value)),
    ("shifted a second time", _step(lambda s, x, y: F.cross_entropy(s[:, :-1].flatten(0, 1), y[:, 1:].flatten()))),
    ("token that it reads", _step(lambda s, x, y: F.cross_entropy(s.flatten(0, 1), x.flatten()))),
    ("-100 are counted", _step(lambda s, x, y: F.cross_entropy(s.flatten(0, 1), y.clamp(min=0).flatten()))),
    ("summed", _step(lambda s, x, y: F.cross_entropy(s.flatten(0, 1), y.flatten(), reduction="sum"))),
    ("going up", _step(sign=-1)),
    ("returns None", _step(returns=lambda value: None)),
    ("each row, averaged", _step(lambda s, x, y: torch.stack(list(map(F.cross_entropy, s, y))).mean())),
    ("which takes one itself", _step(lambda s, x, y: F.cross_entropy(s.softmax(-1).transpose(1, 2), y))),
    ("last place of each row", _step(lambda s, x, y: F.cross_entropy(s[:, -1, :], y[:, -1], ignore_index=-100))),
    ("in another order", _step(lambda s, x, y: F.cross_entropy(s.transpose(0, 1).reshape(-1, 6), y.reshape(-1)))),
    ("shifted back", _step(lambda s, x, y: F.cross_entropy(s[:, 1:].flatten(0, 1), y[:, :-1].flatten()))),
    ("two steps", lambda *case: (_step()(*case), _step()(*case))[0]),
    ("is rounded", _step(returns=lambda value: round(value.item(), 2))),
    ("is the perplexity", _step(returns=lambda value: value.exp().item())),
    ("sign is turned", _step(returns=lambda value: -value.item())),
    ("the loss is not", _step(returns=lambda value: 2 * value.item())),
    ("raised", _step(lambda s, x, y: F.cross_entropy(s, y))),
    ("plain training step", _step(lambda s, x, y: F.cross_entropy(s.flatten(0, 1), y.flatten(), label_smoothing=0.1))),
]

# 5.5 the four loops

_TRUE = {"A": "double shift", "B": "no zero_grad", "C": "loss on padding", "D": "no shift"}

RIGHT["5.5"] = [lambda: dict(_TRUE), lambda: dict(reversed(_TRUE.items()))]
WRONG["5.5"] = [
    ("loop A has another", lambda: _TRUE | {"A": "no shift"}),
    ("loop B has another", lambda: _TRUE | {"B": "double shift"}),
    ("loop C has another", lambda: _TRUE | {"C": "no shift"}),
    ("loop D has another", lambda: _TRUE | {"D": "double shift"}),
    ("none of the four names", lambda: _TRUE | {"D": "too short"}),
    ("four keys", lambda: {"A": "double shift"}),
    ("four keys", lambda: list(_TRUE.values())),
]
