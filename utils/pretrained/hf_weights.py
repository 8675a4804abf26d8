"""GPT-2's weights in Hugging Face layout, into the course's model and out of it."""

import dataclasses
import json
import os
from pathlib import Path

import torch
from safetensors.torch import save_file

from utils import validate
from utils.counting import meta_model
from utils.files import at_home, not_there, replace_file
from utils.model import GPT, GPTConfig
from utils.pretrained.hf_configs import ACTIVATION, config_from_hf
from utils.pretrained.hf_files import SINGLE, stored_shapes, stored_tensors
from utils.pretrained.hf_names import MASKS, TRANSPOSED, mismatches, other_sizes, stored_sizes, to_course_name
from utils.pretrained.hub import GPT2_NAMES, downloaded

TABLE, HEAD = "wte.weight", "lm_head.weight"
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
    config = config_from_hf(folder)
    shapes = stored_shapes(folder)
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced: leave no trace of them
        model = GPT(config).float()
    stored = _course_names(folder, shapes)
    if config.tied:
        _share(folder, stored)
    wrong = _differences(model, {name: shapes[hf_name] for name, hf_name in stored.items()})
    if wrong:
        raise ValueError(f"{folder} does not hold the GPT-2 that its config.json describes: {wrong}.")
    _fill(model, folder, stored)
    return model.eval()


def save_gpt2(model: GPT, folder) -> None:
    """Write a model as Hugging Face's GPT-2: config.json and model.safetensors, which transformers loads as well.

    The folder is made if need be; files of these names are replaced. Matrices are stored as (in, out), a tied table
    once, numbers in the model's own precision. load_gpt2 gives the model back. Raises TypeError for another model.
    """
    validate.instance("model", model, GPT)
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
    if not isinstance(path_or_name, (str, Path)):
        raise TypeError(f"path_or_name is a {type(path_or_name).__name__}; give a folder's path or a model's name.")
    if str(path_or_name).startswith("~"):
        path_or_name = at_home(path_or_name)
    if os.path.isdir(path_or_name):  # False as well for what can be no name, where Path.is_dir() may raise
        return Path(path_or_name)
    if path_or_name in GPT2_NAMES:
        return downloaded(path_or_name)
    names = ", ".join(map(repr, GPT2_NAMES))
    if os.path.isfile(path_or_name):
        raise ValueError(f"{path_or_name} is a file; give the folder that holds config.json and model.safetensors.")
    if isinstance(path_or_name, Path) or Path(path_or_name).name != path_or_name or not path_or_name.isprintable():
        raise not_there(path_or_name, "folder", f"check the path, or give one of the names {names}")
    raise ValueError(
        f"path_or_name={path_or_name!r} is no folder here and no known name; give a folder with config.json and "
        f"model.safetensors, or one of {names}."
    )


def _course_names(folder, shapes):
    """The stored name of each tensor by its course name, without the masks."""
    stored, masks = {}, []
    for hf_name in shapes:
        name = to_course_name(hf_name)
        if name is None:
            masks.append(hf_name)
        elif name in stored:
            raise ValueError(
                f"{folder} stores both {stored[name]} and {hf_name}, one tensor twice; remove one of them."
            )
        else:
            stored[name] = hf_name
    if masks:
        kinds = sorted({mask for mask in MASKS for name in masks if name.endswith(mask)})
        print(f"Ignored {len(masks)} stored masks (h.*{', h.*'.join(kinds)}): the model makes its own.")
    return stored


def _share(folder, stored):
    """For a tied model: leave one entry for the table, under its own name, and refuse a head that differs."""
    head = stored.pop(HEAD, None)
    if head is None or stored.setdefault(TABLE, head) == head:
        return
    if not torch.equal(*(tensor.float() for _, tensor in stored_tensors(folder, [stored[TABLE], head]))):
        raise ValueError(
            f"{folder} stores {stored[TABLE]} and {head}, which differ, while its config.json ties the two; "
            'set "tie_word_embeddings": false there to keep both, or remove the head.'
        )


def _differences(model, found):
    """What keeps stored shapes from filling the model: sizes, then what other sizes do not explain; "" if nothing."""
    config, sizes, wanted = model.config, stored_sizes(found), _shapes(model)
    follows = config.n_inner is None and sizes.get("n_inner") == 4 * sizes.get("n_embd", config.n_embd)
    said = dataclasses.asdict(config) | {"n_inner": sizes["n_inner"] if follows else config.d_ff}
    differing = other_sizes(said, sizes)
    if differing:
        wanted = _shapes(meta_model(GPTConfig(**said | sizes | {"n_head": 1})))  # heads do not show in the shapes
    untied = HEAD in wanted and HEAD not in found
    hint = "tie_word_embeddings=False asks for a head of its own" if untied else ""
    return "; ".join(filter(None, (differing, mismatches(found, wanted), hint)))


def _shapes(model):
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


@torch.no_grad()
def _fill(model, folder, stored):
    parameters, names = dict(model.named_parameters()), {hf_name: name for name, hf_name in stored.items()}
    for hf_name, tensor in stored_tensors(folder, names):
        name = names[hf_name]
        parameters[name].copy_(tensor.T if name.endswith(TRANSPOSED) else tensor)  # (in, out) -> (out, in)


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
