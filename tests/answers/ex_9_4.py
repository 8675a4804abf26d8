"""Answers to exercise 9.4: SwiGLU."""

import numpy as np
import torch
import torch.nn.functional as F


def _swiglu(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def _by_hand(x, gate, up, down):
    gated = x @ gate.T
    hidden = gated / (1 + torch.exp(-gated)) * (x @ up.mT)
    return hidden @ down.mT


def _in_numpy(x, gate, up, down):
    x, gate, up, down = (part.double().numpy() for part in (x, gate, up, down))
    gated = np.einsum("...d,fd->...f", x, gate)
    return np.einsum("...f,df->...d", gated / (1 + np.exp(-gated)) * (x @ up.T), down)


def _at_once(x, gate, up, down):
    gated, raised = (x @ torch.cat([gate, up]).T).chunk(2, dim=-1)
    return (F.silu(gated) * raised @ down.T).tolist()


def _divides(x, gate, up, down):
    hidden = F.silu(x @ gate.T)
    return (hidden / (x @ up.T)) @ down.T


def _gate_twice(x, gate, up, down):
    bent = F.silu(x @ gate.T)
    raised = x @ gate.T
    return (bent * raised) @ down.T


def _not_turned(x, gate, up, down):
    hidden = F.silu(x @ gate.T) * (x @ up)
    return hidden @ down.T


RIGHT = [_swiglu, _by_hand, _in_numpy, _at_once]
WRONG = [
    ("SiLU bends the wrong branch", lambda x, gate, up, down: _swiglu(x, up, gate, down)),
    ("another function", lambda x, gate, up, down: (F.gelu(x @ gate.T) * (x @ up.T)) @ down.T),
    ("another function", lambda x, gate, up, down: (F.linear(x, gate).sigmoid() * F.linear(x, up)) @ down.T),
    ("nothing bends the gate", lambda x, gate, up, down: ((x @ gate.T) * (x @ up.T)) @ down.T),
    ("`up` is not used", lambda x, gate, up, down: F.silu(x @ gate.T) @ down.T),
    ("`gate` is not used", lambda x, gate, up, down: F.silu(x @ up.T) @ down.T),
    ("`down` is not used", lambda x, gate, up, down: F.silu(x @ gate.T) * (x @ up.T)),
    ("look    line 3", _divides),
    ("`up` is not used", _gate_twice),
    ("look    line 2", _not_turned),
]
