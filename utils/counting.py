"""Counting parameters: the formula, the ledger of a real model, the bytes they take, and the published families.

A parameter is one learned number. Nothing here counts masks or other buffers.
"""

import math

import torch
from torch.nn import init
from torch.overrides import TorchFunctionMode

from utils import validate
from utils.config import ModelConfig
from utils.model import GPT, GPTConfig

ROWS = ("token table", "position table", "attention", "mlp", "layer norms", "final layer norm", "head")


def gpt_params(vocab_size, n_ctx, n_embd, n_layer, tied=True) -> int:
    """Parameters of a GPT-2 from four numbers: V d + n d + L (12 d^2 + 13 d) + 2 d, and V d more if untied.

    The number of heads does not matter. Assumes an MLP of width 4d and GPT-2's biases (Radford et al. 2019).
    Raises TypeError or ValueError for a size that is not a whole number from 1.
    """
    sizes = {"vocab_size": vocab_size, "n_ctx": n_ctx, "n_embd": n_embd, "n_layer": n_layer}
    V, n, d, L = (validate.whole_number(name, size) for name, size in sizes.items())
    validate.flag("tied", tied)
    block = 12 * d * d + 13 * d  # attention 4d^2 + 4d, MLP 8d^2 + 5d, two layer norms 4d
    return V * d + n * d + L * block + 2 * d + (0 if tied else V * d)


def ledger(cfg_or_model) -> dict[str, int]:
    """Where the parameters sit: one int for each of ROWS, which sum to the number of unique parameters.

    From a configuration the numbers come from its formula, from a model they are counted tensor by tensor.
    The head is 0 if it is tied, since its numbers are the token table's. Raises ValueError for a model with a part of
    another kind, such as a second head, and TypeError for anything else.
    """
    if isinstance(cfg_or_model, ModelConfig):
        return dict(zip(ROWS, cfg_or_model.part_counts(), strict=True))
    if isinstance(cfg_or_model, GPT):
        return _ledger_of_model(cfg_or_model)
    raise validate.wrong_type("cfg_or_model", cfg_or_model, "give a GPTConfig or a GPT")


def _ledger_of_model(model):
    counts = dict.fromkeys(ROWS, 0)
    for name, parameter in model.named_parameters():  # a shared tensor comes once, under its first name
        counts[_row(name)] += parameter.numel()
    return counts


def _row(name):
    """The ledger's row for a parameter's name, such as h.0.attn.c_attn.weight."""
    tops = {"wte": "token table", "wpe": "position table", "ln_f": "final layer norm", "lm_head": "head"}
    parts = {"attn": "attention", "mlp": "mlp", "ln_1": "layer norms", "ln_2": "layer norms"}
    top, *rest = name.split(".")
    found = parts.get(rest[1]) if top == "h" else tops.get(top)
    if found is None:
        raise ValueError(
            f"The model has {name}, which is no part of a GPT; count it apart, or give the GPT without it."
        )
    return found


def unique_params(tensors) -> int:
    """How many different numbers stand behind a module or a state_dict: tensors that share storage count once.

    tensors: an nn.Module (its parameters) or a dict of tensors. Unlike a sum over `state_dict().values()`,
    this does not count a tied table twice.
    """
    named = tensors if isinstance(tensors, dict) else dict(tensors.named_parameters(remove_duplicate=False))
    seen = {(_storage(tensor), tensor.storage_offset(), tensor.numel()): tensor for tensor in named.values()}
    return sum(tensor.numel() for tensor in seen.values())


def _storage(tensor):
    # a meta tensor has no address, so its storage object stands for it
    return tensor.untyped_storage()._cdata if tensor.is_meta else tensor.untyped_storage().data_ptr()


def conventions(cfg: GPTConfig) -> dict[str, int]:
    """The counts that different sources give for one model, each under the name of its convention.

    Two sources that disagree usually differ in convention. "12 L d^2" is the body's matrices alone, with d_ff = 4d
    (Kaplan et al. 2020 count so); "without both tables" is the blocks and the final layer norm.
    """
    validate.instance("cfg", cfg, GPTConfig)
    rows = ledger(cfg)
    table, positions = rows["token table"], rows["position table"]
    total = sum(rows.values())
    return {
        "all unique parameters": total,
        "entries of state_dict": total + (table if cfg.tied else 0),
        "without positions": total - positions,
        "without both tables": total - positions - table - rows["head"],
        "12 L d^2": cfg.n_layer * (4 * cfg.n_embd**2 + 2 * cfg.n_embd * cfg.d_ff),
    }


def tying_saving(vocab_size, n_embd) -> int:
    """Numbers that a tied head saves: V d, one whole table."""
    return validate.whole_number("vocab_size", vocab_size) * validate.whole_number("n_embd", n_embd)


def training_bytes(n_params, weight_bytes=4) -> int:
    """Bytes of memory that training holds beside its activations: n_params * (2 * weight_bytes + 8).

    Weights and gradients take weight_bytes each (4: float32, 2: bfloat16), AdamW's two float32 moments 8.
    Raises TypeError or ValueError for what is not a whole number from 1.
    """
    return validate.whole_number("n_params", n_params) * (2 * validate.whole_number("weight_bytes", weight_bytes) + 8)


def kv_cache_bytes(n_layer, n_embd, n_tokens, batch_size=1, bytes_per_number=4) -> int:
    """Bytes of the keys and values of batch_size sequences of n_tokens: 2 * L * n_tokens * d * batch * bytes.

    bytes_per_number: 4 for float32, 2 for bfloat16. No tokens take no bytes.
    Raises TypeError or ValueError for what is not a whole number in range.
    """
    n_tokens = validate.whole_number("n_tokens", n_tokens, low=0)
    sizes = {"n_layer": n_layer, "n_embd": n_embd, "batch_size": batch_size, "bytes_per_number": bytes_per_number}
    return 2 * n_tokens * math.prod(validate.whole_number(name, size) for name, size in sizes.items())


def _gpt2(n_layer, n_embd, n_head):
    return GPTConfig(vocab_size=50_257, n_ctx=1_024, n_embd=n_embd, n_layer=n_layer, n_head=n_head)


# Radford et al. 2019, table 2, with the parameter counts that its authors corrected later
GPT2_FAMILY = {
    "GPT-2 small": _gpt2(12, 768, 12),
    "GPT-2 medium": _gpt2(24, 1024, 16),
    "GPT-2 large": _gpt2(36, 1280, 20),
    "GPT-2 XL": _gpt2(48, 1600, 25),
}

# Brown et al. 2020, table 2.1: in the rows 1.3B and 13B, n_head * d_head is not n_embd
GPT3_FAMILY = {
    name: {"vocab_size": 50_257, "n_ctx": 2_048, "n_layer": L, "n_embd": d, "n_head": H, "d_head": d_head}
    for name, L, d, H, d_head in (
        ("GPT-3 125M", 12, 768, 12, 64),
        ("GPT-3 350M", 24, 1024, 16, 64),
        ("GPT-3 760M", 24, 1536, 16, 96),
        ("GPT-3 1.3B", 24, 2048, 24, 128),
        ("GPT-3 2.7B", 32, 2560, 32, 80),
        ("GPT-3 6.7B", 32, 4096, 32, 128),
        ("GPT-3 13B", 40, 5140, 40, 128),
        ("GPT-3 175B", 96, 12288, 96, 128),
    )
}


# what a fresh model draws with
DRAWS = {init.normal_, init.uniform_, init.kaiming_uniform_, torch.Tensor.normal_, torch.Tensor.uniform_}


class _Undrawn(TorchFunctionMode):
    """Leaves out what draws random numbers: for a tensor without memory, torch would first import its compiler."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in DRAWS:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def meta_model(cfg: ModelConfig) -> GPT:
    """The model with shapes but without numbers: any size in no memory, to be counted, or filled from a file.

    It is filled by load_state_dict(assign=True).
    """
    with torch.device("meta"), _Undrawn():
        return cfg.build()
