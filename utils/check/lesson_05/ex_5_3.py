"""Exercise 5.3: perplexity. answer(losses, one for each token) -> one number."""

import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise


def _cases():
    return [
        (torch.tensor([1.0, 3.0]),),
        (torch.tensor([[0.5, 2.0, 1.0], [5.0, 0.1, 3.0]]),),
        (torch.linspace(0, 6, 1009) ** 2 / 5,),  # so many that the product of their exponentials overflows
    ]


EXERCISE = Exercise(
    target="An example: losses of ln 4 at every position give a perplexity of 4.",
    probe=Cases(
        _cases,
        right=lambda losses: losses.mean().exp(),
        mistakes={
            "the exponential comes last, once: average the losses first.": (
                lambda losses: losses.exp().mean(),
                *(lambda losses: losses.logsumexp(0), lambda losses: losses.logsumexp(-1)),
            ),
            "each token has a number of its own; average the losses first.": lambda losses: losses.exp(),
            "the base is another number than e; losses in nats need all its digits, which `torch.exp` knows.": tuple(
                lambda losses, base=base: base ** losses.mean() for base in (2, 10, 2.7, 2.71, 2.718, 2.72)
            ),
            "right for few tokens; for many the sum or product of the exponentials overflows. Average the losses, "
            "and take one exponential.": lambda losses: losses.exp().prod() ** (1 / losses.numel()),
        },
    ),
    meaning="a perplexity of k means that the model is as unsure as one choosing among k equally likely tokens.",
    hints=("Average first.", "Then undo the logarithm in the loss."),
)
