"""Tokens per second of generation, ours beside transformers': `python tests/benchmarks/generation.py`.

The naive loop, `generate` without and with its cache, transformers' own cached `generate`, and the limit that memory
sets, take turns in one run, so that a busy moment hits all. The limit: every weight is read once for each token, as
in one matrix-vector product with a matrix of that many numbers. Below it, two bounds for this model in PyTorch: its
own matrices, one product each and nothing between them; and a loop by hand, with operations in place of modules, no
check and no choice of a token. No time is asserted: times depend on the machine.
"""

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
import transformers
from training_step import SHAPES, theirs

from utils.counting import GPT2_FAMILY, ledger
from utils.environment import ROOT
from utils.llama import Llama
from utils.model import GPT, KVCache
from utils.pretrained import load_smollm
from utils.sampling import draw, generate, next_token_probs

sys.path.append(str(Path(__file__).resolve().parents[1]))
from llama_twin import twin

GPT2_SMALL = GPT2_FAMILY["GPT-2 small"]
# new tokens and turns; the small models fill their context
RUNS = {"course model": (31, 40), "letters": (127, 20), "GPT-2 small": (12, 8), "SmolLM2": (12, 8)}
LENGTHS, GROWTH_TURNS = (10, 1000), 2
PATIENCE = 20  # seconds


@torch.no_grad()
def naive(model, ids, new):
    """The loop as one writes it first: crop, run the model on everything again, draw, append."""
    for _ in range(new):
        probs = model(ids[:, -model.config.n_ctx :])[:, -1].softmax(-1)  # (1, V)
        ids = torch.cat([ids, probs.multinomial(1)], dim=1)
    return ids


def transformers_loop(model):
    """-> their `generate` with its cache, sampling from all tokens as ours does, and the attention it uses."""
    other = twin(model, "sdpa") if isinstance(model, Llama) else theirs(model.config).eval()
    other.generation_config.eos_token_id = None  # neither side looks for an end

    def run(ids, new):
        settings = {"do_sample": True, "top_k": 0, "use_cache": True, "pad_token_id": 0}
        mask = torch.ones_like(ids)
        return other.generate(ids, attention_mask=mask, min_new_tokens=new, max_new_tokens=new, **settings)

    return run, other.config._attn_implementation


def weights_read(model):
    """How many weights one new token needs: all but the position table, and one row of the token table if untied."""
    rows = ledger(model)
    return sum(rows.values()) - rows["position table"] - (0 if model.config.tied else rows["token table"])


def products(model):
    """-> a function that multiplies each matrix of the model by one vector, as a new token does, and nothing more."""
    matrices = [part.weight.detach() for part in model.modules() if isinstance(part, torch.nn.Linear)]
    vectors = {matrix.shape[1]: torch.rand(matrix.shape[1]) for matrix in matrices}
    return lambda: [matrix.mv(vectors[matrix.shape[1]]) for matrix in matrices]


@torch.inference_mode()
def by_hand(model):
    """-> a function: (token, position) -> the scores (V,) of `model` after the tokens that it was given before.

    One sequence, by operations on tensors that lie ready: what is left of the model without modules and checks.
    """
    c, kv = model.config, KVCache(model.config).kv
    wte, wpe, *_, ln_weight, ln_bias = (p.detach() for p in model.parameters())
    blocks = [[p.detach() for p in block.parameters()] for block in model.h]

    def norm(x, weight, bias):
        return torch.layer_norm(x, (c.n_embd,), weight, bias, c.layer_norm_epsilon)  # (d,)

    def step(token, at):
        x = wte[token] + wpe[at]  # (d,)
        for parts, held in zip(blocks, kv[:, :, 0, :, : at + 1].unbind(), strict=True):  # (2, H, S, d_head)
            w_1, b_1, w_qkv, b_qkv, w_out, b_out, w_2, b_2, w_fc, b_fc, w_down, b_down = parts
            qkv = torch.addmv(b_qkv, w_qkv, norm(x, w_1, b_1)).view(3, 1, c.n_head, 1, c.d_head)
            held[:, :, -1:] = qkv[1:, 0]
            y = F.scaled_dot_product_attention(qkv[0], *held[:, None]).view(-1)  # (d,)
            x = x + torch.addmv(b_out, w_out, y)  # (d,)
            h = F.gelu(torch.addmv(b_fc, w_fc, norm(x, w_2, b_2)), approximate="tanh")  # (d_ff,)
            x = x + torch.addmv(b_down, w_down, h)  # (d,)
        return wte.mv(norm(x, ln_weight, ln_bias))  # (V,)

    ids = torch.zeros(1, 3, dtype=torch.int64)
    torch.testing.assert_close(torch.stack([step(0, at) for at in range(3)]), model(ids)[0])
    return step


def seconds(run, *given):
    """How long one call takes."""
    start = time.perf_counter()
    run(*given)
    return time.perf_counter() - start


def typical(runs, turns):
    """{name: function} -> {name: the median of its times, in seconds}, by turns, after one turn of warm-up.

    On a busy machine fewer turns are taken: none begins after PATIENCE seconds, once there are two.
    """
    start, times = time.perf_counter(), []
    while len(times) <= turns and (len(times) <= 2 or time.perf_counter() - start < PATIENCE):
        times.append({name: seconds(run) for name, run in runs.items()})
    return {name: statistics.median(turn[name] for turn in times[1:]) for name in runs}


def speeds(shape, model):
    """Print one model's rows."""
    (new, turns), config, ids = RUNS[shape], model.config, torch.zeros(1, 1, dtype=torch.int64)
    their_generate, attention = transformers_loop(model)
    matrix = torch.rand(weights_read(model) // config.n_embd, config.n_embd)
    vector, own_products = torch.rand(config.n_embd), products(model)
    hand = None if isinstance(model, Llama) else by_hand(model)
    found = typical(
        {
            "naive loop": lambda: naive(model, ids, new),
            "generate, no cache": lambda: generate(model, ids, new, use_cache=False),
            "generate, cache": lambda: generate(model, ids, new),
            f"transformers, {attention}": lambda: their_generate(ids, new),
            "limit of memory": lambda: [matrix.mv(vector) for _ in range(new)],
            "its products alone": lambda: [own_products() for _ in range(new)],
        }
        | ({"by hand, no choice": torch.inference_mode()(lambda: [hand(0, at) for at in range(new)])} if hand else {}),
        turns,
    )
    ours, limit = found["generate, cache"], found["limit of memory"]
    for name, took in found.items():
        print(f"{shape:<14}{name:<20}{new / took:>10,.1f}{1000 * took / new:>11.3f}", end="")
        print(f"{took / ours:>14.2f}{limit / took:>16.3f}")
    read = f"{matrix.nbytes / 1e6:,.1f} MB of weights for each token"
    print(f"{'':<14}{read}, {matrix.nbytes * new / limit / 1e9:.1f} GB/s")


@torch.no_grad()
def growth():
    """Print the time of one more token after a short and after a long text, with and without a cache."""
    model, cache = GPT(GPT2_SMALL).eval(), KVCache(GPT2_SMALL)
    for numbers in (cache.k, cache.v):
        numbers.normal_()  # memory that nobody wrote to would be read too fast

    def cached(length):
        cache.length = length
        draw(next_token_probs(model(torch.zeros(1, 1, dtype=torch.int64), cache=cache)[:, -1]))

    def full(length):
        draw(next_token_probs(model(torch.zeros(1, length + 1, dtype=torch.int64))[:, -1]))

    heads = "".join(f"{f'after {length:,} (ms)':>18}" for length in LENGTHS)
    print(f"\n{'one more token':<20}{heads}{'ratio':>8}")
    for name, step, turns in (("with a cache", cached, 10 * GROWTH_TURNS), ("without", full, GROWTH_TURNS)):
        took = typical({length: lambda step=step, length=length: step(length) for length in LENGTHS}, turns)
        row = "".join(f"{1000 * took[length]:>18.1f}" for length in LENGTHS)
        print(f"{name:<20}{row}{took[LENGTHS[1]] / took[LENGTHS[0]]:>8.2f}")


def real_model():
    """-> SmolLM2, after printing what it takes to load it in a process of its own; None where it is not installed."""
    # what the system says of this program; getrusage remembers the size of the one that started it
    code = "import re, time; from utils.pretrained import load_smollm; start = time.perf_counter(); load_smollm(); "
    code += "took = time.perf_counter() - start; status = open('/proc/self/status', encoding='utf-8').read(); "
    code += "print(took, int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1e6)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT, check=False)
    if done.returncode:
        print(f"SmolLM2       {done.stderr.strip().splitlines()[-1]}")
        return None
    took, peak = map(float, done.stdout.split())
    print(f"{'SmolLM2':<14}loaded in {took:.1f} s, peak memory of the process {peak:.2f} GB")
    return load_smollm()


def processor():
    """The CPU's name, as far as the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def load():
    """How many processes wanted to run in the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def main():
    """Print one table, and how it was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--shapes", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--no-growth", action="store_true", help="leave out the second table")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{datetime.date.today()}, torch {torch.__version__}, transformers {transformers.__version__}, ", end="")
    print(f"{processor()}, {os.cpu_count()} cores, threads {options.threads}, load {load()} at the start")
    print("one sequence, float32, from one token, sampled at temperature 1; the median of several turns")
    print(f"\n{'model':<14}{'way':<20}{'tokens/s':>10}{'ms/token':>11}{'time : cached':>14}{'share of limit':>16}")
    for shape in options.shapes:
        model = real_model() if shape == "SmolLM2" else GPT({**SHAPES, "GPT-2 small": GPT2_SMALL}[shape]).eval()
        if model is not None:
            speeds(shape, model)
    if not options.no_growth:
        growth()
    print(f"\nload {load()} at the end")


if __name__ == "__main__":
    main()
