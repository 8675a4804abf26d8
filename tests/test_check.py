"""The exercise checks: every right answer passes, every wrong one gets its own diagnosis, and nothing is harmed."""

import json
import random

import numpy as np
import pytest
import torch
from answers import RIGHT, WRONG

from utils import check
from utils.check import progress
from utils.check.compare import brief, differs
from utils.check.engine import Exercise, Wrong, by_cases, judge

NUMBERS = sorted(check.EXERCISES)


def ask(number, answer):
    return getattr(check, "ex_" + number.replace(".", "_"))(answer)


def stub(*args):
    """What a student finds."""
    ...  # your answer here


def not_implemented(*args):
    raise NotImplementedError


def constant(*args):
    return 0


def test_every_exercise_has_answers_to_try():
    assert set(RIGHT) == set(WRONG) == set(NUMBERS)
    assert all(len(wrong) >= 5 for wrong in WRONG.values())


@pytest.mark.parametrize(("number", "answer"), [(n, a) for n in NUMBERS for a in RIGHT[n]])
def test_right_answers_pass(number, answer):
    verdict = ask(number, answer)
    assert verdict.status == "passed", verdict
    assert verdict.text.startswith("passed: ")


@pytest.mark.parametrize(("number", "word", "answer"), [(n, w, a) for n in NUMBERS for w, a in WRONG[n]])
def test_wrong_answers_get_their_diagnosis(number, word, answer):
    verdict = ask(number, answer)
    assert verdict.text.startswith("not yet: ")
    assert word in verdict.text, verdict
    assert "fault of the course" not in verdict.text


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("empty", [stub, not_implemented, None, ...])
def test_an_empty_answer_is_not_attempted_and_shows_the_target(number, empty):
    verdict = ask(number, empty)
    assert verdict.text.startswith("not attempted: ")
    assert check.EXERCISES[number].target in verdict.text


@pytest.mark.parametrize("number", NUMBERS)
def test_a_constant_or_a_result_is_not_a_pass(number):
    assert ask(number, constant).status == "not yet"
    assert "the function itself" in ask(number, torch.zeros(3)).text


@pytest.mark.parametrize("number", NUMBERS)
def test_verdicts_are_deterministic_and_change_no_global_state(number):
    torch.manual_seed(3)
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate(), torch.is_grad_enabled()

    def disturbs(*args):
        torch.manual_seed(99)
        np.random.seed(99)
        random.seed(99)
        torch.set_default_dtype(torch.float64)
        return torch.rand(3)

    with torch.no_grad():
        texts = {ask(number, disturbs).text for _ in range(2)}
    assert len(texts) == 1
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])
    assert before[2] == random.getstate()
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled() == before[3]


def test_an_error_shows_the_students_own_line():
    def answer(x, table):
        return x @ table.transposed()

    text = ask("1.2", answer).text
    assert "AttributeError" in text
    assert "return x @ table.transposed()" in text


def test_exit_and_interrupt_do_not_leave_the_check():
    def leaves(*args):
        raise SystemExit(1)

    def stopped(*args):
        raise KeyboardInterrupt

    assert "SystemExit" in ask("1.2", leaves).text
    assert "interrupted" in ask("1.2", stopped).text


def test_a_fault_of_the_check_is_never_a_pass():
    def probe(answer):
        raise ZeroDivisionError("oops")

    broken = Exercise("9.9", "target", probe, "meaning", ("hint",))
    verdict = judge(broken, lambda: 1)
    assert verdict.status == "not yet"
    assert "fault of the course" in verdict.text
    progress._checked.pop("9.9")


def test_a_check_runs_every_case():
    seen = []

    def counting(x):
        seen.append(x)
        return x

    by_cases(lambda: [(1,), (2,), (3,)], right=lambda x: x)(counting)
    assert seen == [1, 2, 3]
    with pytest.raises(Wrong, match="values are not"):
        by_cases(lambda: [(1,), (2,)], right=lambda x: x)(lambda x: 1)


def test_no_text_reveals_the_answer():
    for exercise in check.EXERCISES.values():
        said = " ".join((exercise.target, exercise.meaning, *exercise.hints))
        for answer in ("table.T\n", "@ table.T", "table.transpose", "model.lm_head.weight = ", ".max()", "numel"):
            assert answer not in said


def test_hints_come_one_at_a_time_and_end_with_the_last():
    check._given.clear()
    texts = [check.hint("1.2").text for _ in range(4)]
    assert [text[:11] for text in texts] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert check.hint(1.2).text.startswith("Hint 3 of 3")
    assert "1.1, 1.2" in check.hint("7.7").text


def test_the_summary_counts_the_latest_verdicts(monkeypatch):
    monkeypatch.setattr(progress, "_checked", {})
    assert "No exercise" in check.summary().text
    ask("1.2", RIGHT["1.2"][0])
    ask("1.1", RIGHT["1.1"][0])
    ask("1.1", stub)
    assert check.summary().text == "Lesson 01: 1 of 6 exercises passed. Still open: 1.1, 1.3, 1.4, 1.5, 1.6."
    assert "no lesson 77" in check.summary("77").text


@pytest.fixture
def my_work(tmp_path, monkeypatch):
    """A my_work/ that the checks take for theirs, with no test runner in sight."""
    monkeypatch.setattr(progress, "MY_WORK", tmp_path)
    monkeypatch.setattr(progress, "_checked", {})
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_passes_are_kept_in_my_work_for_the_next_day(my_work, monkeypatch):
    ask("1.2", RIGHT["1.2"][0])
    ask("1.1", stub)
    assert json.loads((my_work / ".progress.json").read_text()) == {"passed": ["1.2"]}
    monkeypatch.setattr(progress, "_checked", {})
    assert "1 of 6" in check.summary("01").text
    assert [path.name for path in my_work.iterdir()] == [".progress.json"]


def test_a_broken_progress_file_is_set_aside(my_work):
    (my_work / ".progress.json").write_text("{half")
    ask("1.2", RIGHT["1.2"][0])
    assert (my_work / ".progress.broken.json").read_text() == "{half"
    assert json.loads((my_work / ".progress.json").read_text()) == {"passed": ["1.2"]}


def test_nothing_is_written_elsewhere_nor_under_pytest(my_work, monkeypatch):
    monkeypatch.setenv("PYTEST_VERSION", "9")
    ask("1.2", RIGHT["1.2"][0])
    monkeypatch.delenv("PYTEST_VERSION")
    (my_work / "elsewhere").mkdir()
    monkeypatch.chdir(my_work / "elsewhere")
    ask("1.2", RIGHT["1.2"][0])
    assert not list(my_work.rglob(".progress*"))


def test_verdicts_escape_html():
    assert (
        "&lt;b&gt;" in ask("1.2", lambda x, table: "<b>")._repr_html_().replace("'", "")
        or "str" in ask("1.2", lambda x, table: "<b>").text
    )


@pytest.mark.parametrize(
    ("result", "want", "word"),
    [
        (None, 1, "None"),
        (torch.ones(2), torch.ones(3), "shape"),
        (torch.tensor([1.0, torch.nan]), torch.ones(2), "NaN"),
        (torch.ones(2), torch.zeros(2), "values"),
        ("text", torch.zeros(2), "str"),
        ((1, 2), (1, 2, 3), "3 results"),
        ((1, None), (1, 2), "result 2 of 2"),
        ([[1, 2], [3]], torch.zeros(2, 2), "list"),
    ],
)
def test_differences_are_named(result, want, word):
    assert word in differs(result, want)
    assert differs(want, want) is None


def test_brief_values_stay_brief():
    assert brief(torch.eye(2)) == "[[1., 0.], [0., 1.]]"
    assert brief(torch.zeros(9, 9)) == "Tensor of shape (9, 9)"
    assert brief(1 / 3) == "0.333333"
    assert len(brief("x" * 500)) < 90
