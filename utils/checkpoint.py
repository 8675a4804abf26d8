"""Saving and loading: numbers as safetensors, everything else as plain JSON, never pickled code."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from utils.files import not_there, replace_file, stand_in
from utils.model import GPT, GPTConfig

RUN = "run.json"


def save_model(model: GPT, path) -> None:
    """Write a model's weights and its configuration to one safetensors file. A tied table is written once.

    Raises FileNotFoundError for a missing folder.
    """
    # safetensors refuses two names of one tensor; named_parameters gives the first only
    weights = {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}
    _write(path, weights, {"config": json.dumps(asdict(model.config))})


def load_model(path) -> GPT:
    """The model that save_model wrote, in eval mode.

    Raises FileNotFoundError for a missing file and ValueError for one that is damaged or of another making.
    """
    weights, notes = _read(path)
    if "config" not in notes:
        raise ValueError(f"{path} holds no configuration; give a file that utils.checkpoint.save_model wrote.")
    try:
        with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced: leave no trace of them
            model = GPT(GPTConfig(**json.loads(notes["config"])))
        model.load_state_dict(weights)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{path} holds no whole model of this course ({reason}); get it again.") from None
    return model.eval()


def _read(path):
    try:
        with safe_open(path, "pt") as file:
            notes = file.metadata() or {}
        return load_file(path), notes
    except FileNotFoundError:
        raise not_there(path) from None
    except SafetensorError as error:
        otherwise = ValueError(f"{path} is damaged or no safetensors file ({error}); get it again.")
        raise stand_in(path) or otherwise from None


def _write(path, tensors, notes):
    if not Path(path).parent.is_dir():
        raise not_there(Path(path).parent, "folder", "make it first")
    replace_file(path, lambda temporary: save_file(tensors, temporary, notes))


def save_run(folder, step, model, optimizer, run: dict) -> None:
    """Write everything that a training run needs to go on after `step` steps; killed at any moment, it can.

    run: settings and history, of plain numbers, strings, lists and dicts.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = {f"model.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            state[f"optimizer.{key}.{name}"] = value
    name = f"step-{step}.safetensors"
    _write(folder / name, {key: tensor.contiguous() for key, tensor in state.items()}, {})
    text = json.dumps({**run, "step": step, "weights": name})
    # from here on the new step counts
    replace_file(folder / RUN, text)
    for old in folder.glob("step-*.safetensors"):
        if old.name != name:
            old.unlink()


def read_run(folder) -> dict | None:
    """What save_run was given, with `step`; None if nothing was saved in this folder."""
    path = Path(folder) / RUN
    if not path.exists():
        return None
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        _ = run["settings"].items(), run["history"]["train_loss"], run["step"], run["weights"]
        return run
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is damaged; delete the folder {folder} to start afresh.") from None


@torch.no_grad()
def restore_run(folder, run, model, optimizer) -> None:
    """Put the weights and the optimizer's moments of a saved run back, to the last bit."""
    state, _ = _read(Path(folder) / run["weights"])
    for name, parameter in model.named_parameters():
        parameter.copy_(state[f"model.{name}"])
        ends = f".{name}"
        moments = {key[len("optimizer.") : -len(ends)]: value for key, value in state.items() if key.endswith(ends)}
        optimizer.state[parameter] = {key: value for key, value in moments.items() if f"optimizer.{key}{ends}" in state}
