"""The products of training by oneDNN: the same numbers, but for rounding, in about half the time on many processors.

PyTorch multiplies float32 matrices on a CPU by MKL, which is slow on processors that are not Intel's. oneDNN, which
comes with PyTorch too, is fast on all.
"""

import platform
from contextlib import contextmanager
from functools import partial

import torch
from torch import nn


class _Product(torch.autograd.Function):
    """x (..., i), weight (o, i), bias (o,) or None -> x weight^T + bias (..., o), and its gradients."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return _times(x, weight, bias)

    @staticmethod
    def backward(ctx, grad):
        (x, weight), (for_x, for_weight, for_bias) = ctx.saved_tensors, ctx.needs_input_grad
        flat = grad.reshape(-1, len(weight))  # (N, o)
        return (
            _times(grad, weight.t()) if for_x else None,
            _times(flat.t(), x.reshape(-1, weight.shape[1]).t()) if for_weight else None,
            flat.sum(0) if for_bias else None,
        )


def _times(x, weight, bias=None):
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _multiply(part, x):
    return _Product.apply(x, part.weight, part.bias)


@contextmanager
def by_onednn(model):
    """`with by_onednn(model):` the model's nn.Linear multiply by oneDNN, if they are float32 and this machine can.

    A compiled model is left alone: it makes products of its own.
    """
    parts = [part for part in model.modules() if type(part) is nn.Linear] if _usable(model) else []
    for part in parts:
        part.forward = partial(_multiply, part)
    try:
        yield
    finally:
        for part in parts:
            del part.forward


def _usable(model):
    compiled = hasattr(model, "_orig_mod") or model._compiled_call_impl is not None
    here = platform.machine() in ("x86_64", "AMD64") and torch.backends.mkldnn.is_available()
    plain = all(p.dtype == torch.float32 and p.device.type == "cpu" for p in model.parameters())
    return here and plain and not compiled
