"""Numbers in prose: all are held, false ones are caught, and what is written is read with its precision."""

import re
from fractions import Fraction

import nbformat
import pytest
from notebook_files import ROOT, SOLUTIONS

from utils.notebooks import counts, values
from utils.notebooks.form import read
from utils.notebooks.numbers import Held, numbers, printed, problems, prose, quiz, unheld
from utils.notebooks.reading import documents, number_of

DOCUMENTS = documents(ROOT)
FALSE = ("999,999,999 parameters", "115,944", "124,439,809", "$98{,}766$ numbers", "97.43 %", "31.7 million", "8.88 GB")
FALSE += ("6.02e23", r"$6.02 \cdot 10^{23}$", "0.7777", "= 12,801$", "a loss of 9,7531", "`n_embd=777`", "| 54321 |")


NAMES = [number_of(path.name) for path in SOLUTIONS] + [path.stem for path in DOCUMENTS]


@pytest.fixture(scope="module")
def said():
    """{name: ({where: text}, the numbers that its cells print)} of each lesson with its quiz, and each document."""
    found = {path.stem: ({path.name: path.read_text(encoding="utf-8")}, frozenset()) for path in DOCUMENTS}
    for path in SOLUTIONS:
        lesson, solution, student = number_of(path.name), read(path), read(ROOT / "lessons" / path.name)
        found[lesson] = {**prose(solution), **quiz(lesson)}, frozenset({*printed(solution), *printed(student)})
    return found


@pytest.fixture(scope="module")
def held(said):
    """{name: (texts, what holds their numbers)} of all that is read."""
    return {name: (parts, Held(shown | values.of(name))) for name, (parts, shown) in said.items()}


# --- the course, of which `build --check` asks that every number is held (test_notebooks.py)


@pytest.mark.parametrize("name", NAMES)
def test_false_numbers_are_caught_in_every_text(name, held):
    parts, known = held[name]
    for where, text in parts.items():
        missed = [false for false in FALSE if not list(unheld(f"{text}\n\nIt has {false} here.", known))]
        assert missed == [], where


def test_no_number_depends_on_its_sentence(held):
    for name, (parts, known) in held.items():
        for number in (number for text in parts.values() for number in numbers(text) if number in known):
            (again,) = numbers(f"Told otherwise, {number.text} stands here.")
            assert again in known or again.scale != number.scale, (name, number.text)  # a list gave it its scale


def test_one_digit_changed_in_a_long_number_is_caught(held):
    tried, missed = 0, []
    for name, (parts, known) in held.items():
        for text in parts.values():
            for number in numbers(text):
                digits = [place for place in range(number.start, number.end) if text[place].isdigit()]
                for place in digits if len(digits) >= 4 and "^" not in number.text else []:
                    changed = f"{text[:place]}{(int(text[place]) + 3) % 10}{text[place + 1 :]}"
                    (read,) = (other for other in numbers(changed) if other.start == number.start)
                    tried, missed = tried + 1, [*missed, (name, number.text, read.text)] if read in known else missed
    assert missed == []
    assert tried > 500


def test_the_table_of_values_has_nothing_spare(said):
    def needed(name, without):
        parts, shown = said[name]
        return any(list(unheld(text, Held(shown | values.of(name, without)))) for text in parts.values())

    for table, entries in values.tables().items():
        for what in entries:
            names = said if table == "everywhere" else [table]
            assert any(needed(name, what) for name in names), (table, what)


def test_lesson_03_does_not_take_the_false_number_that_it_once_took():
    (path,) = (path for path in SOLUTIONS if number_of(path.name) == "03")
    solution, student = read(path), read(ROOT / "lessons" / path.name)
    cell = next(cell for cell in solution.cells if cell.cell_type == "markdown")
    cell.source += "\n\nNothing else. It has 999,999,999 parameters. More follows."
    assert problems("03", [solution, student]) == [
        f"cell {cell.id}: nothing prints or computes 999,999,999 in “It has 999,999,999 parameters.”; "
        "print it in a cell of this lesson, or add it to its file in utils/notebooks/values/"
    ]


# --- reading


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("114,944 of them", 114_944, None),
        ("$V = 50{,}257$", 50_257, None),
        ("`n_embd=768`", 768, None),
        ("to $e^{89}$", 89, None),
        ("= 12,800$", 12_800, None),
        ("31 % of it", "0.31", "0.01"),
        (r"$31\,\%$", "0.31", "0.01"),
        ("31.02%", "0.3102", "0.0001"),
        ("0.02", "0.02", "0.01"),
        ("1.5 billion", "1.5e9", "1e8"),
        ("124M", "124e6", "1e6"),
        ("4.7 MB", "4.7e6", "1e5"),
        ("3.14e+23", "3.14e23", "1e21"),
        (r"$3.14 \cdot 10^{23}$", "3.14e23", "1e21"),
        ("as tiny as $10^{-40}$", "1e-40", "1e-40"),
        ("-0.5 or so", "0.5", "0.1"),
    ],
)
def test_a_number_is_read_with_its_precision(text, value, step):
    (number,) = numbers(text)
    assert (number.value, number.whole) == (Fraction(value), step is None)
    assert step is None or number.step == Fraction(step)


def test_the_last_scale_of_a_list_is_the_scale_of_all():
    assert [number.value for number in numbers("117, 345 and 1,542 million")] == [117e6, 345e6, 1_542e6]
    assert [number.value for number in numbers("16 to 80 GB, and 3 of 4 %")] == [16e9, 80e9, 3, Fraction("0.04")]


@pytest.mark.parametrize(
    "text",
    [
        "lesson 07, section 3, table 2.1, 02 §3",
        "exercises 2.3 to 2.6",
        "### Exercise 3.2 (★★, 8 min)",
        "## 12. Title\n\n13. Item",
        "[07 Reading](07_reading.ipynb#part-99) and ![a](b_12.png), https://x.org/1706.03762",
        "Brown and others, *Few-Shot* (2020); Kwon and others, 2023; in 2017.",
        "GPT-2, Llama-3-8B, Qwen2.5-0.5B, float32, `x_1`, `h.0.attn`",
        "| Minutes | Show |\n|---|---|\n| 90 | this |",
    ],
)
def test_what_builds_a_text_claims_nothing(text):
    assert list(unheld(text, Held([]))) == []


@pytest.mark.parametrize(
    ("text", "value", "right"),
    [
        ("124 million", 124_439_808, True),
        ("125 million", 124_439_808, False),
        ("124", 124_439_808, False),
        ("31 %", "0.3102", True),
        ("31", "0.3102", False),
        ("31", "31.02", False),
        ("31.0", "31.02", True),
        ("31.1", "31.02", False),
        ("0.5", "0.45", True),
        ("3.1e23", "3.14e23", True),
        ("12,800", 12_801, False),
        ("7", 7, True),
    ],
)
def test_a_value_holds_what_it_rounds_to(text, value, right):
    (number,) = numbers(text)
    assert (number in Held([Fraction(value)])) == right


def test_cells_print_their_outputs_and_the_whole_numbers_of_their_code():
    cell = nbformat.v4.new_code_cell("GPT(1_536, lr=0.25)  # 99\nprint('98')")
    cell.outputs = [
        nbformat.v4.new_output("stream", text="float32 73,728 bytes, 75.5 MB\n"),
        nbformat.v4.new_output("display_data", {"text/plain": "Bars: 31.02%", "text/html": "<b>555</b>"}),
    ]
    shown = set(printed(nbformat.v4.new_notebook(cells=[cell])))
    assert shown == {1_536, 73_728, 75_500_000, Fraction("0.3102")}


# --- counts

LESSONS = counts.WORDS[len(SOLUTIONS)]
MINUTES = re.findall(r"\| ([0-9]+) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
HOURS = counts.WORDS[round(sum(map(int, MINUTES)) / 60)]
EXERCISES = len(list(ROOT.glob("utils/check/lesson_*/ex_*.py")))
TOLD = f"{LESSONS.capitalize()} lessons, {HOURS} hours, {EXERCISES} exercises that; one lesson a week, {LESSONS} weeks."
PLAN = "Work.\n\n| Minutes |\n|---|\n| 50 | a |\n| 20 | b |\n\n**A term.** Slow."


@pytest.mark.parametrize(
    ("lesson", "wrong", "right"),
    [
        ("03", "About 5 minutes, with two exercises. Two more.", "About 50 minutes, with six exercises. Two more."),
        ("03", "Nine questions. Pick one.", "Five questions. Pick one."),
        ("00", "| [03 Counting](03_x.ipynb) | How? | 7 |", "| [03 Counting](03_x.ipynb) | How? | 50 |"),
        (
            None,
            "Six lessons, two hours, one exercise that; one lesson a week, six weeks.",
            TOLD,
        ),
        (None, f"**One day, nine hours.** {PLAN}", f"**One day, two hours.** {PLAN}"),
    ],
)
def test_wrong_counts_are_put_right(lesson, wrong, right):
    assert counts.refresh(wrong, lesson) == counts.refresh(right, lesson) == right
