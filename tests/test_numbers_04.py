"""The numbers that lesson 04 states, compared with what they speak of; its loop, compared with the library's."""

import math
import re

import pytest
import torch
from notebook_files import prose, run, said, sections
from stated import assert_stated, lesson, quiz_text

from utils import check
from utils.model import GPT
from utils.pretrained import COURSE_MODEL, load_names_gpt, load_toy_gpt
from utils.sampling import generate, next_token_probs
from utils.text import names
from utils.toy_language import ToyLanguage
from utils.widgets import quiz

PATH = lesson("04")
TEXT, QUIZ, LANG = prose(PATH), quiz_text("04"), ToyLanguage()
FOUR = torch.tensor([0.5, 0.3, 0.1, 0.1]).log()
REPETITIONS = {"name", "friend", "adjective", "object", "place", "animal"}


def first_of_two(difference):
    """The first of two tokens' probabilities, from how much higher its score is; two decimals."""
    return round(1 / (1 + math.exp(-difference)), 2)


STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("4.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("04"))]),
    (r"two texts of 40 tokens, more than the \[context\]\S+ of (\d+) has room for", [COURSE_MODEL.n_ctx]),
    (r"With the last (\d+) of the 40 tokens", [COURSE_MODEL.n_ctx]),
    (r"and \$p = 0\.8\$ (\w+) tokens stay", [next_token_probs(FOUR, top_p=0.8).count_nonzero().item()]),
    (r"about (\d+) % where ([\d.]+) % would be even", [1, 100 / COURSE_MODEL.vocab_size]),
    (r"letter by letter, with a context of (\d+)\.", [load_names_gpt().config.n_ctx]),
    (r"We give it (\d+) letters and change", [len(names().encode("Alexandrinabellamarie"))]),
    (r"In the language, (\d+) % of all stories have \*red\*", [round(100 / sum(1 / rank for rank in range(1, 19)))]),
]
IN_THE_QUIZ = [
    (r"There are (\d+) rows in the position table", [COURSE_MODEL.n_ctx]),
    (r"the first token goes from ([\d.]+) to ([\d.]+\d)\.", [first_of_two(2 - 0), first_of_two((2 - 0) / 0.5)]),
    (r"The kept set must reach p\. With one token it has ([\d.]+\d) only", [0.5]),
    (r"that reaches 0\.6\. They become ([\d.]+) and ([\d.]+\d)\.", [0.5 / 0.8, round(0.3 / 0.8, 3)]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_04_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


@pytest.mark.parametrize(("sentence", "wanted"), IN_THE_QUIZ, ids=[sentence for sentence, _ in IN_THE_QUIZ])
def test_a_number_that_quiz_04_states_is_right(sentence, wanted):
    assert_stated(QUIZ, sentence, wanted)


@pytest.mark.parametrize(("beginning", "count"), [("today Anna took", 1), ("today Anna took the", 18)])
def test_as_many_words_can_follow_as_stated(beginning, count):
    assert "after *today Anna took* one word can follow, after *took the* eighteen can" in TEXT
    words = beginning.split()
    rows, _ = LANG.stories(20_000, seed=7)
    inside = (rows[:, 3] == LANG.encode("took")[0]) & (rows[:, len(words)] == LANG.encode(words[-1])[0])
    assert len(rows[inside][:, len(words) + 1].unique()) == count


def test_red_takes_more_than_half_at_half_the_temperature_and_little_more_at_two():
    (falls,) = re.findall(r"The probability of red falls from ([\d.]+) to ([\d.]+) to ([\d.]+\d)\.", said(PATH))
    ids = torch.tensor([[LANG.start, *LANG.encode("today Anna took the")]])
    scores = load_toy_gpt()(ids)[0, -1].double().tolist()
    red, tokens = LANG.encode("red")[0], range(200)
    for stated, temperature in zip(falls, (0.5, 1.0, 2.0), strict=True):
        whole = math.fsum(math.exp(scores[token] / temperature) for token in tokens)
        assert float(stated) == pytest.approx(math.exp(scores[red] / temperature) / whole, abs=0.006)
    assert "at 0.5 it takes more than half" in TEXT
    assert float(falls[0]) > 0.5
    assert "at 2 it is only half again as likely as *big*" in TEXT
    assert math.exp((scores[red] - scores[LANG.encode("big")[0]]) / 2) == pytest.approx(1.5, abs=0.1)


def test_no_nan_at_the_tiniest_temperature_that_lesson_04_names():
    assert "as tiny as $10^{-40}$ gives no NaN" in TEXT
    assert torch.equal(next_token_probs(FOUR, temperature=1e-40), torch.tensor([1.0, 0, 0, 0]))


def test_a_sum_within_a_millionth_counts_as_having_reached_p():
    assert "when it comes within a millionth" in TEXT
    for short, kept in ((0.5e-6, 1), (3e-6, 2)):  # by how much the first probability falls short of p
        probs = torch.tensor([0.5 - short, 0.5 + short], dtype=torch.float64).flip(0)  # the larger one stands first
        assert next_token_probs(probs.log(), top_p=probs[0].item() + short).count_nonzero() == kept


# --- untrained and trained


def test_the_fresh_model_repeats_in_one_per_cent_and_the_loud_one_nearly_always():
    """Over other random weights and other stories than the lesson's."""
    read = LANG.stories(100, seed=8)[0][:, :-1]
    torch.manual_seed(3)
    fresh, loud = GPT(COURSE_MODEL), GPT(COURSE_MODEL)
    loud.wte.reset_parameters()
    for model, name, repeats in ((fresh, "fresh", 0.01), (loud, "loud", 1.0), (load_toy_gpt(), "trained", 0.0)):
        with torch.no_grad():
            probs = model(read).softmax(-1)
        mean = probs.gather(-1, read[..., None]).mean().item()
        assert mean == pytest.approx(repeats, abs=0.005), name
        favourite = (probs.argmax(-1) == read).float().mean().item()
        assert favourite < 0.01 if name == "trained" else favourite > 0.9, name
        assert f"{name:8} repeats with {repeats:.2f}, favourite in" in said(PATH)


def test_the_loud_model_writes_one_word_for_ever():
    assert re.search(r"loud: today( Anna){13}$", said(PATH), re.M)


# --- how good the samples are


def samples(seed, **filters):
    """500 stories of the trained model."""
    start, generator = torch.full((500, 1), LANG.start), torch.Generator().manual_seed(seed)
    return generate(load_toy_gpt(), start, 32, generator=generator, **filters)


def share_that_agrees(rows):
    """The share of stories in which nothing that is repeated disagrees."""
    return sum(not any(kind in REPETITIONS for kind, _ in LANG.errors(story)) for story in rows) / len(rows)


def share_of_red(rows):
    """The share of stories whose adjective is red; it stands at place 5."""
    return (rows[:, 5] == LANG.encode("red")[0]).double().mean().item()


def scatter(share):
    """Four standard deviations of a share of 500 stories, since both the lesson's and the test's are drawn."""
    return 4 * math.sqrt(share * (1 - share) / 500)


def test_stories_agree_the_more_the_lower_the_temperature():
    """Over another seed than the lesson's."""
    (stated,) = re.findall(r"Stories that agree: (\d+)% at 0\.2, (\d+)% at 1, (\d+)% at 2", said(PATH))
    low, one, high = (int(share) / 100 for share in stated)
    assert "a few stories in a hundred have a disagreement" in TEXT
    assert 0.94 < one < 0.98
    assert share_that_agrees(samples(1, temperature=1.0)) == pytest.approx(one, abs=scatter(one))
    assert share_that_agrees(samples(1, temperature=2.0)) == pytest.approx(high, abs=scatter(high))
    assert low == share_that_agrees(samples(1, temperature=0.2)) == 1


def test_below_a_temperature_of_0_6_the_stories_become_fewer():
    assert "Below 0.6 there are also fewer different stories" in TEXT
    different = [len(samples(1, temperature=temperature).unique(dim=0)) / 500 for temperature in (0.4, 0.6)]
    assert different[0] < 0.8
    assert different[1] > 0.95


@pytest.mark.parametrize("temperature", [1, 2])
def test_every_slip_counted(temperature):
    """With the lesson's seed, of which one story more or less is right on another machine."""
    (stated,) = re.findall(r"Counting every slip, (\d+) % of the stories are right at 1, and (\d+) % at 2", TEXT)
    right = sum(not LANG.errors(story) for story in samples(0, temperature=float(temperature))) / 500
    assert right == pytest.approx(int(stated[temperature - 1]) / 100, abs=0.007)


def test_a_low_temperature_changes_the_language_and_top_p_hardly():
    shown = re.findall(r"^\{'(\w+)': ([\d.]+)\}: agree (\d+)%, red (\d+)%$", said(PATH), re.M)
    assert [(name, float(value)) for name, value, _, _ in shown] == [
        ("temperature", 1.0),
        ("temperature", 0.6),
        ("top_p", 0.95),
    ]
    red = {}
    for name, value, agree, share in shown:
        rows = samples(1, **{name: float(value)})
        assert share_that_agrees(rows) == pytest.approx(int(agree) / 100, abs=0.005 + scatter(int(agree) / 100))
        assert share_of_red(rows) == pytest.approx(int(share) / 100, abs=scatter(int(share) / 100)), (name, value)
        red[name, value] = int(share)
    assert "A low temperature makes the stories agree, and doubles the share of *red*" in TEXT
    assert red["temperature", "0.6"] / red["temperature", "1.0"] == pytest.approx(2, abs=0.1)
    assert abs(red["top_p", "0.95"] - red["temperature", "1.0"]) <= 3


def test_the_stories_of_the_language_have_red_as_often_as_stated():
    assert share_of_red(LANG.stories(20_000, seed=9)[0]) == pytest.approx(0.286, abs=0.01)


def test_the_true_language_has_no_disagreement():
    assert "The true language has none" in TEXT
    assert not any(LANG.errors(story) for story in LANG.stories(500, seed=1)[0])


# --- the loop


@pytest.fixture(scope="module")
def plain_generate():
    """The loop of section 6, from its cells."""
    code = dict(sections(PATH))["6. The whole loop"]
    place = next(place for place, cell in enumerate(code) if "def plain_generate" in cell.source)
    needed = [cell for cell in code[: place + 1] if "exercise" not in cell.metadata.get("tags", [])]
    return run(needed)[0]["plain_generate"]


@pytest.mark.parametrize(
    "filters", [{}, {"temperature": 0}, {"temperature": 1.7, "top_k": 5}, {"top_p": 0.8}, {"top_k": 30, "top_p": 0.9}]
)
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("load", [load_toy_gpt, load_names_gpt])
def test_the_plain_loop_writes_what_the_library_writes(load, cached, filters, plain_generate):
    """Past the end of the context, which is 32 or 13."""
    model, prompt = load(), torch.tensor([[1, 4, 2], [3, 3, 5]])
    written = plain_generate(model, prompt, 40, torch.Generator().manual_seed(6), **filters)
    options = {"generator": torch.Generator().manual_seed(6), "use_cache": cached, **filters}
    assert torch.equal(written, generate(model, prompt, 40, **options))


def test_the_plain_loop_takes_the_model_out_of_training(plain_generate):
    model = load_toy_gpt().train()
    plain_generate(model, torch.tensor([[1]]), 1)
    assert not model.training


def test_the_ninth_of_21_letters_is_the_first_that_a_context_of_13_sees():
    assert "the first, which is out of sight, and then the ninth, which is the first that it sees" in TEXT
    model, letters = load_names_gpt(), torch.tensor([names().encode("Alexandrinabellamarie")])
    moved = []
    for place in range(letters.shape[1]):
        other = letters.clone()
        other[0, place] = names().encode("z")[0]
        with torch.no_grad():
            moved.append(not torch.equal(model(letters[:, -13:])[0, -1], model(other[:, -13:])[0, -1]))
    assert moved.index(True) + 1 == 9
    assert "letter 1: moved False\nletter 9: moved True" in said(PATH)


def test_the_loop_passes_half_a_million_tokens_for_a_thousand():
    assert "For a text of a thousand tokens, half a million tokens pass through the model" in TEXT
    assert "1,024 new tokens:  524,800 passed, 512.5 times as many" in said(PATH)
    passed = []
    model = load_toy_gpt()
    model.register_forward_pre_hook(lambda _, given: passed.append(given[0].shape[1]))
    generate(model, torch.tensor([[LANG.start]]), 32, use_cache=False)
    assert sum(passed) == sum(range(1, 33)) == 528  # as the cell says for 32
