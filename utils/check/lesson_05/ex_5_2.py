"""Exercise 5.2: the loss by hand. answer(logits (B, T, V), targets (B, T)) -> one number, in nats."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _random(*shape):
    generator = torch.Generator().manual_seed(2)
    return 2 * torch.randn(shape, generator=generator), torch.randint(shape[-1], shape[:2], generator=generator)


def _cases():
    return [
        (torch.tensor([[[0.0, 0.0]]]), torch.tensor([[1]])),
        (torch.tensor([[[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]]), torch.tensor([[0, 2]])),
        _random(2, 4, 7),
        (torch.tensor([[[1000.0, 0.0, 999.0], [0.0, 2.0, 1.0]]]), torch.tensor([[2, 0]])),
        (torch.tensor([[[1000.0, 0.0, 999.0]]]), torch.tensor([[1]])),
        _random(3, 400, 5),  # so many that the product of their probabilities rounds to 0
    ]


def _loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _chosen(values, targets):
    return values.gather(-1, targets[..., None])[..., 0]


def _unsafe(logits, targets):
    return (logits.exp().sum(-1).log() - _chosen(logits, targets)).mean()


EXERCISE = Exercise(
    target="An example: two equal scores, whichever is the target, give ln 2 = 0.6931.",
    probe=Cases(
        _cases,
        right=_loss,
        mistakes={
            "this is the mean probability of the targets; the loss is minus the mean of its logarithm.": (
                lambda logits, t: _chosen(logits.softmax(-1), t).mean()
            ),
            "the logarithm is taken of the mean probability; take the mean of the logarithms.": (
                lambda logits, t: -_chosen(logits.softmax(-1), t).mean().log()
            ),
            "this is the mean score of the targets, turned; the softmax is missing.": (
                lambda logits, t: -_chosen(logits, t).mean()
            ),
            "right for small scores; with scores around 1000 the exponential overflows: use log_softmax.": (
                lambda logits, t: -_chosen(logits.exp() / logits.exp().sum(-1, keepdim=True), t).log().mean(),
                _unsafe,
            ),
            "the highest score of all is taken off; each position has a highest of its own.": (
                lambda logits, t: _unsafe(logits - logits.max(), t)
            ),
            "a probability that rounds to 0 has no logarithm: take log_softmax, not the log of a softmax.": (
                lambda logits, t: -_chosen(logits.softmax(-1).log(), t).mean()
            ),
            "the probabilities of many tokens are multiplied, and the product rounds to 0; add logarithms instead.": (
                lambda logits, t: -_chosen(logits.softmax(-1), t).prod().log() / t.numel()
            ),
            "a small number keeps the probability from 0, and cuts off every large loss: take log_softmax.": tuple(
                lambda logits, t, digits=digits: -_chosen((logits.softmax(-1) + 10**-digits).log(), t).mean()
                for digits in (5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 15.0, 20.0, 30.0)
            ),
            "this is a sum, or a sum divided by the number of rows; divide by the number of positions in them.": (
                lambda logits, t: _loss(logits, t) * t.numel(),
                lambda logits, t: _loss(logits, t) * t.shape[1],
            ),
            "the softmax runs along the batch, as it does without `dim`; it belongs along the vocabulary.": (
                lambda logits, t: -_chosen(logits.log_softmax(0), t).mean()
            ),
            "the mean runs over the whole vocabulary; only the target of each position counts.": (
                lambda logits, t: _loss(logits, t) / logits.shape[-1]
            ),
        },
    ),
    meaning="making this number small and making the text likely are one and the same wish.",
    hints=(
        "First turn the scores into log-probabilities, along the vocabulary; PyTorch has `log_softmax`, which is safe.",
        "At each position only one of them counts, that of the target: `gather` picks it along the last dimension.",
        "What is left is a mean and a sign.",
    ),
    without=("cross_entropy", "CrossEntropyLoss"),
)
