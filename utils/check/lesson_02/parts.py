"""What the checks of lesson 02 hand to a student's function: random tensors, and functions that say what they do."""

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True, repr=False)
class Function:
    """A function of one tensor; in a verdict it stands as its name and what it does, such as "ln_f(x) = 2 x"."""

    says: str
    work: Callable

    def __call__(self, x):
        return Formula(f"{self.says.split('(')[0]}({x})") if isinstance(x, Formula) else self.work(x)

    def __repr__(self):
        return self.says

    def varied(self):
        """Another function, by which a check sees whether this one is used at all."""
        return Function(self.says, lambda x: 1.5 * self.work(x) + 0.25)


@dataclass(frozen=True, repr=False)
class Formula:
    """What is computed, in words: it stands in place of a tensor, to be added up and given to a Function."""

    text: str

    def __add__(self, other):
        return Formula(f"{self} + {other}")

    def __repr__(self):
        return self.text


def normal(*shape, seed):
    """Random numbers of this shape, the same for one seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))
