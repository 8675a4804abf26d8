"""What the notebooks teach: sections stand alone, exercises are solved by their solutions, prose and numbers agree."""

import re
import sys

import numpy as np
import pytest
import torch
from notebook_files import (
    LESSONS,
    ROOT,
    SOLUTIONS,
    START,
    cells,
    exercises,
    name,
    prose,
    run,
    said,
    sections,
)
from stated import assert_stated, number

from utils import check
from utils.counting import GPT2_FAMILY, gpt_params, tying_saving
from utils.notebooks.reading import EXERCISE, Course
from utils.ten_words import TOKENS
from utils.widgets.table_explorer import WIDTHS, random_rows

SECTIONS = [(path, heading, code) for path in LESSONS for heading, code in sections(path)]
EXERCISES = [(path, before, cell) for path in LESSONS + SOLUTIONS for before, cell in exercises(path)]
LESSON_01 = ROOT / "lessons" / "01_one_table_two_jobs.ipynb"


def test_there_are_lessons():
    assert [path.name for path in LESSONS] == [path.name for path in SOLUTIONS]
    assert len(LESSONS) >= 2


@pytest.mark.parametrize(("path", "heading", "code"), SECTIONS, ids=[f"{name(p)} {h[:30]}" for p, h, _ in SECTIONS])
def test_every_section_runs_from_its_heading_alone(path, heading, code, monkeypatch):
    monkeypatch.chdir(path.parent)
    run(code)


def test_every_exercise_has_a_heading_and_a_check_and_the_other_way_round():
    headings = [number for path in LESSONS for number in EXERCISE.findall(prose(path))]
    assert headings == list(check.EXERCISES)


def test_the_glossary_has_the_words_of_the_field():
    assert len(Course(ROOT).glossary) > 30


# --- cells, run once more in another way


@pytest.mark.parametrize("missing", ["numpy", "torch", "utils"])
def test_the_first_cell_says_in_one_line_what_is_missing(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as caught:
        run(cells(START, "code")[:1])
    assert re.fullmatch(rf"[^\n]*\b{missing}\b[^\n]*\. Start the course with: python3 -m utils lab", str(caught.value))
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("path", "before", "cell"), EXERCISES, ids=[f"{name(path)} {cell.id}" for path, _, cell in EXERCISES]
)
def test_an_exercise_is_judged_alike_whenever_its_cell_runs(path, before, cell):
    space, _ = run(before)
    wanted = "passed" if path in SOLUTIONS else "not attempted"
    assert [run([cell], space)[1].status for _ in range(2)] == [wanted, wanted]


# --- numbers that the prose states without a cell that prints them

SMALL = GPT2_FAMILY["GPT-2 small"]
STATED = [
    (r"has ([\d,]+) entries, ([\d,]+) of them zero", [SMALL.vocab_size, SMALL.vocab_size - 1]),
    (r"copies (\d+) numbers; the product takes ([\d.]+) million", [768, round(768 * SMALL.vocab_size / 1e6, 1)]),
    (r"\$V \\cdot d = ([\d{},]+)\$ numbers", [tying_saving(200, 64)]),
    (r"([\d,]+) for the course model, ([\d,]+) for GPT-2 small", [tying_saving(200, 64), tying_saving(50_257, 768)]),
    (r"the width to 768: ([\d,]+) numbers", [tying_saving(50_257, 768)]),
    (r"For GPT-2 small, the number is ([\d.]+) million", [round(tying_saving(50_257, 768) / 1e6, 1)]),
    (r"columns, ([\d.]+) million numbers", [768 * 50_000 / 1e6]),
    (r"would give each token ([\d.]+\d)", [1 / 50_000]),
    (r"Their losses are equal, ([\d.]+), which is \$\\ln 10\$", [round(float(np.log(10)), 2)]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_01_states_is_right(sentence, wanted):
    assert_stated(prose(LESSON_01), sentence, wanted)


def test_the_family_in_lesson_01_is_the_published_one():
    rows = re.findall(r"^GPT-2 \w+ +([\d,]+) of +([\d,]+): +([\d.]+)%, +([\d.]+)%$", said(LESSON_01), re.M)
    assert [[number(text) for text in row[1:]] for row in rows] == [
        [124_439_808, 31.02, 23.67],
        [354_823_168, 14.50, 12.67],
        [774_030_080, 8.31, 7.67],
        [1_557_611_200, 5.16, 4.91],
    ]
    for row, c in zip(rows, GPT2_FAMILY.values(), strict=True):
        total = gpt_params(c.vocab_size, c.n_ctx, c.n_embd, c.n_layer)
        assert [number(text) for text in row[:2]] == [tying_saving(c.vocab_size, c.n_embd), total]
    for text in ('"about 30 %"', "For the XL model it is 5 %"):
        assert text in prose(LESSON_01)


@pytest.mark.parametrize(("bits", "number"), [(32, np.float32), (16, np.float16)])
def test_the_overflow_of_lesson_01_begins_where_it_says(bits, number):
    (exponent,) = re.findall(rf"[Ii]n float{bits} \$e\^\{{(\d+)\}}\$ is", prose(LESSON_01))
    with np.errstate(over="ignore"):
        assert np.exp(number(exponent)) == np.inf > np.exp(number(int(exponent) - 1))


def test_bfloat16_has_the_range_of_float32_as_lesson_01_says():
    assert "bfloat16, has the range of float32" in prose(LESSON_01)
    assert torch.finfo(torch.bfloat16).max == pytest.approx(torch.finfo(torch.float32).max, rel=0.01)


def test_the_parameters_of_lesson_00_are_those_that_its_cell_counts():
    (stated,) = re.findall(r"These ([\d,]+) numbers are the \[parameters\]", prose(START))
    assert stated.replace(",", "") in said(START).splitlines()
    assert [number(stated)] == [gpt_params(200, 32, 64, 2)]


def test_what_lesson_01_says_of_the_explorer_holds():
    text = prose(LESSON_01)

    def margin(word, width):
        """By how much a word's own score is above its best rival's."""
        scores = (rows := random_rows(width)) @ rows[TOKENS.index(word)]
        own = scores[TOKENS.index(word)].item()
        return own / max(score for score in scores.tolist() if score != own)

    widths = [width for width in WIDTHS if width >= 16]
    assert "At width 4 the best match of *cat* is another word." in text
    assert margin("cat", 4) < 1
    assert "From width 16 on every word is its own best match, and at GPT-2's 768 nothing comes near." in text
    assert min(margin(word, width) for word in TOKENS for width in widths) > 1
    assert min(margin(word, 768) for word in TOKENS) > 5
