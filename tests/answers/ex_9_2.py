"""Answers to exercise 9.2: pairs turned by their angles."""

import numpy as np
import torch


def _rotated(x, angles):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def _as_in_transformers(x, angles):
    twice = torch.cat([angles, angles], dim=-1)
    a, b = x.chunk(2, dim=-1)
    return x * twice.cos() + torch.cat([-b, a], dim=-1) * twice.sin()


def _as_complex_numbers(x, angles):
    a, b = x.double().chunk(2, dim=-1)
    turned = torch.complex(a, b) * torch.exp(1j * angles.double())
    return torch.cat([turned.real, turned.imag], dim=-1)


def _pair_by_pair(x, angles):
    result, half = np.empty(x.shape), x.shape[-1] // 2
    for t in range(angles.shape[0]):
        for i in range(half):
            c, s = np.cos(angles[t, i].item()), np.sin(angles[t, i].item())
            a, b = x[..., t, i].numpy(), x[..., t, i + half].numpy()
            result[..., t, i], result[..., t, i + half] = c * a - s * b, s * a + c * b
    return result


def _in_place(x, angles):
    a, b = x.chunk(2, dim=-1)
    a *= angles.cos()
    return torch.cat([a, b], dim=-1)


def _plus(x, angles):
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * sin], dim=-1)


RIGHT = [_rotated, _as_in_transformers, _as_complex_numbers, _pair_by_pair, lambda *case: _rotated(*case).tolist()]
WRONG = [
    (
        "neighbours are turned together",
        lambda x, angles: torch.view_as_real(
            torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones(1), angles)
        ).flatten(-2),
    ),
    ("one half is left", lambda x, angles: torch.cat([_rotated(x, angles).chunk(2, -1)[0], x.chunk(2, -1)[1]], -1)),
    ("`angles` is not used", lambda x, angles: x),
    ("`x` in place", _in_place),
    ("look    line 4", _plus),
]
