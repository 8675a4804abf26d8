"""Training in several processes: `python -m torch.distributed.run --nproc_per_node=2 -m utils.torchrun --steps 12`.

Each process takes its part of every batch, and the losses are those of one process, `python -m utils.torchrun`.
`on_one_and_two` runs both commands from a notebook.
"""

import argparse
import json
import os
import re
import subprocess
import sys

import torch
import torch.distributed as dist

from utils.environment import ROOT
from utils.model import GPT, GPTConfig
from utils.pretrained import COURSE_MODEL
from utils.text import names
from utils.toy_language import ToyLanguage
from utils.training import train

TWO = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")


def on_one_and_two(steps=12, batch_size=32, data="stories") -> tuple[list[float], list[float]]:
    """The same training run by one process, then by two under torchrun -> the losses of each, in nats per token.

    All are new processes of one thread each, and nothing that they print is shown. data: "stories" or "names".
    Raises RuntimeError with the first error that one of them reports.
    """
    options = ("-m", "utils.torchrun", f"--steps={steps}", f"--batch-size={batch_size}", f"--data={data}")
    return tuple(json.loads(_output(*launcher, *options)) for launcher in ((), TWO))


def _output(*command):
    """What `python command` prints, in an environment without traces of another torchrun."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    done = subprocess.run(
        [sys.executable, *command],
        env=inherited | {"OMP_NUM_THREADS": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        error = re.search(r"\w*[Ee]rror: .*", done.stderr)
        raise RuntimeError(error[0] if error else f"The training ended with the exit code {done.returncode}.")
    return done.stdout


def losses(data, steps, batch_size) -> list[float]:
    """The training loss of each step, in nats per token. data: "stories", or "names", whose rows end with -100."""
    if data == "names":
        rows = names().rows(names().train[:1000])
        config = GPTConfig(names().vocab_size, names().longest + 1, n_embd=16, n_layer=1, n_head=2)
    else:
        rows, config = ToyLanguage().stories(1000, seed=0)[0], COURSE_MODEL
    torch.manual_seed(0)
    return train(GPT(config), rows, steps=steps, batch_size=batch_size, progress=False).train_loss


def main():
    """Read the command line, join the other processes if torchrun started some, train, print the losses as JSON."""
    parser = argparse.ArgumentParser(prog="python -m utils.torchrun", description="Training in several processes.")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--data", choices=("stories", "names"), default="stories")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the processes share the machine's cores
    several = "RANK" in os.environ  # set by torchrun
    if several:
        dist.init_process_group("gloo")
    try:
        found = losses(options.data, options.steps, options.batch_size)
        if not several or dist.get_rank() == 0:
            print(json.dumps(found), flush=True)
        if several:
            dist.barrier()  # a process that leaves early can abort the others
    finally:
        if several:
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
