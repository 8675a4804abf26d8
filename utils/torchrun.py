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
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist

from utils.environment import ROOT
from utils.model import GPT, GPTConfig
from utils.pretrained import COURSE_MODEL
from utils.text import names
from utils.toy_language import ToyLanguage
from utils.training import train

# at this address, since a machine's own name can lead nowhere
TWO = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "--local-addr=127.0.0.1")
# how the variables begin that tell PyTorch's processes who they are, how to meet and what to print
DISTRIBUTED = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_", "PET_", "TORCH", "GLOO_", "NCCL_")
PATIENCE = 60  # seconds that one process waits for the other


def on_one_and_two(steps=12, batch_size=32, data="stories") -> tuple[list[float], list[float]]:
    """The same training run by one process, then by two under torchrun -> the losses of each, in nats per token.

    All are new processes of one thread each, and nothing that they print is shown. data: "stories" or "names".
    Where two processes cannot start or meet, one printed sentence says so, and the second list is empty. Raises
    RuntimeError with the first error that the training reports.
    """
    options = ("-m", "utils.torchrun", f"--steps={steps}", f"--batch-size={batch_size}", f"--data={data}")
    one = json.loads(_output(*options))
    try:
        return one, json.loads(_output(*TWO, *options))
    except (OSError, RuntimeError) as error:
        if "batch_size" in str(error):  # the one argument that two processes can refuse and one takes
            raise
        reason = re.sub(r"\[[^]]*\] ?", "", str(error)).strip(". ")  # without the place in PyTorch's source
        print(f"Two processes cannot train together here ({reason}), so there is nothing to compare with.")
        return one, []


def _output(*command):
    """What `python command` prints, in an environment without traces of another torchrun."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(DISTRIBUTED)}
    options = {"cwd": ROOT, "env": inherited | {"OMP_NUM_THREADS": "1"}, "stdin": subprocess.DEVNULL}
    options |= {"capture_output": True, "encoding": "utf-8", "errors": "replace", "timeout": 2 * PATIENCE}
    try:
        done = subprocess.run([sys.executable, *command], check=False, **options)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"no answer for {2 * PATIENCE} seconds") from None
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


@contextmanager
def meeting() -> Iterator[None]:
    """Meet the other processes that torchrun started; after the block this process ends, whatever happened in it.

    It ends without PyTorch's own tidying up: on a busy machine, that aborts one process in some dozens.
    """
    code = 1
    try:
        dist.init_process_group("gloo", timeout=timedelta(seconds=PATIENCE))
        yield
        dist.barrier()  # a process that leaves early can abort the others
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main():
    """Read the command line, join the other processes if torchrun started some, train, print the losses as JSON."""
    parser = argparse.ArgumentParser(prog="python -m utils.torchrun", description="Training in several processes.")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--data", choices=("stories", "names"), default="stories")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the processes share the machine's cores
    if "RANK" not in os.environ:  # set by torchrun
        print(json.dumps(losses(options.data, options.steps, options.batch_size)))
        return
    with meeting():
        found = losses(options.data, options.steps, options.batch_size)
        if dist.get_rank() == 0:
            print(json.dumps(found))


if __name__ == "__main__":
    main()
