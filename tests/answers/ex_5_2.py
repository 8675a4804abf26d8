"""Answers to exercise 5.2: the loss by hand."""

import torch
import torch.nn.functional as F


def _picked(logp, targets):
    return logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _one_hot(logits, targets):
    chosen = F.one_hot(targets, logits.shape[-1]) * logits.double().log_softmax(-1)
    return -chosen.sum((1, 2)).mean().numpy() / targets.shape[1]


def _forgets_the_mean(logits, targets):
    logp = F.log_softmax(logits, dim=-1)
    picked = torch.gather(logp, -1, targets.unsqueeze(-1))
    return -picked


def _along_the_positions(logits, targets):
    logp = F.log_softmax(logits, dim=1)
    picked = torch.gather(logp, -1, targets.unsqueeze(-1))
    return -picked.mean()


RIGHT = [
    _one_hot,
    lambda logits, t: (logits.logsumexp(-1) - _picked(logits, t)).mean(),
    lambda logits, t: -_picked(logits.log_softmax(-1), t).mean().item(),
    lambda logits, t: F.nll_loss(logits.log_softmax(-1).flatten(0, 1), t.flatten()),
]
WRONG = [
    ("line 4, `return -picked`", _forgets_the_mean),
    ("look    line 2", _along_the_positions),
    ("it comes from `cross_entropy`", lambda logits, t: F.cross_entropy(logits.transpose(1, 2), t)),
    ("is not used", lambda logits, targets: -F.log_softmax(logits, dim=-1).mean()),
    ("product rounds to 0", lambda x, t: -torch.log(_picked(x.softmax(-1), t).flatten().prod()) / t.numel()),
    ("1 too much", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean() + 1),
]
