"""Saving and loading: numbers as safetensors, everything else as plain JSON, never pickled code."""

import itertools
import json
import os
import uuid
import zlib
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from utils import validate
from utils.counting import meta_model
from utils.files import at_home, not_there, replace_file, stand_in
from utils.llama import LlamaConfig
from utils.model import GPT, GPTConfig
from utils.unwrap import unwrapped

RUN = "run.json"
KINDS = {config.__name__: config for config in (GPTConfig, LlamaConfig)}


def save_model(model: GPT, path) -> None:
    """Write a model's weights and its configuration to one safetensors file. A tied table is written once.

    Raises FileNotFoundError for a missing folder, TypeError for what is no GPT, and ValueError for one whose parts are
    not those of its configuration, which load_model could not read.
    """
    model = unwrapped(model)
    # safetensors refuses two names of one tensor; named_parameters gives the first only
    weights = {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}
    _require_readable(weights, model.config)
    kind = next(name for name, config in KINDS.items() if isinstance(model.config, config))
    _write(path, weights, {"config": json.dumps(asdict(model.config)), "kind": kind})


def _require_readable(weights, config):
    wanted = {name: parameter.shape for name, parameter in meta_model(config).named_parameters()}
    given = {name: tensor.shape for name, tensor in weights.items()}
    different = [name for name in wanted | given if given.get(name) != wanted.get(name)]
    if different or any(tensor.is_meta for tensor in weights.values()):
        reason = f"{different[0]} is not" if different else "on the meta device nothing is"
        raise ValueError(
            f"the model cannot be saved, because {reason} as its configuration says; "
            "undo what pruning, quantising or the like has changed."
        )


def load_model(path) -> GPT:
    """The model that save_model wrote, in eval mode.

    Raises FileNotFoundError for a missing file and ValueError for one that is damaged or of another making.
    """
    weights, notes = _read(path)
    if "config" not in notes:
        raise ValueError(f"{path} holds no configuration; give a file that utils.checkpoint.save_model wrote.")
    try:
        config = KINDS[notes.get("kind", "GPTConfig")]  # the course's first files name none
        model = _empty(config(**json.loads(notes["config"])), weights)
        model.load_state_dict(weights)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{path} holds no whole model of this course ({reason}); get it again.") from None
    return model.eval()


def _empty(config, weights):
    """A model to be filled with these weights: of their type, on the CPU, whatever PyTorch's defaults are now."""
    dtype = next((tensor.dtype for tensor in weights.values()), torch.float32)
    # the weights drawn here are replaced: leave no trace of them
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        return config.build().to(dtype)


def _read(path):
    path = at_home(path)
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
    path = at_home(path)
    if not Path(path).parent.is_dir():
        raise not_there(Path(path).parent, "folder", "make it first")
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file in it.")
    replace_file(path, lambda temporary: save_file(tensors, temporary, notes))


class TrainingRun:
    """What lies beside a training loop: a folder from which the same run goes on, to the last bit, if it was stopped.

    `run.json` holds the settings and the history, `step-N.safetensors` the weights and the optimizer's moments. Killed
    at any moment, the run can go on. Only files that this run wrote are replaced or removed. folder None: nothing is
    kept. settings: of plain numbers, strings, lists and dicts; `steps` among them. writes: False for all processes but
    one. Raises ValueError or TypeError for a folder that holds another run, or cannot be written to.
    """

    def __init__(self, folder, settings, writes=True):
        self.folder, self.settings, self.writes = folder, settings, writes
        if folder is None:
            return
        if not isinstance(folder, (str, os.PathLike)):
            raise validate.wrong_type("checkpoint", folder, "give a folder's path, or None to keep nothing")
        self.folder = at_home(folder)
        fresh = {"step": 0, "weights": None, "history": {"train_loss": []}, "id": uuid.uuid4().hex}
        run = read_run(self.folder) or fresh
        if run["step"]:
            self._require_same(run["settings"])
        self.run = run | {"settings": settings}
        if run["step"] < settings["steps"]:
            self._claim()

    def resume(self, model, optimizer) -> dict:
        """Put a saved run's weights and moments back -> its history; an empty one if nothing was saved."""
        if self.folder is None or not self.run["step"]:
            return {}
        _restore(self.folder / self.run["weights"], model, optimizer)
        print(f"Going on from step {self.run['step']} of {self.settings['steps']}.")
        return self.run["history"]

    def save(self, step, model, optimizer, history: dict):
        """Write everything that the run needs to go on after `step` steps."""
        if self.folder is None or not self.writes:
            return
        state, path = {}, self._free(f"step-{step}")
        for name, parameter in model.named_parameters():
            state[f"model.{name}"] = parameter.detach().contiguous()
            for key, value in optimizer.state.get(parameter, {}).items():
                state[f"optimizer.{key}.{name}"] = value.contiguous()
        _write(path, state, self._mark(path))
        self._note(step=step, weights=path.name, history=history)  # from here on the new step counts
        for old in self.folder.glob("step-*.safetensors"):
            if old != path and self._wrote(old):
                old.unlink()

    def _require_same(self, settings):
        for name, value in self.settings.items():
            if settings.get(name) != value:
                raise ValueError(
                    f"{self.folder} holds a run with {name}={settings.get(name)}, and this call has {name}={value}; "
                    "give the same settings to go on, or another folder to start afresh."
                )

    def _claim(self):
        """Find out, before any work, whether the folder can be written to; from here on run.json is this run's."""
        try:
            if self.writes:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._note()
        except OSError as error:
            raise ValueError(
                f"checkpoint={str(self.folder)!r} is no folder that can be written to ({error.strerror}); give another."
            ) from None

    def _note(self, **changes):
        self.run |= changes
        replace_file(self.folder / RUN, json.dumps(self.run))

    def _free(self, name):
        """A path that is not taken, but by a file of this run."""
        more = itertools.chain([""], map("-{}".format, itertools.count(2)))
        paths = (self.folder / f"{name}{end}.safetensors" for end in more)
        return next(path for path in paths if not os.path.lexists(path) or self._wrote(path))

    def _mark(self, path):
        return {"run": self.run["id"], "file": path.name}  # a copy has another name

    def _wrote(self, path):
        try:
            with safe_open(path, "pt") as file:
                return file.metadata() == self._mark(path)
        except (SafetensorError, OSError):
            return False


def fingerprint(rows) -> str:
    """Rows (m, w) of numbers in one line, which is another one for other rows."""
    checksum = 0
    for piece in validate.pieces(rows):
        checksum = zlib.crc32(piece.cpu().contiguous().numpy(), checksum)
    return f"{len(rows)} rows of {rows.shape[1]}, checksum {checksum:08x}"


def read_run(folder) -> dict | None:
    """What a run wrote down in this folder, with `step`; None if there is nothing."""
    path = Path(folder) / RUN
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        _ = run["settings"].items(), run["history"]["train_loss"], run["step"], run["weights"], run["id"]
        return run
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path} is damaged, or of another program; give another folder, or delete the folder {folder} "
            "to start afresh."
        ) from None


@torch.no_grad()
def _restore(path, model, optimizer):
    state, _ = _read(path)
    parameters = dict(model.named_parameters())
    try:
        for name, parameter in parameters.items():
            parameter.copy_(state.pop(f"model.{name}"))
        for name, value in state.items():
            _, moment, of = name.split(".", maxsplit=2)
            optimizer.state[parameters[of]][moment] = value
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} is no part of this run ({error}); delete {path.parent} to start afresh.") from None
