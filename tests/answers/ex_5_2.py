"""Answers to exercise 5.2: the loss by hand."""

import torch
import torch.nn.functional as F


def _picked(logp, targets):
    return logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _with_a_loop(logits, targets):
    total = 0.0
    for b, row in enumerate(targets):
        logp = logits[b].log_softmax(-1)
        total -= sum(logp[t, token] for t, token in enumerate(row))
    return total / targets.numel()


def _one_hot(logits, targets):
    chosen = F.one_hot(targets, logits.shape[-1]) * logits.double().log_softmax(-1)
    return -chosen.sum((1, 2)).mean().numpy() / targets.shape[1]


def _sums(logits, targets):
    logp = F.log_softmax(logits, dim=-1)
    picked = torch.gather(logp, -1, targets.unsqueeze(-1))
    return -picked.sum()


def _forgets_the_mean(logits, targets):
    logp = F.log_softmax(logits, dim=-1)
    picked = torch.gather(logp, -1, targets.unsqueeze(-1))
    return -picked


def _along_the_positions(logits, targets):
    logp = F.log_softmax(logits, dim=1)
    picked = torch.gather(logp, -1, targets.unsqueeze(-1))
    return -picked.mean()


def _base_two(logits, targets):
    scores = torch.gather(logits, -1, targets.unsqueeze(-1)).squeeze(-1)
    logp = scores - torch.logsumexp(logits, dim=-1)
    return -logp.mean() / torch.log(torch.tensor(2.0))


RIGHT = [
    _with_a_loop,
    _one_hot,
    lambda logits, t: (logits.logsumexp(-1) - _picked(logits, t)).mean(),
    lambda logits, t: -_picked(logits.log_softmax(-1), t).mean().item(),
    lambda logits, t: F.nll_loss(logits.log_softmax(-1).flatten(0, 1), t.flatten()),
]
WRONG = [
    ("this is a sum", _sums),
    ("line 4, `return -picked`", _forgets_the_mean),
    ("look    line 2", _along_the_positions),
    ("look    line 4", _base_two),
    ("it comes from `cross_entropy`", lambda logits, t: F.cross_entropy(logits.transpose(1, 2), t)),
    ("is not used", lambda logits, targets: -F.log_softmax(logits, dim=-1).mean()),
    ("product rounds to 0", lambda x, t: -torch.log(_picked(x.softmax(-1), t).flatten().prod()) / t.numel()),
    ("not the right one", lambda logits, t: -_picked(logits.log_softmax(-1), t).mean() + 1),
    ("raised", lambda logits, t: F.nll_loss(logits.log_softmax(-1), t)),
]
