"""Milliseconds per training step, ours beside others' GPT-2: `python tests/benchmarks/training_step.py`.

A step is forward, backward and AdamW. The others are transformers' model, and a plain one in nanoGPT's manner with its
AdamW. All have the same shape and batch, none has dropout, and they take turns in one run, so that a busy moment hits
all. With --cpu the processor's time is measured, which other processes disturb less. Nothing is asserted: times
depend on the machine.
"""

import argparse
import datetime
import itertools
import os
import statistics
import time
from contextlib import nullcontext

import torch
import torch.nn.functional as F
import transformers
from plain_gpt import PlainGPT, plain_adamw
from transformers import GPT2Config, GPT2LMHeadModel

from utils.model import GPT, GPTConfig
from utils.pretrained import COURSE_MODEL
from utils.products import by_onednn
from utils.training import make_optimizer

BATCH, WARM_UP = 32, 3
SHAPES = {"course model": COURSE_MODEL, "letters": GPTConfig(65, n_ctx=128, n_embd=128, n_layer=4, n_head=4)}


def theirs(config):
    """transformers' GPT-2 of the same shape, without dropout."""
    sizes = {"vocab_size": config.vocab_size, "n_positions": config.n_ctx, "n_embd": config.n_embd}
    layers = {"n_layer": config.n_layer, "n_head": config.n_head, "bos_token_id": 0, "eos_token_id": 0}
    dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **layers, **dropout, use_cache=False)).train()


def step(logits_of, optimizer, rows, clock=time.perf_counter):
    """Make one training step -> milliseconds of forward, backward and AdamW."""
    moments = [clock()]
    loss = F.cross_entropy(logits_of(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    moments.append(clock())
    optimizer.zero_grad()
    loss.backward()
    moments.append(clock())
    optimizer.step()
    moments.append(clock())
    return [1000 * (end - start) for start, end in itertools.pairwise(moments)]


def measure(config, steps, clock):
    """-> for ours and the others, the median milliseconds of forward, backward, AdamW and the whole step."""
    ours, other, plain = GPT(config).train(), theirs(config), PlainGPT(config)
    turns = {
        "ours": (ours, make_optimizer(ours, 3e-3)),
        "plain": (plain, plain_adamw(plain)),
        "transformers": (lambda ids: other(ids).logits, torch.optim.AdamW(other.parameters(), lr=3e-3)),
    }
    rows = torch.randint(config.vocab_size, (BATCH, config.n_ctx + 1))  # (B, T + 1)
    times = {name: [] for name in turns}
    for _ in range(WARM_UP + steps):
        for name, (logits_of, optimizer) in turns.items():
            with by_onednn(ours) if name == "ours" else nullcontext():  # as in train
                times[name].append(step(logits_of, optimizer, rows, clock))
    kept = {name: [[*parts, sum(parts)] for parts in found[WARM_UP:]] for name, found in times.items()}
    return {name: [statistics.median(part) for part in zip(*found, strict=True)] for name, found in kept.items()}


def main():
    """Print one table, and how it was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--cpu", action="store_true", help="the processor's time in place of the clock's")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    load = f"load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "load unknown"
    print(f"{datetime.date.today()}, torch {torch.__version__}, transformers {transformers.__version__}, ", end="")
    print(f"threads {options.threads}, {load}, batch {BATCH}, median of {options.steps} steps, milliseconds")
    print(f"\n{'model':<14}{'whose':<14}{'forward':>9}{'backward':>10}{'AdamW':>8}{'step':>8}{'ratio':>7}")
    for shape, config in SHAPES.items():
        found = measure(config, options.steps, time.process_time if options.cpu else time.perf_counter)
        for name, (forward, backward, adamw, whole) in found.items():
            ratio = whole / found["ours"][3]
            print(f"{shape:<14}{name:<14}{forward:>9.1f}{backward:>10.1f}{adamw:>8.1f}{whole:>8.1f}{ratio:>7.2f}")


if __name__ == "__main__":
    main()
