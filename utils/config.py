"""What the configurations of all models have in common: their sizes, checked when they are given."""

import math

from utils import validate


class ModelConfig:
    """The part of a configuration that every model of the course has; GPTConfig and LlamaConfig derive from it.

    Whoever is given one can ask `build()` for the model and `part_counts()` for its parameters, without asking which
    of the two it is.
    """

    def check_sizes(self, *more):
        """The sizes must be whole numbers from 1, those named in `more` too, and n_embd must divide by n_head."""
        for name in ("vocab_size", "n_ctx", "n_embd", "n_layer", "n_head", *more):
            size = validate.whole_number(name, getattr(self, name))
            object.__setattr__(self, name, size)  # an int in place of NumPy's, which can overflow
        validate.divides(self.n_embd, self.n_head, self.n_layer)
        validate.flag("tied", self.tied)

    def check_positive(self, name, allowed):
        """The number under this name must be above 0 and finite; `allowed` says in words what it may be."""
        value = getattr(self, name)
        validate.number(name, value, allowed)
        if not 0 < value < math.inf:
            raise ValueError(f"{name}={value} must be above 0 and finite; give {allowed}.")

    @property
    def d_head(self) -> int:
        """Width of one head: d / H."""
        return self.n_embd // self.n_head

    def build(self):
        """The model with these sizes and fresh weights."""
        raise NotImplementedError

    def part_counts(self) -> tuple[int, ...]:
        """Parameters of each part, from a formula: token table, position table, attention, mlp, norms of the blocks,
        final norm, head (0 if it is tied)."""
        raise NotImplementedError
