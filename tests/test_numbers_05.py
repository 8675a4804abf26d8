"""The numbers that lesson 05 states in prose, compared with what they speak of."""

import math
from dataclasses import replace

import pytest
import torch
from notebook_files import ROOT, prose
from stated import assert_stated

from utils import training
from utils.counting import GPT2_FAMILY, ledger, tying_saving
from utils.model import GPT
from utils.pretrained import COURSE_MODEL
from utils.text import names
from utils.toy_language import LENGTH, ToyLanguage
from utils.training import train

TEXT = prose(ROOT / "lessons" / "05_training.ipynb")
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
    (r"(\d+) stories of (\d+) places make ([\d,]+)", [32, 32, 32 * 32]),
    (r"three numbers; with ([\d,]+) it is the same", [TOTAL]),
    (r"tables' rate is (\d+) times that of the rest", [training.TABLE_RATE]),
    (r"With ([\d,]+) numbers more, the untied", [tying_saving(V, COURSE_MODEL.n_embd)]),
    (
        r"saves (\d+) % of the numbers here and (\d+) %",
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
    assert "the name stands a dozen words back or more" in TEXT
    for slots in ToyLanguage()._plots:
        places = [place for place, slot in enumerate(slots) if slot.key == "name"]
        if len(places) > 1:
            assert places[1] - places[0] >= 12


def test_twenty_stories_are_learned_down_to_which_of_them_it_is():
    language = ToyLanguage()
    torch.manual_seed(0)
    run = train(GPT(COURSE_MODEL), language.stories(20_000, seed=0)[0][:20], 200, progress=False)
    assert sum(run.train_loss[-50:]) / 50 == pytest.approx(math.log(20) / 32, abs=0.02)
