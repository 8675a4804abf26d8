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


def _p(logits, targets):
    return _chosen(logits.softmax(-1), targets)


EXERCISE = Exercise(
    target="An example: two equal scores, whichever is the target, give ln 2 = 0.6931.",
    probe=Cases(
        _cases,
        right=_loss,
        mistakes={
            "this is minus the mean score of the targets; the softmax is missing.": lambda x, t: -_chosen(x, t).mean(),
            "a probability that rounds to 0 has no logarithm: take log_softmax.": lambda x, t: -_p(x, t).log().mean(),
            "the highest score of the whole batch is taken off, and a position far below it is left with zeros; "
            "each has a highest of its own, which log_softmax knows.": (
                lambda x, t: ((x - x.max()).exp().sum(-1).log() + x.max() - _chosen(x, t)).mean()
            ),
            "such an index pairs each position with all targets; `gather` picks each one's own.": (
                lambda x, t: -x.log_softmax(-1)[:, :, t].mean()
            ),
            "the probabilities of many tokens are multiplied, and the product rounds to 0; add logarithms instead.": (
                lambda x, t: -_p(x, t).prod().log() / t.numel()
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
