"""Checkpoints: what is saved comes back to the last bit, a run goes on as if it had never stopped, damage is told."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_runs import TINY, VALID, at_step, data, fit, interrupt, make, same, weights

from utils import checkpoint
from utils.checkpoint import load_model, save_model
from utils.model import GPT, GPTConfig


def header(path):
    """A safetensors file's JSON header, read without the library."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    return json.loads(raw[8 : 8 + size])


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_comes_back_to_the_last_bit(tmp_path, tied):
    path, model = tmp_path / "a.safetensors", make(seed=4, tied=tied, n_inner=24, activation="relu")
    save_model(model, path)
    state = torch.get_rng_state()
    again = load_model(str(path))
    assert torch.equal(state, torch.get_rng_state())
    assert same(model.state_dict(), again.state_dict())
    assert (again.config, again.lm_head.weight is again.wte.weight) == (model.config, tied)
    assert (again.training, model.training) == (False, True)
    assert list(tmp_path.iterdir()) == [path]
    notes = header(path)
    assert GPTConfig(**json.loads(notes.pop("__metadata__")["config"])) == model.config
    assert {name: entry["shape"] for name, entry in notes.items()} == {
        name: list(p.shape) for name, p in model.named_parameters()
    }
    assert {entry["dtype"] for entry in notes.values()} == {"F32"}


def test_plain_torch_loads_a_tied_file_strictly_once_the_head_is_shared(tmp_path):
    model = make(seed=4)
    save_model(model, tmp_path / "a.safetensors")
    state = load_file(tmp_path / "a.safetensors")
    other = GPT(model.config)
    assert other.load_state_dict(state, strict=True).missing_keys == []
    assert same(model.state_dict(), other.state_dict())
    naive = torch.nn.Module()  # knows nothing of a tie
    for name in ("wte", "wpe", "h", "ln_f", "lm_head"):
        setattr(naive, name, getattr(make(tied=False), name))
    with pytest.raises(RuntimeError, match=r"lm_head\.weight"):
        naive.load_state_dict(load_file(tmp_path / "a.safetensors"))
    naive.load_state_dict(state | {"lm_head.weight": state["wte.weight"]}, strict=True)
    assert same(model.state_dict(), naive.state_dict())


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


DAMAGES = {
    "truncated": truncate,
    "half a header": lambda path: path.write_bytes(path.read_bytes()[:50]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no model at all", encoding="utf-8"),
    "pickle": lambda path: torch.save({"a": torch.ones(2)}, path),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_told(tmp_path, refused, damage):
    path = tmp_path / "a.safetensors"
    save_model(make(), path)
    damage(path)
    with refused(ValueError, "a.safetensors", "damaged"):
        load_model(path)


def test_a_missing_file_is_told(tmp_path, refused):
    with refused(FileNotFoundError, "b.safetensors"):
        load_model(tmp_path / "b.safetensors")
    with refused(FileNotFoundError, "nowhere"):
        save_model(make(), tmp_path / "nowhere" / "b.safetensors")


OTHER_SIZES = [json.dumps(TINY | size) for size in ({"n_embd": 15}, {"n_embd": 32}, {"n_layer": 2})]


@pytest.mark.parametrize("config", [None, "{", "[1]", '{"size": 3}', *OTHER_SIZES])
def test_a_file_of_another_making_is_told(tmp_path, refused, config):
    save_file(dict(make().named_parameters()), tmp_path / "a.safetensors", config and {"config": config})
    with refused(ValueError, "a.safetensors"):
        load_model(tmp_path / "a.safetensors")


ALL = torch.ones(10, 8, dtype=torch.bool)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("stops", [[7], [1, 5, 19], [20]])
def test_a_run_goes_on_exactly(tmp_path, capsys, tied, stops):
    whole, model = make(tied=tied), make(tied=tied)
    call = {"rows": data(ignored=0.2), "steps": 20, "kinds": {"all": ALL}, **VALID}
    wanted = fit(whole, **call)
    for k in stops:
        stopped = fit(model, **call, checkpoint=tmp_path / "run", watch=at_step(k, interrupt))
        assert len(stopped.train_loss) == k
        model = make(seed=99, tied=tied)  # as in a new process: other weights
        torch.manual_seed(k)
    assert fit(model, **call, checkpoint=tmp_path / "run") == wanted  # with nothing in `stopped`
    assert same(whole.state_dict(), model.state_dict())
    assert (model.lm_head.weight is model.wte.weight) == tied
    assert f"Going on from step {stops[-1]} of 20." in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.json", "step-20.safetensors"]


def test_a_finished_run_is_not_trained_again(tmp_path):
    first = fit(model := make(), data(), steps=6, checkpoint=tmp_path)
    before, seen = weights(model), []
    assert fit(model, data(), steps=6, checkpoint=tmp_path, watch=seen.append) == first
    assert seen == []
    assert same(before, model.state_dict())


@pytest.mark.parametrize("moment", ["step-10.safetensors", "run.json", "clean up"])
def test_killed_while_it_saves_it_still_goes_on(tmp_path, monkeypatch, moment):
    """Killed for good before a write of step 10: step 5 counts; before the old file is deleted: step 10."""

    class Killed(BaseException):
        pass

    def kill(*_):
        raise Killed

    def arm():
        replace, unlink, old = os.replace, Path.unlink, tmp_path / "step-5.safetensors"
        monkeypatch.setattr(os, "replace", lambda a, b: kill() if b.name == moment else replace(a, b))
        if moment == "clean up":
            monkeypatch.setattr(Path, "unlink", lambda a, **how: kill() if a == old else unlink(a, **how))

    whole = make()
    wanted = fit(whole, data(), steps=20, **VALID)
    with pytest.raises(Killed):
        fit(make(), data(), steps=20, checkpoint=tmp_path, watch=at_step(10, arm), **VALID)
    monkeypatch.undo()
    assert checkpoint.read_run(tmp_path)["step"] == (10 if moment == "clean up" else 5)
    model = make(seed=99)
    assert fit(model, data(), steps=20, checkpoint=tmp_path, **VALID) == wanted
    assert same(whole.state_dict(), model.state_dict())


OTHERS = [  # the settings of a run that was stopped, those of the call that should go on, and what is said
    ({}, {"steps": 21}, ["steps=20", "steps=21"]),
    ({}, {"batch_size": 8}, ["batch_size=4", "batch_size=8"]),
    ({}, {"lr": 1e-4}, ["lr=0.003", "lr=0.0001"]),
    ({}, {"seed": 3}, ["seed=0", "seed=3"]),
    ({}, {"rows": data(seed=8)}, ["rows=40 rows"]),
    ({}, {"rows": data().flip(0)}, ["rows=40 rows"]),  # the same sum
    ({}, {"model": make(n_embd=32)}, ["config", "32"]),
    ({}, {"model": make(tied=False)}, ["config", "tied"]),
    ({}, {"kinds": {"all": ALL}}, ["kinds="]),
    ({"kinds": {"all": ALL}}, {}, ["kinds="]),
    ({"kinds": {"all": ALL}}, {"kinds": {"all": ALL.triu()}}, ["kinds="]),
    ({}, {"valid_rows": data(10, seed=3)}, ["valid_rows=10 rows"]),
    ({}, {"valid_rows": None}, ["valid_rows=None"]),
    ({}, {"valid_every": 6}, ["valid_every=6"]),
]


@pytest.mark.parametrize(("first", "then", "words"), OTHERS)
def test_other_settings_are_refused_by_name(tmp_path, refused, first, then, words):
    call = {"rows": data(), "steps": 20, "checkpoint": tmp_path, **VALID}
    fit(make(), **call | {"watch": at_step(10, interrupt)} | first)
    call |= {"model": make(seed=5)} | then
    before = weights(call["model"])
    with refused(ValueError, str(tmp_path), "same settings", *words):
        fit(**call)
    assert same(before, call["model"].state_dict())


def test_numbers_of_numpy_can_be_saved(tmp_path):
    options = {"steps": np.int64(6), "lr": np.float32(0.0078125), "seed": np.int64(0)}
    first = fit(make(), data(), checkpoint=tmp_path, **options)
    assert fit(make(), data(), steps=6, lr=0.0078125, checkpoint=tmp_path) == first


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"lr": 3}', '{"settings": 3}', '{"settings": {}, "step": 1}'])
def test_a_run_json_that_is_damaged_or_of_another_program_is_told_and_kept(tmp_path, refused, text):
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with refused(ValueError, "run.json is damaged", "another program", "another folder", "delete the folder"):
        fit(make(), data(), steps=6, checkpoint=tmp_path)
    assert (tmp_path / "run.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("damage", "kind", "words"), [(truncate, ValueError, " is damaged"), (os.remove, FileNotFoundError, "")]
)
def test_damaged_and_missing_weights_of_a_run_are_told(tmp_path, refused, damage, kind, words):
    fit(make(), data(), steps=6, checkpoint=tmp_path)
    damage(tmp_path / "step-6.safetensors")
    with refused(kind, "step-6.safetensors" + words):
        fit(make(), data(), steps=6, checkpoint=tmp_path)


def test_a_pointer_of_git_lfs_is_named(tmp_path, refused):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 7\n")
    with refused(ValueError, f"{path} is a Git LFS pointer", "`git lfs pull`"):
        load_model(path)


def test_a_windows_path_typed_without_r_is_shown_as_it_was_typed(refused):
    with refused(FileNotFoundError, r"no file C:\models\new", r'write r"C:\models\new"'):
        load_model("C:\\models\new")
    with refused(FileNotFoundError, r"no folder models\new", r'write r"models\new"'):
        save_model(make(), "models\new/x.safetensors")
