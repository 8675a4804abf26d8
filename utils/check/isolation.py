"""A place to run a student's function in: the same for everyone, and without traces in the notebook."""

import random
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import torch

SETTINGS = (  # those without a context manager
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.get_num_threads, torch.set_num_threads),
    (sys.getrecursionlimit, sys.setrecursionlimit),
)

SEED = 271_828  # not one that a student would take, so that a reseeding is seen


@contextmanager
def isolated():
    """Fixed seeds and settings inside; afterwards seeds, modes and settings are as they were.

    Warnings are silent inside: the verdict speaks, and a notebook that turns them into errors gets the same one.
    """
    numpy_state, python_state = np.random.get_state(), random.getstate()
    settings = [(read(), read, write) for read, write in SETTINGS]
    try:
        with (
            torch.random.fork_rng(devices=[]),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch._tensor_str.printoptions(),
            np.errstate(all="ignore"),
            np.printoptions(threshold=1000, floatmode="maxprec", sign="-"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            torch.set_default_dtype(torch.float32)
            torch.default_generator.manual_seed(SEED)
            np.random.seed(SEED)
            random.seed(SEED)
            yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        for value, read, write in settings:
            if read() != value:
                write(value)
