"""From the course's GPT to a Llama of its size, one change at a time, and what each does to the loss."""

from torch import nn

from utils.llama import Llama, LlamaConfig
from utils.model import GPT
from utils.pretrained import COURSE_MODEL

# SwiGLU has three matrices where the MLP has two: 8/3 d instead of 4 d, rounded up to a multiple of 4
TINY_LLAMA = LlamaConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4, n_kv_head=2, n_inner=172)
STEPS = ("GPT", "RMSNorm", "no biases", "rotary positions", "SwiGLU", "shared keys and values")


def after(step) -> nn.Module:
    """A fresh model with the changes up to `step`, one of STEPS; weights from PyTorch's default generator."""
    done = STEPS.index(step)
    if done < STEPS.index("rotary positions"):
        model = GPT(COURSE_MODEL)
        if done >= STEPS.index("RMSNorm"):
            _replace(model, nn.LayerNorm, lambda norm: nn.RMSNorm(norm.normalized_shape, eps=norm.eps))
        if done >= STEPS.index("no biases"):
            for part in model.modules():
                if isinstance(part, nn.Linear):
                    part.bias = None
        return model
    kept = TINY_LLAMA.n_kv_head if done == len(STEPS) - 1 else TINY_LLAMA.n_head
    model = Llama(LlamaConfig(**{**vars(TINY_LLAMA), "n_kv_head": kept}))
    if done < STEPS.index("SwiGLU"):
        for block, other in zip(model.h, after("no biases").h, strict=True):
            block.mlp = other.mlp
    return model


def _replace(model, kind, make):
    """Put make(part) in the place of each part of a kind."""
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, kind):
                setattr(parent, name, make(part))
