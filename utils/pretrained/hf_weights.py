"""GPT-2's weights in Hugging Face layout, into the course's model and out of it."""

import json
import os
from pathlib import Path

from safetensors.torch import save_file

from utils import validate
from utils.files import at_home, not_there, replace_file
from utils.model import GPT, GPTConfig
from utils.pretrained.hf_configs import ACTIVATION, config_from_hf
from utils.pretrained.hf_files import SINGLE
from utils.pretrained.hf_loading import HEAD, filled, folder_at
from utils.pretrained.hf_names import GPT2_LAYOUT, TRANSPOSED
from utils.pretrained.hub import GPT2_NAMES, downloaded

END_OF_TEXT = 50_256  # GPT-2's own, if the vocabulary reaches that far


def load_gpt2(path_or_name) -> GPT:
    """A GPT-2 from files in Hugging Face layout, in eval mode and in float32, whatever floats are stored.

    path_or_name: a folder with config.json and model.safetensors (or its parts and their index), or one of
    GPT2_NAMES, which is fetched if it is not in the hub's cache. Prefixes of wrappers are dropped and masks left
    aside, with a printed line. Every weight comes from the files. With tie_word_embeddings (GPT-2's default) a stored
    head may be absent or equal to wte.weight, which is then one tensor with it (either name will do), and a
    different one is refused; without it, the head is its own tensor, and a missing one is refused.
    Raises FileNotFoundError for a missing file or a name that cannot be fetched, and ValueError for a damaged file,
    for missing, unexpected and misshapen tensors (listed), and for a model larger than this machine's memory.
    """
    folder = _folder(path_or_name)
    return filled(config_from_hf(folder), folder, GPT2_LAYOUT)


def save_gpt2(model: GPT, folder) -> None:
    """Write a model as Hugging Face's GPT-2: config.json and model.safetensors, which transformers loads as well.

    The folder is made if need be; files of these names are replaced. Matrices are stored as (in, out), a tied table
    once, numbers in the model's own precision. load_gpt2 gives the model back. Raises TypeError for another model.
    """
    validate.instance("model", model, GPT)
    validate.instance("model.config", model.config, GPTConfig)
    folder = at_home(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is a file; give the path of a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    weights = {}
    for name, parameter in model.named_parameters():  # a tied head is not met a second time
        tensor = parameter.detach()
        tensor = tensor.T if name.endswith(TRANSPOSED) else tensor  # (out, in) -> (in, out)
        weights[name if name == HEAD else f"transformer.{name}"] = tensor.contiguous()
    replace_file(folder / SINGLE, lambda path: save_file(weights, path, {"format": "pt"}))
    replace_file(folder / "config.json", json.dumps(_hf_config(model), indent=2) + "\n")


def _folder(path_or_name):
    if isinstance(path_or_name, str) and path_or_name in GPT2_NAMES and not os.path.isdir(path_or_name):
        return downloaded(path_or_name)
    folder = folder_at(path_or_name, "path_or_name", "a folder's path or a model's name")
    if folder is not None:
        return folder
    names = ", ".join(map(repr, GPT2_NAMES))
    if isinstance(path_or_name, Path) or Path(path_or_name).name != path_or_name or not path_or_name.isprintable():
        raise not_there(path_or_name, "folder", f"check the path, or give one of the names {names}")
    raise ValueError(
        f"path_or_name={path_or_name!r} is no folder here and no known name; give a folder with config.json and "
        f"model.safetensors, or one of {names}."
    )


def _hf_config(model):
    c = model.config
    end = END_OF_TEXT if c.vocab_size > END_OF_TEXT else None
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        **{"vocab_size": c.vocab_size, "n_positions": c.n_ctx, "n_ctx": c.n_ctx, "n_embd": c.n_embd},
        **{"n_layer": c.n_layer, "n_head": c.n_head, "n_inner": c.n_inner},
        "activation_function": next(name for name, ours in ACTIVATION.items() if ours == c.activation),
        "layer_norm_epsilon": c.layer_norm_epsilon,
        "tie_word_embeddings": c.tied,
        **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), 0.0),
        **dict.fromkeys(("bos_token_id", "eos_token_id"), end),
        "torch_dtype": str(model.wte.weight.dtype).removeprefix("torch."),
    }
