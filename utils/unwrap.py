"""A GPT, taken out of what PyTorch wraps around models."""

from torch import nn

from utils import validate
from utils.model import GPT


def unwrapped(model) -> GPT:
    """The GPT inside of torch.compile's, DataParallel's or DistributedDataParallel's wrapper; a GPT is returned as is.

    It has the same weights, under GPT-2's names. Raises TypeError for what is no GPT.
    """
    inner = model
    while isinstance(inner, nn.Module) and not isinstance(inner, GPT):
        inner = getattr(inner, "_orig_mod", getattr(inner, "module", None))
    if not isinstance(inner, GPT):
        raise validate.wrong_type("model", model, "give a GPT")
    return inner
