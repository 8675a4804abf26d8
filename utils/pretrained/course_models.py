"""The course's own trained models, shipped in utils/data/."""

from pathlib import Path

import torch

from utils.checkpoint import load_model
from utils.llama import Llama, LlamaConfig
from utils.model import GPT, GPTConfig

DATA = Path(__file__).resolve().parents[1] / "data"
COURSE_MODEL = GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)
# about the course model's size: SwiGLU has three matrices where the MLP has two, so 8/3 d, up to a multiple of 4
TINY_LLAMA = LlamaConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4, n_kv_head=2, n_inner=172)
STAGES = ("untrained", "before_copying", "after_copying", "trained")


def load_toy_gpt(stage: str = "trained") -> GPT:
    """The course model at one stage of its training on the toy language, in eval mode.

    stage: "untrained" (fresh weights of seed 0), "before_copying", "after_copying" (the same run, just before and
    just after it learns to repeat names and objects), "trained" (within 2 % of the language's entropy floor).
    Raises ValueError for another stage.
    """
    if stage not in STAGES:
        raise ValueError(f"stage={stage!r} is not known; choose one of {', '.join(map(repr, STAGES))}.")
    if stage == "untrained":
        with torch.random.fork_rng(devices=[]):  # leave the caller's random numbers alone
            torch.manual_seed(0)
            return GPT(COURSE_MODEL).eval()
    return load_model(DATA / f"toy_gpt_{stage}.safetensors")


def load_names_gpt() -> GPT:
    """A small GPT trained on first names, letter by letter (utils.text.names), in eval mode."""
    return load_model(DATA / "names_gpt.safetensors")


def load_toy_llama() -> Llama:
    """A Llama of about the course model's size, trained on the toy language (within 2 % of its floor), in eval mode."""
    return load_model(DATA / "toy_llama.safetensors")
