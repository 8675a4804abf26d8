"""What loading a GPT-2 and a Llama from a folder in Hugging Face layout have in common."""

import dataclasses
import os
from pathlib import Path

import torch

from utils import validate
from utils.counting import meta_model
from utils.files import at_home
from utils.model import GPT
from utils.pretrained.hf_files import stored_shapes, stored_tensors
from utils.pretrained.hf_names import Layout, mismatches, other_sizes, stored_sizes

TABLE, HEAD = "wte.weight", "lm_head.weight"


def folder_at(path, name: str, allowed: str) -> Path | None:
    """The folder at a path, with `~` for the home folder; None where there is nothing.

    name, allowed: for the sentence about what is no path. Raises TypeError for that and ValueError for a file.
    """
    if not isinstance(path, (str, Path)):
        raise TypeError(f"{name} is a {type(path).__name__}; give {allowed}.")
    path = at_home(path) if str(path).startswith("~") else path
    if os.path.isfile(path):  # False as well for what can be no name, where Path.is_file() may raise
        raise ValueError(f"{path} is a file; give the folder that holds config.json and model.safetensors.")
    return Path(path) if os.path.isdir(path) else None


def filled(config, folder: Path, layout: Layout) -> GPT:
    """The model of this configuration with the weights in the folder, in eval mode and in float32.

    Raises FileNotFoundError for a missing file, and ValueError for a damaged file, for missing, unexpected and
    misshapen tensors (listed), for a head that differs from a tied table, and for a model larger than this machine's
    memory.
    """
    shapes = stored_shapes(folder)
    validate.weights_fit(config)
    stored = _course_names(folder, shapes, layout)
    if config.tied:
        _share(folder, stored)
    wrong = _differences(config, {name: shapes[hf_name] for name, hf_name in stored.items()}, layout)
    if wrong:
        raise ValueError(f"{folder} does not hold the {layout.kind} that its config.json describes: {wrong}.")
    model = meta_model(config)
    model.load_state_dict(_weights(folder, stored, layout), assign=True)
    return model.eval()


def _course_names(folder, shapes, layout):
    """The stored name of each tensor by its course name, without what the model makes itself."""
    stored, made = {}, []
    for hf_name in shapes:
        name = layout.to_course(hf_name)
        if name is None:
            made.append(hf_name)
        elif name in stored:
            raise ValueError(
                f"{folder} stores both {stored[name]} and {hf_name}, one tensor twice; remove one of them."
            )
        else:
            stored[name] = hf_name
    if made:
        kinds = sorted({kind for kind in layout.made_names for name in made if name.endswith(kind)})
        print(f"Ignored {len(made)} stored {layout.made} (h.*{', h.*'.join(kinds)}): the model makes its own.")
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


def _differences(config, found, layout):
    """What keeps stored shapes from filling the model: sizes, then what other sizes do not explain; "" if nothing."""
    sizes, wanted = stored_sizes(found, layout), _shapes(config)
    follows = config.n_inner is None and sizes.get("n_inner") == 4 * sizes.get("n_embd", config.n_embd)
    said = dataclasses.asdict(config) | {"n_inner": sizes["n_inner"] if follows else config.d_ff}
    differing = other_sizes(said, sizes, layout)
    if differing:
        try:
            wanted = _shapes(type(config)(**said | sizes | layout.heads(config)))
        except ValueError:  # so many heads do not divide the width
            return differing
    untied = HEAD in wanted and HEAD not in found
    hint = "tie_word_embeddings=False asks for a head of its own" if untied else ""
    return "; ".join(filter(None, (differing, mismatches(found, wanted, layout), hint)))


def _shapes(config):
    return {name: tuple(parameter.shape) for name, parameter in meta_model(config).named_parameters()}


def _weights(folder, stored, layout):
    """The stored tensors by the course's names, in the course's shapes, in memory of their own."""
    names, weights = {hf_name: name for name, hf_name in stored.items()}, {}
    for hf_name, tensor in stored_tensors(folder, names):
        tensor = tensor.T if layout.is_transposed(names[hf_name]) else tensor  # (in, out) -> (out, in)
        weights[names[hf_name]] = torch.empty(tensor.shape, dtype=torch.float32).copy_(tensor)
    return weights
