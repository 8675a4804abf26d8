"""Exercise 9.4: SwiGLU. answer(x (..., d), gate (d_ff, d), up (d_ff, d), down (d, d_ff)) -> (..., d)."""

import torch
import torch.nn.functional as F

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_02.parts import normal


def _cases():
    eye = torch.eye(2)
    small = torch.tensor([1.0, 2.0]), eye, torch.tensor([[0.0, 3.0], [1.0, 0.0]]), eye
    sizes = ((4,), 6), ((3,), 3), ((1, 1, 4), 3), ((2, 4), 5), ((3, 3), 3), ((2, 3, 4), 6), ((2, 3, 2), 3)
    random = [(normal(*shape, seed=1), *_matrices(shape[-1], d_ff)) for shape, d_ff in sizes]
    return [small, *random]


def _matrices(d, d_ff):
    shapes = (d_ff, d), (d_ff, d), (d, d_ff)
    return [normal(*shape, seed=seed) for seed, shape in enumerate(shapes, 2)]


def _swiglu(x, gate, up, down, joined=lambda g, u: F.silu(g) * u):
    return joined(x @ gate.T, x @ up.T) @ down.T


def _joined(*ways):
    """The function with other ways to make one of the two branches, one function for each."""
    return tuple(lambda *case, joined=joined: _swiglu(*case, joined=joined) for joined in ways)


_MISTAKES = {
    "SiLU bends the wrong branch, or gate and up are swapped: it bends what comes from `gate`.": _joined(
        lambda g, u: g * F.silu(u)
    ),
    "another function stands in place of SiLU, which is a number times its own sigmoid.": _joined(
        *(lambda g, u, bend=bend: bend(g) * u for bend in (F.gelu, torch.sigmoid, F.relu, torch.tanh, F.softplus)),
        *(lambda g, u: F.gelu(g, approximate="tanh") * u, lambda g, u: g * torch.sigmoid(1.702 * g) * u),
        lambda g, u: F.softmax(g, -1) * u,
    ),
    "nothing bends the gate, and two straight branches stay; SiLU is missing.": _joined(lambda g, u: g * u),
    "the sigmoid is taken of what comes from `up`; SiLU is the gate times the gate's own sigmoid.": _joined(
        *(lambda g, u: g * torch.sigmoid(u), lambda g, u: g * torch.sigmoid(g) * g * u)
    ),
    "a matrix is not turned: nn.Linear stores (out, in), and multiplies with it turned.": (
        lambda x, gate, up, down: _swiglu(x, gate.T, up.T, down.T)
    ),
    "SiLU comes at the end; it bends what comes from `gate`, and `down` comes last.": (
        lambda *case: F.silu(_swiglu(*case, joined=torch.mul))
    ),
    "a matrix is reshaped, which deals its numbers out anew; turn it.": (
        lambda x, *m: _swiglu(x, *(each.reshape(each.shape[::-1]).T for each in m)),
        lambda x, g, u, down: _swiglu(x, g, u, down.reshape(down.shape[::-1]).T),
    ),
    "one branch goes into the other; both of them read x.": (
        lambda x, gate, up, down: F.silu(x @ gate.T @ down.T @ up.T) @ down.T,
        lambda x, gate, up, down: F.silu(x @ gate.T) @ down.T @ up.T @ down.T,
    ),
}

EXERCISE = Exercise(
    target="An example: x = [1, 2], up = [[0, 3], [1, 0]], and gate and down that change nothing, [[1, 0], [0, 1]], "
    "give [4.3864, 1.7616].",
    probe=Cases(_cases, right=_swiglu, mistakes=_MISTAKES),
    meaning="one branch says what there is, the other how much of it passes, and the token itself sets both.",
    hints=(
        "Two matrices take x to the width d_ff, each on its own way. One of the two results is bent.",
        "SiLU of a number is the number times its sigmoid; `F.silu` does it.",
        "The two results are multiplied number by number, and `down` takes the product back to the width d.",
    ),
)
