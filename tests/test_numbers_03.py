"""The numbers that lesson 03 states, compared with the published ones and with what a model's tensors hold."""

import math
import re

import pytest
from notebook_files import prose, said
from stated import assert_stated, lesson, number, quiz_text

from utils import check
from utils.counting import GPT2_FAMILY, GPT3_FAMILY, conventions, ledger, training_bytes
from utils.model import GPT, Block, GPTConfig
from utils.pretrained import COURSE_MODEL
from utils.widgets import WidthExplorer, quiz

PATH = lesson("03")
TEXT, QUIZ = prose(PATH), quiz_text("03")

# as the authors published them, and as the issue gives them
GPT2 = {"small": 124_439_808, "medium": 354_823_168, "large": 774_030_080, "XL": 1_557_611_200}
GPT3 = {  # in billions
    **{"125M": 0.1252, "350M": 0.3559, "760M": 0.7603, "1.3B": 1.316},
    **{"2.7B": 2.652, "6.7B": 6.658, "13B": 12.95, "175B": 174.6},
}
CONVENTIONS = {
    "all unique parameters": 124_439_808,
    "entries of state_dict": 163_037_184,
    "without positions": 123_653_376,
    "without both tables": 85_056_000,
    "12 L d^2": 84_934_656,
}
SMALL, TABLE = GPT2["small"], 50_257 * 768
LARGEST = GPT3_FAMILY["GPT-3 175B"]


def by_tensor(module):
    """The numbers in a module's tensors."""
    return sum(parameter.numel() for parameter in module.parameters())


def crossing(vocab_size, n_layer):
    """The neighbours among the panel's widths between which all of the blocks begin to weigh more than the table."""
    widths = [width for _, width in WidthExplorer().width.options]
    heavy = [n_layer * (12 * d**2 + 13 * d) > vocab_size * d for d in widths]
    return [widths[heavy.index(True) - 1], widths[heavy.index(True)]]


BLOCK, TINY = by_tensor(Block(COURSE_MODEL)), GPT(GPTConfig(vocab_size=10, n_ctx=4, n_embd=2, n_layer=1, n_head=1))
BILLION_3 = round(sum(ledger(GPTConfig(50_257, 2_048, 12_288, 96, 96)).values()) / 1e9, 1)
TRAINED = {bytes_each: training_bytes(1, bytes_each) for bytes_each in (4, 2)}

STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("3.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("03"))]),
    (r"Where ([\d,]+) numbers sit", [SMALL]),
    (r'"GPT-2 has (\d+) million parameters"', [round(SMALL / 1e6)]),
    (r"four large matrices: (\d+), (\d+), (\d+) and again (\d+) rows", [3 * 64, 64, 4 * 64, 64]),
    (r"They agree: ([\d,]+)\.", [BLOCK]),
    (r"tables have (\d+) and (\d+), the block has", [TINY.wte.weight.numel(), TINY.wpe.weight.numel()]),
    (r"13 \\cdot 2 = (\d+)\$, the norm has (\d+)\. Together (\d+)", [by_tensor(TINY.h[0]), 4, by_tensor(TINY)]),
    (r"the token table from \w+ to \w+: (\d+) % in the course", [round(100 * 12_800 / by_tensor(GPT(COURSE_MODEL)))]),
    (r"(\d+) % in GPT-2 small, and then less", [round(100 * TABLE / SMALL)]),
    (r"a vocabulary of \$V = ([\d{},]+)\$ and a context of \$n = ([\d{},]+)\$", [50_257, 1_024]),
    (r"The paper's table says (\d+), (\d+), (\d+) and ([\d,]+) million", [117, 345, 762, 1_542]),
    (r"The context is ([\d,]+) tokens, the vocabulary GPT-2's", [2_048]),
    (r"The largest comes out at ([\d.]+) billion, which the paper rounds to (\d+)", [BILLION_3, round(BILLION_3)]),
    (r"(\d+) heads of (\d+) make ([\d,]+) and not 2,048", [24, 128, 24 * 128]),
    (r"(\d+) heads of (\d+) make ([\d,]+) and not 5,140", [40, 128, 40 * 128]),
    (r"12 layers this is a width of (\d+)\.", [round(50_257 / (12 * 12))]),
    (r"the two shares cross between (\d+) and (\d+)\.", crossing(50_257, 12)),
    (r"In \*float32\* a number has (\d+) bytes, in \*bfloat16\* it has (\d+)", [32 // 8, 16 // 8]),
    (r"GPT-2 small in float32 is a file of about (\d+) MB", [round(4 * SMALL / 1e6)]),
    (r"GPT-2 small in float32 takes about (\d+) MB", [round(4 * SMALL / 1e6)]),
    (r"The file on the Hugging Face Hub takes (\d+) MB: beside the", [round(4 * (SMALL + 12 * 1_024**2) / 1e6)]),
    (r"in float32, GPT-3 needs ([\d.]+) TB to be trained", [round(16 * BILLION_3 / 1e3, 1)]),
    (r"training in float32 \((\d+) bytes for each parameter\)", [TRAINED[4]]),
    (r"gradients in bfloat16 \((\d+)\)\.", [TRAINED[2]]),
    (r'A model card says "(\d+)M" for GPT-2 small', [round(CONVENTIONS["entries of state_dict"] / 1e6)]),
    (r"web pages give (\d+) and (\d+) million", [round(SMALL / 1e6), round((SMALL + TABLE) / 1e6)]),
    (r"number once and there are ([\d,]+)\. Add", [SMALL]),
    (r"under two names, and there are ([\d,]+)\.", [SMALL + TABLE]),
    (r"The difference, ([\d,]+), is ([\d,]+) × (\d+): one table", [TABLE, 50_257, 768]),
    (r"2d\$: (\d+) for the smallest by hand, ([\d,]+) for the course", [106, by_tensor(GPT(COURSE_MODEL))]),
    (r"([\d,]+) for GPT-2 small, ([\d.]+) billion for GPT-3\.", [SMALL, BILLION_3]),
    (r"takes (\d+) bytes to be used and (\d+) to be trained", [4, TRAINED[4]]),
]
IN_THE_QUIZ = [
    (r"gives GPT-2 small ([\d,]+) parameters, another ([\d,]+)\.", [SMALL, SMALL + TABLE]),
    (r"The difference is ([\d,]+) × (\d+), one token table", [50_257, 768]),
    (r"^(\d+) GB\.\nThat is enough to use it", [4]),
    (r"^(\d+) GB\.\nWeights and gradients would fit", [4 + 4]),
    (r"^(\d+) GB\.\nFour numbers of 4 bytes", [TRAINED[4]]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_03_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


@pytest.mark.parametrize(("sentence", "wanted"), IN_THE_QUIZ, ids=[sentence for sentence, _ in IN_THE_QUIZ])
def test_a_number_that_quiz_03_states_is_right(sentence, wanted):
    assert_stated(QUIZ, f"(?m:{sentence})", wanted)


@pytest.mark.parametrize("d", [2, 64, 96])
def test_the_formulas_of_lesson_03_count_the_tensors_of_a_block(d):
    block = Block(GPTConfig(vocab_size=10, n_ctx=4, n_embd=d, n_layer=1, n_head=2))
    for sentence, part, wanted in (
        ("biases: $4d^2 + 4d$", block.attn, 4 * d * d + 4 * d),
        ("biases: $8d^2 + 5d$", block.mlp, 8 * d * d + 5 * d),
        ("so the two have $4d$", None, by_tensor(block.ln_1) + by_tensor(block.ln_2)),
        (r"\text{block} = 12 d^2 + 13 d", block, 12 * d * d + 13 * d),
    ):
        assert sentence in TEXT
        assert wanted == (by_tensor(part) if part else 4 * d)


def test_the_mlp_is_two_thirds_and_twice_the_width_four_times_the_blocks():
    assert "Two thirds of a block are its MLP" in TEXT
    assert "In the MLP, about two thirds." in QUIZ
    assert "They become about four times as many." in QUIZ
    small, large = (ledger(GPTConfig(50_257, 1_024, d, 12, 12)) for d in (768, 1_536))
    blocks = [sum(rows[part] for part in ("attention", "mlp", "layer norms")) for rows in (small, large)]
    assert small["mlp"] / blocks[0] == pytest.approx(2 / 3, abs=0.001)
    assert blocks[1] / blocks[0] == pytest.approx(4, abs=0.01)
    assert large["token table"] == 2 * small["token table"]


def test_the_sizes_of_the_family_are_stated_as_published():
    (stated,) = re.findall(r"layers, width and heads are (.+?)\.", TEXT)
    rows = [[int(size) for size in row.split("/")] for row in re.findall(r"[\d/]+", stated)]
    assert rows == [[12, 768, 12], [24, 1024, 16], [36, 1280, 20], [48, 1600, 25]]
    assert rows == [[config.n_layer, config.n_embd, config.n_head] for config in GPT2_FAMILY.values()]


def test_the_counts_of_the_family_are_shown_as_published():
    shown = re.findall(r"^GPT-2 (\w+) +([\d,]+)  formula says the same: True$", said(PATH), re.M)
    assert {name: number(count) for name, count in shown} == GPT2


def test_gpt3s_table_is_shown_and_two_rows_contradict_themselves():
    shown = re.findall(r"^GPT-3 (\S+) +L=.* ([\d.]+) billion  (True|False)$", said(PATH), re.M)
    for (name, count, _), (published, billions) in zip(shown, GPT3.items(), strict=True):
        assert name == published
        digits = 4 if billions < 1 else 3 - int(math.log10(billions))
        assert round(float(count), digits) == pytest.approx(billions, abs=0.6 * 10**-digits), name
    assert "In the rows *1.3B* and *13B* the table contradicts itself" in TEXT
    assert [name for name, _, fits in shown if fits == "False"] == ["1.3B", "13B"]


def test_the_five_conventions_are_shown_with_their_counts():
    for name, count in CONVENTIONS.items():
        assert f"{name:24}{count:13,}" in said(PATH)
    assert conventions(GPT2_FAMILY["GPT-2 small"]) == CONVENTIONS
    for bold in ("All unique parameters", "Entries of `state_dict`", "Without positions", "Without both tables"):
        assert f"- **{bold}**" in TEXT


def test_heads_leave_the_count_and_change_the_scores():
    assert "{1: 114944, 2: 114944, 4: 114944, 8: 114944}\nthe same scores: False" in said(PATH)


def test_a_file_with_the_shared_table_stored_twice_is_about_a_third_larger():
    assert "a checkpoint that is a third larger" in TEXT
    ratio = (SMALL + TABLE) / SMALL
    assert ratio == pytest.approx(4 / 3, abs=0.03)
