"""From the course's GPT to a Llama of its size, one change at a time, and what each does to the loss."""

import json

import torch
from torch import nn

from utils.experiments.stories import toy_stories
from utils.llama import Llama, LlamaConfig
from utils.model import GPT
from utils.pretrained import COURSE_MODEL, DATA, TINY_LLAMA
from utils.toy_language import ToyLanguage
from utils.training import train

MEASUREMENTS = DATA / "llama_steps.json"
STEPS = ("GPT", "RMSNorm", "no biases", "rotary positions", "SwiGLU", "shared keys and values")
RUNS, SEEDS = (300, 1_000), (0, 1, 2)


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


def measure(step, steps, seed) -> float:
    """Train the model after a change on the toy language -> its held-out loss divided by the entropy floor."""
    rows, valid_rows, logprobs = toy_stories()
    with torch.random.fork_rng(devices=[]):  # leave the caller's random numbers alone
        torch.manual_seed(seed)
        model = after(step)
    history = train(model, rows, steps, seed=seed, valid_rows=valid_rows, valid_every=steps, progress=False)
    return history.valid_loss[-1] / ToyLanguage().entropy_floor(logprobs)


def shipped() -> dict[str, dict[int, list[float]]]:
    """The measurements in utils/data/llama_steps.json: change -> number of training steps -> a ratio for each seed."""
    found = json.loads(MEASUREMENTS.read_text(encoding="utf-8"))
    return {step: {int(steps): ratios for steps, ratios in of_step.items()} for step, of_step in found.items()}
