"""The written recipes make the shipped models again, on one thread: two on a busy machine take ten times as long."""

import json

import pytest

from utils.experiments import recipes, scaling_law
from utils.pretrained import STAGES


@pytest.mark.parametrize("name", ["toy_gpt", "names_gpt"])
def test_trained_again_it_reaches_the_same_loss(name, capsys):
    written, kept = json.loads(recipes.LOSSES.read_text(encoding="utf-8")), []
    history = getattr(recipes, name)(keep=lambda model, *stage: kept.extend(stage or ["whole"]), progress=False)
    assert history.valid_loss[-1] == pytest.approx(written[name], rel=0.02)
    assert kept == {"toy_gpt": list(STAGES[1:]), "names_gpt": ["whole"]}[name]
    assert history.stopped == ""
    assert capsys.readouterr() == ("", "")


def test_one_command_makes_every_file(tmp_path, monkeypatch, capsys):
    """With one step each, so this looks at the files only."""
    train = recipes.train
    monkeypatch.setattr(recipes, "train", lambda *args, **options: train(*args, **options | {"steps": 1}))
    monkeypatch.setattr(
        scaling_law, "train", lambda model, rows, steps, *args, **kw: train(model, rows, 1, *args, **kw)
    )
    monkeypatch.setattr(recipes, "TOY_STAGES", {1: "trained"})
    monkeypatch.setattr(recipes, "DATA", tmp_path)
    monkeypatch.setattr(recipes, "LOSSES", tmp_path / "valid_losses.json")
    recipes.main()
    assert {path.name for path in tmp_path.iterdir()} == {
        "names_gpt.safetensors",
        "toy_gpt_trained.safetensors",
        "valid_losses.json",
        "scaling.json",
    }
    assert set(json.loads((tmp_path / "valid_losses.json").read_text(encoding="utf-8"))) == {"toy_gpt", "names_gpt"}
    found, shipped = (
        json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "scaling.json", scaling_law.MEASUREMENTS)
    )
    assert found["recipe"] == shipped["recipe"]
    for ours, theirs in zip(found["measurements"], shipped["measurements"], strict=True):
        assert [ours.keys(), ours["width"], ours["lr"]] == [theirs.keys(), theirs["width"], theirs["lr"]]
        assert len(ours["gaps"]) == len(ours["held"]) == 3
        assert min(ours["gaps"]) > 2 * max(theirs["gaps"])
    assert "toy_gpt" in capsys.readouterr().out
