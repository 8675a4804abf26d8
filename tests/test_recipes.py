"""The written recipes make the shipped models again, on one thread: two on a busy machine take ten times as long."""

import json

import pytest

from utils.experiments import llama_steps, recipes, scaling_law
from utils.pretrained import STAGES, TINY_LLAMA


@pytest.mark.parametrize("name", ["toy_gpt", "names_gpt", "toy_llama"])
def test_trained_again_it_reaches_the_same_loss(name, capsys):
    written, kept = json.loads(recipes.LOSSES.read_text(encoding="utf-8")), []
    history = getattr(recipes, name)(keep=lambda model, *stage: kept.extend(stage or ["whole"]), progress=False)
    assert history.valid_loss[-1] == pytest.approx(written[name], rel=0.02)
    assert kept == (list(STAGES[1:]) if name == "toy_gpt" else ["whole"])
    assert history.stopped == ""
    assert capsys.readouterr() == ("", "")


def test_one_command_makes_every_file(tmp_path, monkeypatch, capsys):
    """With one step each, so this looks at the files only."""
    train = recipes.train
    monkeypatch.setattr(recipes, "train", lambda *args, **options: train(*args, **options | {"steps": 1}))
    monkeypatch.setattr(
        scaling_law, "train", lambda model, rows, steps, *args, **kw: train(model, rows, 1, *args, **kw)
    )
    monkeypatch.setattr(llama_steps, "measure", lambda step, steps, seed: 1.0)
    monkeypatch.setattr(recipes, "TOY_STAGES", {1: "trained"})
    monkeypatch.setattr(recipes, "DATA", tmp_path)
    monkeypatch.setattr(recipes, "LOSSES", tmp_path / "valid_losses.json")
    recipes.main()
    assert {path.name for path in tmp_path.iterdir()} == {
        "names_gpt.safetensors",
        "toy_gpt_trained.safetensors",
        "toy_llama.safetensors",
        "valid_losses.json",
        "scaling.json",
        "llama_steps.json",
    }
    assert set(json.loads((tmp_path / "valid_losses.json").read_text(encoding="utf-8"))) == {
        "toy_gpt",
        "names_gpt",
        "toy_llama",
    }
    found, shipped = (
        json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "scaling.json", scaling_law.MEASUREMENTS)
    )
    assert found["recipe"] == shipped["recipe"]
    for ours, theirs in zip(found["measurements"], shipped["measurements"], strict=True):
        assert [ours.keys(), ours["width"], ours["lr"]] == [theirs.keys(), theirs["width"], theirs["lr"]]
        assert len(ours["gaps"]) == len(ours["held"]) == 3
        assert min(ours["gaps"]) > 2 * max(theirs["gaps"])
    assert "toy_gpt" in capsys.readouterr().out


def test_the_models_on_the_way_to_llama_are_as_told_and_one_trained_again_agrees():
    """Each change does what its name says, and no more; the shortest run is made again."""
    made = {step: llama_steps.after(step) for step in llama_steps.STEPS}
    names = {step: dict(model.named_parameters()) for step, model in made.items()}
    assert sum(name.endswith("bias") for name in names["GPT"]) - 5 == sum("bias" in name for name in names["RMSNorm"])
    assert not any("bias" in name for step in llama_steps.STEPS[2:] for name in names[step])
    assert ["wpe.weight" in names[step] for step in llama_steps.STEPS] == [True] * 3 + [False] * 3
    assert ["gate_proj" in " ".join(names[step]) for step in llama_steps.STEPS] == [False] * 4 + [True] * 2
    assert made[llama_steps.STEPS[-1]].config == TINY_LLAMA
    shipped = llama_steps.shipped()
    assert list(shipped) == list(llama_steps.STEPS)
    assert {len(ratios) for of_step in shipped.values() for ratios in of_step.values()} == {len(llama_steps.SEEDS)}
    assert llama_steps.measure("no biases", 300, 0) == pytest.approx(shipped["no biases"][300][0], rel=0.02)
