"""The numbers that lesson 05 states in prose, compared with what they speak of."""

import math
from dataclasses import replace

import pytest
import torch
from notebook_files import ROOT, cells, prose, run, said
from stated import assert_stated

from utils import training
from utils.counting import GPT2_FAMILY, ledger, tying_saving
from utils.model import GPT
from utils.pretrained import COURSE_MODEL
from utils.text import names
from utils.toy_language import LENGTH, ToyLanguage
from utils.training import train

PATH = ROOT / "lessons" / "05_training.ipynb"
TEXT = prose(PATH)
V, TOTAL = COURSE_MODEL.vocab_size, sum(ledger(COURSE_MODEL).values())


def share_saved(config):
    """What tying saves of the untied model, in whole per cent."""
    untied = sum(ledger(replace(config, tied=False)).values())
    return round(100 * tying_saving(config.vocab_size, config.n_embd) / untied)


STATED = [
    (r"\*toy language\* of (\d+) tokens", [V]),
    (r"row of (\d+) tokens, the mark for its start included", [LENGTH]),
    (r"holds (\d+) questions and their (\d+) answers", [LENGTH - 1, LENGTH - 1]),
    (r"\\ln 200 = ([\d.]+\d)", [round(math.log(V), 2)]),
    (r"(\d+) stories of (\d+) positions make ([\d,]+)", [32, 32, 32 * 32]),
    (r"three numbers; with ([\d,]+) it is the same", [TOTAL]),
    (r"tables' rate is (\d+) times that of the rest", [training.TABLE_RATE]),
    (r"With ([\d,]+) more numbers, the untied", [tying_saving(V, COURSE_MODEL.n_embd)]),
    (
        r"saves (\d+) % of the untied model's numbers here, and (\d+) %",
        [share_saved(c) for c in (COURSE_MODEL, GPT2_FAMILY["GPT-2 small"])],
    ),
    (r"settles near ([\d.]+\d), which is \$\\ln 20 / 32\$", [round(math.log(20) / 32, 2)]),
    (r"another text: ([\d,]+) first names", [len(names().train) + len(names().valid)]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_05_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


def test_the_warm_up_is_ten_steps_and_the_names_are_split_nine_to_one():
    assert "rises for ten steps" in TEXT
    assert training.WARM_UP == 10
    assert "nine times as long" in TEXT
    assert round(len(names().train) / len(names().valid)) == 9


def test_a_name_is_repeated_a_dozen_words_back_or_more():
    assert "the name is a dozen words back or more" in TEXT
    for slots in ToyLanguage()._plots:
        places = [place for place, slot in enumerate(slots) if slot.key == "name"]
        if len(places) > 1:
            assert places[1] - places[0] >= 12


def test_twenty_stories_are_learned_down_to_which_of_them_it_is():
    language = ToyLanguage()
    torch.manual_seed(0)
    run = train(GPT(COURSE_MODEL), language.stories(20_000, seed=0)[0][:20], 200, progress=False)
    assert sum(run.train_loss[-50:]) / 50 == pytest.approx(math.log(20) / 32, abs=0.02)


# --- the whole loop


@pytest.fixture(scope="module")
def plain_train():
    """The loop of section 4, from its cell."""
    (cell,) = (cell for cell in cells(PATH, "code") if "def plain_train" in cell.source)
    return run([cell])[0]["plain_train"]


def test_the_plain_loop_takes_the_steps_of_the_library(plain_train, monkeypatch):
    """With its optimizer and its rates: up over ten steps, and no fall after them."""
    assert "with the same optimizer and the same rates the two take the same steps" in TEXT

    def plain_optimizer(model, lr):
        return torch.optim.AdamW([{"params": list(model.parameters()), "scale": 1}], lr=lr)

    monkeypatch.setattr(training, "make_optimizer", plain_optimizer)
    monkeypatch.setattr(training, "LAST_RATE", 1.0)
    rows = ToyLanguage().stories(500, seed=0)[0]
    losses = []
    for loop in (plain_train, lambda *args, **settings: train(*args, **settings, progress=False).train_loss):
        torch.manual_seed(0)
        losses.append(loop(GPT(COURSE_MODEL), rows, 15, batch_size=8, lr=5e-3, seed=3))
    assert len(losses[0]) == 15
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


def test_the_plain_loop_warms_up_over_ten_steps(plain_train, monkeypatch):
    assert "the learning rate rises over the first ten steps" in TEXT
    rates, step = [], torch.optim.AdamW.step

    def noting(self, *args, **settings):
        rates.extend(group["lr"] for group in self.param_groups)
        return step(self, *args, **settings)

    monkeypatch.setattr(torch.optim.AdamW, "step", noting)
    torch.manual_seed(0)
    plain_train(GPT(COURSE_MODEL), ToyLanguage().stories(50, seed=0)[0], 12, batch_size=2, lr=1e-2)
    assert rates == pytest.approx([0.001 * min(10, n) for n in range(1, 13)])


def test_the_story_that_goes_on_was_never_read_and_keeps_its_hero_and_object():
    assert "for 180 steps. Then the model goes on with a story that it has never read" in TEXT
    (cell,) = (cell for cell in cells(PATH, "code") if cell.id == "plain-run")
    assert "lang.stories(20_000, seed=0)[0], 180)" in cell.source
    language = ToyLanguage()
    begun = "suddenly Anna took the big map to our park. a cat"
    start = torch.tensor([language.start, *language.encode(begun)])
    rows = language.stories(20_000, seed=0)[0]
    assert not (rows[:, : len(start)] == start).all(dim=1).any()
    assert f"{begun} ... wanted the big map. Anna gave the big map" in said(PATH)
