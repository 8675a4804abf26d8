"""Answers to exercise 9.1: RMSNorm."""

import numpy as np
import torch
import torch.nn.functional as F


def _rms_norm(x, weight, eps):
    mean_square = (x**2).mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_square + eps) * weight


def _in_numpy(x, weight, eps):
    x, weight = x.double().numpy(), weight.double().numpy()
    return weight * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def _by_its_length(x, weight, eps):
    d = x.shape[-1]
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return weight * x / torch.sqrt(length**2 / d + eps)


def _over_the_tokens(x, weight, eps):
    mean_square = (x**2).mean(dim=0, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * weight


def _minus_eps(x, weight, eps):
    mean_square = (x**2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square - eps) * weight


def _cubes(x, weight, eps):
    mean_square = (x**3).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * weight


RIGHT = [
    _rms_norm,
    _in_numpy,
    _by_its_length,
    lambda x, weight, eps: F.rms_norm(x, weight.shape, weight, eps),
    lambda x, weight, eps: _rms_norm(x.double(), weight.double(), eps).tolist(),
]
WRONG = [
    (
        "the mean is subtracted",
        lambda x, w, eps: (x - x.mean(-1, True)) / (x.var(-1, False, keepdim=True) + eps) ** 0.5 * w,
    ),
    ("the root of the *mean*", lambda x, w, eps: x / torch.sqrt((x * x).sum(-1, keepdim=True) + eps) * w),
    ("it belongs under it", lambda x, w, eps: w * x / (torch.sqrt((x**2).mean(-1, keepdim=True)) + eps)),
    ("`eps` is not used", lambda x, w, eps: w * x / torch.sqrt((x**2).mean(-1, keepdim=True))),
    ("`weight` is not used", lambda x, weight, eps: _rms_norm(x, torch.ones_like(x), eps)),
    ("dimension 0 of `x` is larger than 1", lambda x, w, eps: x / torch.sqrt((x**2).mean(-1) + eps) * w),
    ("runs over several vectors", _over_the_tokens),
    ("look    line 3", _minus_eps),
    ("look    line 2", _cubes),
    ("`x` in place", lambda x, w, eps: x.mul_(_rms_norm(x, w, eps) / x)),
]
