"""The numbers that lesson 08 states, compared with the published ones and with what was measured."""

import json
import math
import re

import numpy as np
import pytest
from notebook_files import ROOT, prose, said
from stated import assert_stated, lesson, number, quiz_text

from utils import check
from utils.counting import GPT2_FAMILY, ledger, training_bytes
from utils.experiments import scaling_law
from utils.experiments.facts import FactBook
from utils.pretrained import COURSE_MODEL
from utils.scaling import KNOWN_MODELS, matmul_flops
from utils.widgets import quiz

PATH = lesson("08")
TEXT, QUIZ = prose(PATH), quiz_text("08")
GPT3_SIZE, GPT3_TOKENS, HOUR = 174.6e9, 300e9, 3_600
WORK = 6 * GPT3_SIZE * GPT3_TOKENS
HOURS = WORK / 28e12 / HOUR
PRICE = round(1.5 * HOURS / 1e6, 1)  # in million dollars
XL, SMALL = (sum(ledger(GPT2_FAMILY[f"GPT-2 {name}"]).values()) for name in ("XL", "small"))
TABLE = 50_257 * 768
SAVED = round(100 * TABLE / (SMALL + TABLE))  # per cent of the untied model
CHINCHILLA, GOPHER, LLAMA = (KNOWN_MODELS[name] for name in ("Chinchilla", "Gopher", "Llama-3-8B"))
BUDGET_HOURS = 100_000 / 2.0
BUDGET = BUDGET_HOURS * HOUR * 150e12
BEST = math.sqrt(BUDGET / (6 * 20))

# the best N for Chinchilla's budget by the published constants: where the slopes of 406.4 / N^0.34 and
# 410.7 / D^0.28 balance, with D = C / 6N
CONSTANTS = (0.34 * 406.4) / (0.28 * 410.7)
PUBLISHED_BEST = (CONSTANTS * math.prod(CHINCHILLA) ** 0.28) ** (1 / (0.34 + 0.28))
PUBLISHED_RATIO = math.prod(CHINCHILLA) / PUBLISHED_BEST**2

# Zipf's law over 48 subjects and 48 relations, by hand
RANKS = 1 / np.arange(1, 49)
RANKS /= RANKS.sum()
FACTS = np.sort(np.outer(RANKS, RANKS).ravel())[::-1]
READ = scaling_law.STEPS * scaling_law.BATCH

MEASURED = json.loads((ROOT / "utils" / "data" / "scaling.json").read_text(encoding="utf-8"))["measurements"]
WIDTHS = np.array([point["width"] for point in MEASURED])
GAPS = np.array([np.mean(point["gaps"]) for point in MEASURED])
RATES = {point["width"]: point["lr"] for point in MEASURED}
UP_TO = max(width for width, rate in RATES.items() if rate == RATES[4])
RATES_AS_STATED = [RATES[4], UP_TO, round(RATES[32], 3), 32, RATES[64], 64]
BLOCKS = 12 * WIDTHS**2 + 13 * WIDTHS + 2 * WIDTHS  # one, and the final layer norm
SIZES = (48 + 48 + 32) * WIDTHS + 2 * WIDTHS + BLOCKS  # every subject, relation and object is a token


def fitted(sizes):
    """The line through the logarithms, by NumPy -> slope, residuals."""
    line = np.polyfit(np.log(sizes), np.log(GAPS), 1)
    return line[0], np.log(GAPS) - np.polyval(line, np.log(sizes))


def shortened(value, digits=2):
    """A number to so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("8.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("08"))]),
    (r"GPT-3 has ([\d.]+) billion parameters and was trained on (\d+) billion tokens", [174.6, 300]),
    (r"a sustained (\d+) TFLOP/s, about a quarter", [28]),
    (r"and \$(1\.50) an hour", [1.50]),
    (r"of GPT-2 XL\? It has ([\d.]+) billion", [round(XL / 1e9, 2)]),
    (r"of widths (\d+) to (\d+)\. Each read ([\d,]+) facts", [min(WIDTHS), max(WIDTHS), READ]),
    (r"(\w+) models were trained on the book", [len(WIDTHS)]),
    (r"what was measured, for (\w+) seeds each", [len(MEASURED[0]["gaps"])]),
    (r"rate is ([\d.]+) up to width (\d+), ([\d.]+) at (\d+) and ([\d.]+) at (\d+)\.", RATES_AS_STATED),
    (r"how many of the ([\d,]+) facts the models hold", [len(FACTS)]),
    (r"Ten times the parameters divide the gap by about (\w+)\. Where", [round(10 ** -fitted(SIZES)[0])]),
    (r"costs \$\\ln (\d+)\$ each time it is asked for, since there are (\d+) objects", [32, 32]),
    (r"The book ends: it has ([\d,]+) facts", [len(FACTS)]),
    (r"the rarest facts are asked for about (\w+) times in the whole training", [round(READ * FACTS[-1])]),
    (r"the first effect plainly\. It has (\d+) facts", [len(FactBook(n_subjects=24, n_relations=24).facts)]),
    (r"Chinchilla, with (\d+) billion parameters and ([\d.]+) trillion tokens", [70, 1.4]),
    (r"about \*(\d+) tokens for each parameter\*", [CHINCHILLA[1] / CHINCHILLA[0]]),
    (r"beat the (\w+) times larger Gopher", [GOPHER[0] / CHINCHILLA[0]]),
    (r"Llama-3-8B with nearly ([\d,]+)\.", [math.ceil(LLAMA[1] / LLAMA[0] / 100) * 100]),
    (r"Compare with its ([\d.]+) billion parameters and ([\d.]+) trillion tokens", [174.6, 0.3]),
    (r"GPT-3 in training needs ([\d.]+) TB", [shortened(training_bytes(174_604_259_328, 4) / 1e12)]),
    (r"and more than (\d+) years on one GPU", [math.floor(HOURS / 24 / 365.25 / 50) * 50]),
    (r"100,000 dollars buy ([\d,]+) GPU-hours, about ([\d.e]+) FLOPs", [BUDGET_HOURS, shortened(BUDGET)]),
    (r"a model of about (\d+) billion parameters and (\d+) billion tokens", [round(BEST / 1e9), round(BEST / 5e7)]),
    (r"GPT-3's run took ([\d.e]+) FLOPs, some ([\d.]+) million dollars", [shortened(WORK), PRICE]),
    (r"saves much: ([\d.]+) million numbers, (\d+) % of an untied GPT-2 small", [round(TABLE / 1e6, 1), SAVED]),
    (r"at Chinchilla's budget they ask for more than (\d+)\.", [math.floor(PUBLISHED_RATIO / 10) * 10]),
    (r"Put Gopher \((\d+) billion parameters, ([\d.]+) trillion tokens\)", [GOPHER[0] / 1e9, GOPHER[1] / 1e12]),
]
IN_THE_QUIZ = [
    (r"forward and two backward make (\d)N \+ (\d)N = (\d)N", [2, 2 * 2, 2 + 2 * 2]),
    (r"On a model ([\d.]+) times as large, with ([\d.]+) times the tokens", [round(2**0.5, 1)] * 2),
    (r"Then it would see (\d+) tokens for each parameter", [20 / 2]),
    (r"Then there would be (\d+) tokens for each parameter", [20 * 2]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_08_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


@pytest.mark.parametrize(("sentence", "wanted"), IN_THE_QUIZ, ids=[sentence for sentence, _ in IN_THE_QUIZ])
def test_a_number_that_quiz_08_states_is_right(sentence, wanted):
    assert_stated(QUIZ, sentence, wanted)


def test_a_slope_of_minus_a_half_halves_the_gap_for_four_times_the_parameters():
    assert "Four to the power of -0.5 is one half." in QUIZ
    assert 4**-0.5 == 1 / 2


# --- the bill


def test_gpt3s_bill_is_shown():
    assert [f"{WORK:.2e}", f"{HOURS / 1e6:.2f}", f"{1.5 * HOURS / 1e6:.1f}"] == ["3.14e+23", "3.12", "4.7"]
    for line in ("work  3.14e+23 FLOPs", "time  3.12 million GPU-hours", "price 4.7 million dollars"):
        assert line in said(PATH)
    assert "*about five million dollars*" in TEXT
    assert round(125e12 / 28e12) == 4  # the GPU of that time, a V100, has a peak of 125 TFLOP/s in 16 bits


def test_by_how_much_the_rule_is_off_in_the_course_model():
    parts = matmul_flops(COURSE_MODEL, 32)
    work, rule = sum(parts.values()), 2 * 114_944 * 32
    assert f"{work:,}" in said(PATH)
    assert f"{rule:,}" in said(PATH)
    compared = parts["attention scores"] + parts["weighted sum"]
    off = [round(100 * part / work) for part in (rule - (work - compared), compared, work - rule)]
    sentence = r"the first adds (\d+) % and the second takes away (\d+) %, so the rule is (\d+) % too low"
    assert_stated(TEXT, sentence, off)


def test_the_prices_of_gpt2_are_shown():
    shown = re.findall(r"^GPT-2 (small|XL) +(\d+) billion tokens: +([\d,]+) dollars$", said(PATH), re.M)
    assert len(shown) == 4
    for name, billions, dollars in shown:
        size = {"small": 124e6, "XL": 1.558e9}[name]
        assert number(dollars) == round(2.0 * 6 * size * int(billions) * 1e9 / 150e12 / HOUR)
    assert "on ten million tokens costs a ten-thousandth of training on a hundred billion" in TEXT
    assert 100e9 / 10e6 == 10_000


def test_what_is_said_of_the_published_models():
    assert "fewer than two tokens for each parameter" in TEXT
    assert 1 < GPT3_TOKENS / GPT3_SIZE < 2
    assert "larger Gopher at the same cost" in TEXT
    assert 6 * math.prod(GOPHER) == pytest.approx(6 * math.prod(CHINCHILLA), rel=0.2)
    assert "A model of half that size, which others have trained on fifty times as many tokens" in TEXT
    assert LLAMA[0] / BEST == pytest.approx(0.5, abs=0.05)
    assert LLAMA[1] / (20 * BEST) == pytest.approx(50, abs=1)
    assert "51 billion parameters, 1.0 trillion tokens" in said(PATH)
    assert round(math.sqrt(3.14e23 / 120) / 1e9) == 51


def test_both_ways_make_three_times_the_products_of_one():
    """The head and every matrix of the blocks make two products on the way back."""
    assert "a token of training about $6N$" in TEXT
    (stated,) = re.findall(r"^(\d\.\d\d)$", said(PATH), re.M)
    assert float(stated) == pytest.approx(1 + 2, abs=0.02)


# --- the book of facts and the law


def test_the_book_is_as_unequal_as_shown():
    assert f"48 subjects times 48 relations make {len(FACTS):,} facts" in said(PATH)
    assert f"the last is asked for {FACTS[-1] / FACTS[0]:.4f} times as often as the first" in said(PATH)
    assert f"the first 100 are asked for in {FACTS[:100].sum():.0%} of all questions" in said(PATH)
    assert f"floor: {-(RANKS * np.log(RANKS)).sum() / 2:.2f} nats per token" in said(PATH)


def test_the_law_is_the_one_shown():
    slope, residuals = fitted(SIZES)
    largest = max(abs(residuals))
    assert f"with N to the power of {slope:.2f}; residuals stay within {largest:.2f}." in said(PATH)
    assert "over almost two powers of ten" in TEXT
    assert 1.8 < math.log10(SIZES[-1] / SIZES[0]) < 2
    assert "below the line at both ends, above it in the middle" in TEXT
    assert max(residuals[0], residuals[-1]) < 0 < residuals[2]
    assert re.search(r"At the ends they are no larger than the \S+ from seed to seed", TEXT)
    for place in (0, -1):
        assert abs(residuals[place]) <= np.std(np.log(MEASURED[place]["gaps"]), ddof=1)
    for convention, sizes in (("all unique parameters", SIZES), ("without both tables", BLOCKS)):
        slope, residuals = fitted(sizes)
        shown = f"{convention:22} slope {slope:.2f}, largest residual {max(abs(residuals)):.2f}"
        assert shown in said(PATH)


def test_the_measured_points_are_shown():
    line = r"^width +(\d+): +([\d,]+) parameters, gap ([\d.]+), +([\d,]+) facts, estimate ([\d.]+)$"
    shown = re.findall(line, said(PATH), re.M)
    held = [np.mean(point["held"]) for point in MEASURED]
    rest = [FACTS[round(facts) :].sum() * math.log(32) / 2 for facts in held]
    wanted = zip(WIDTHS, SIZES, GAPS, held, rest, strict=True)
    assert shown == [(f"{w}", f"{n:,}", f"{g:.3f}", f"{facts:,.0f}", f"{e:.3f}") for w, n, g, facts, e in wanted]


# --- two processes


def test_two_processes_train_like_one():
    assert "for 12 steps in one process" in TEXT
    shown = r"^12 losses, from 5\.3 to [\d.]+\ntwo processes give the same, to 0\.0001: True$"
    assert re.search(shown, said(PATH), re.M)
