"""The shipped models: what each has learned, measured afresh on stories that no recipe has seen."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from utils.experiments.recipes import LOSSES, toy_stories
from utils.pretrained import DATA, STAGES, load_names_gpt, load_toy_gpt, load_toy_llama
from utils.sampling import generate
from utils.text import names
from utils.toy_language import ToyLanguage

FILES = sorted(DATA.glob("*.safetensors"))


@pytest.fixture(scope="module")
def lang():
    return ToyLanguage()


@torch.no_grad()
def losses(model, rows):
    """-log p of each target, without the code under test: rows (m, T + 1) -> (m, T), 0 for -100."""
    logits = model(rows[:, :-1].clamp(min=0))
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none").view(rows[:, 1:].shape)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_the_course_model_in_eval_mode(course, stage):
    state = torch.get_rng_state()
    model = load_toy_gpt(stage)
    assert torch.equal(state, torch.get_rng_state())
    assert not model.training
    assert model.config == course
    assert model.lm_head.weight is model.wte.weight
    assert all(p.requires_grad and p.isfinite().all() for p in model.parameters())


def test_loading_twice_gives_two_equal_models_whatever_ran_before():
    one, _, two = load_toy_gpt("untrained"), torch.rand(3), load_toy_gpt("untrained")
    assert all(torch.equal(a, b) and a is not b for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert torch.equal(load_toy_gpt().wte.weight, load_toy_gpt("trained").wte.weight)


@pytest.mark.parametrize("stage", ["Trained", "half", "", None])
def test_an_unknown_stage_is_refused(refused, stage):
    with refused(ValueError, f"stage={stage!r}", *map(repr, STAGES)):
        load_toy_gpt(stage)


def test_the_stages_stand_before_and_after_copying_is_learned(lang):
    """A copied word costs as much as a choice between several, and then less than a fifth of that."""
    ids, logprobs = lang.stories(1000, seed=7)  # which no recipe has seen
    floor, kinds = -logprobs[:, 1:].mean().item(), lang.kinds(ids)
    each = [losses(load_toy_gpt(stage), ids) for stage in STAGES]
    assert floor <= each[-1].mean().item() <= 1.02 * floor
    untrained, before, after, trained = ({kind: of[mask].mean().item() for kind, mask in kinds.items()} for of in each)
    assert all(loss == pytest.approx(5.3, abs=0.1) for loss in untrained.values())  # ln 200
    assert before["copied"] > 1.2
    assert after["copied"] < 0.25
    assert trained["copied"] < 0.01
    assert before["forced"] < 0.05, "fixed words are learned first"
    assert before["choice"] < 2.5


def test_the_trained_model_tells_right_stories(lang):
    right = {}
    for stage in STAGES[1:]:
        start, generator = torch.full((300, 1), lang.start), torch.Generator().manual_seed(5)
        drawn = generate(load_toy_gpt(stage), start, 32, generator=generator)
        right[stage] = sum(not lang.errors(story) for story in drawn) / 300
    assert right["trained"] >= 0.9
    assert right["after_copying"] >= 0.3
    assert right["before_copying"] <= 0.05


def test_the_written_losses_are_those_of_the_shipped_weights():
    written = json.loads(LOSSES.read_text(encoding="utf-8"))
    rows = names().rows(names().valid)
    found = {
        "toy_gpt": losses(load_toy_gpt(), toy_stories()[1]).mean().item(),
        "toy_llama": losses(load_toy_llama(), toy_stories()[1]).mean().item(),
        "names_gpt": (losses(load_names_gpt(), rows).sum() / (rows[:, 1:] != -100).sum()).item(),
    }
    assert found == pytest.approx(written, abs=1e-3)


def test_the_names_model_is_made_for_the_names():
    model, data = load_names_gpt(), names()
    assert not model.training
    assert (model.config.vocab_size, model.config.n_ctx) == (data.vocab_size, data.longest + 1)
    start, generator = torch.full((200, 1), data.start), torch.Generator().manual_seed(5)
    drawn = generate(model, start, data.longest + 1, generator=generator)
    assert all(data.stop in ids[1:] for ids in drawn.tolist()), "a name that does not end"
    words = [data.decode(ids) for ids in drawn]
    assert sum(word.istitle() for word in words) > 190
    # letters at random hit none of the names
    assert 10 < sum(word in {*data.train, *data.valid} for word in words) < 100, "it has learned names, not by heart"


def test_files_are_small_and_none_is_left_over():
    assert {path.stem for path in FILES} == {"names_gpt", "toy_llama", *(f"toy_gpt_{stage}" for stage in STAGES[1:])}
    assert all(path.stat().st_size <= 500_000 for path in Path(DATA).rglob("*.*"))


def test_the_shipped_weights_come_as_they_are_whatever_pytorchs_defaults():
    wanted = load_toy_gpt().state_dict()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            given = load_toy_gpt().state_dict()
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(
        torch.equal(given[name], tensor) and given[name].dtype == tensor.dtype for name, tensor in wanted.items()
    )
