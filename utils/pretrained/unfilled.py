"""A model without numbers, ready to be given those of a file."""

import torch
from torch.nn import init
from torch.overrides import TorchFunctionMode

from utils.model import GPT

DRAWS = {init.normal_, init.uniform_, init.kaiming_uniform_, torch.Tensor.normal_, torch.Tensor.uniform_}


class _Undrawn(TorchFunctionMode):
    """Leaves out what draws random numbers: for a tensor without memory, torch would first import its compiler."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in DRAWS:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def unfilled(config) -> GPT:
    """The model of a configuration on the meta device: shapes and no memory, for load_state_dict(assign=True)."""
    with torch.device("meta"), _Undrawn():
        return config.build()
