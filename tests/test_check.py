"""The exercise checks: every right answer passes, every wrong one gets its own diagnosis, and nothing is harmed."""

import functools
import json
import random
import sys
import warnings

import numpy as np
import pytest
import torch
from answers import RIGHT, WRONG

from utils import check
from utils.check import progress
from utils.check.calling import Wrong
from utils.check.cases import Cases
from utils.check.compare import brief, differs, same
from utils.check.engine import Exercise, judge
from utils.model import GPTConfig

NUMBERS = list(check.EXERCISES)


def ask(number, answer):
    """The verdict on an answer, or on one for each part of an exercise; a lone one stands for all its parts."""
    parts = len(check.EXERCISES[number].parts)
    return getattr(check, "ex_" + number.replace(".", "_"))(
        *(answer if isinstance(answer, tuple) else [answer] * parts)
    )


def stub(*args):
    """What a student finds."""
    ...  # your answer here


def not_implemented(*args):
    raise NotImplementedError


def constant(*args):
    return 0


def only_a_docstring(*args):
    """What a student finds, without the dots."""


def with_pass(*args):
    # nothing yet
    pass


def returns_none(*args):
    """To do."""
    return None  # noqa: RET501


def returns_dots(*args):
    return ...


def returns_three_dots(*args):
    return ..., ..., ...


def said_to_do(*args):
    raise NotImplementedError("todo")


def looks_at_its_input(*args):
    print("called", args[0], end="")
    ...


def prepared(*args):
    import torch  # noqa: F401

    result: float  # noqa: F842
    answer = None  # noqa: F841


@functools.cache
def decorated(*args):
    pass


async def empty_async(*args): ...


class WithMethod:
    def method(self, *args):
        pass

    def __call__(self, *args):
        pass


STUBS = [
    *(stub, not_implemented, None, ..., only_a_docstring, with_pass, returns_none, returns_dots, returns_three_dots),
    *(said_to_do, looks_at_its_input, prepared, decorated, torch.no_grad()(stub), empty_async),
    *(WithMethod().method, WithMethod(), functools.partial(stub, 1)),
]


def prints_its_result(*args):
    print(args[0] * 1, end="")


def forgets_return(*args):
    result = args[0] * 1  # noqa: F841


def test_an_exercise_is_found_by_its_file_and_has_a_name_and_a_docstring():
    assert sorted(NUMBERS, key=lambda number: [int(part) for part in number.split(".")]) == NUMBERS
    for number in NUMBERS:
        name = "ex_" + number.replace(".", "_")
        assert name in dir(check)
        assert getattr(check, name).__name__ == name
        assert getattr(check, name).__doc__.startswith(f"Exercise {number}: ")


@pytest.mark.parametrize("number", NUMBERS)
def test_every_exercise_has_answers_to_try(number):
    file = f"tests/answers/ex_{number.replace('.', '_')}.py"
    assert number in RIGHT, f"exercise {number} has no answers to try: write {file} with RIGHT and WRONG"
    assert len(RIGHT[number]) >= 2, f"write more right answers into {file}"
    assert len(WRONG[number]) >= 5, f"write at least five wrong answers into {file}"


def test_every_file_of_answers_belongs_to_an_exercise():
    assert [number for number in RIGHT if number not in NUMBERS] == []


ROWS = [
    (number, diagnosis, mistake)
    for number, exercise in check.EXERCISES.items()
    if hasattr(exercise.probe, "rows")
    for diagnosis, mistake in exercise.probe.rows()
]


@pytest.mark.parametrize(("number", "diagnosis", "mistake"), ROWS, ids=[f"{n} {d[:40]}" for n, d, _ in ROWS])
def test_each_mistake_of_a_table_comes_back_with_its_own_diagnosis(number, diagnosis, mistake):
    assert ask(number, mistake).text.startswith(f"not yet: {diagnosis}")


def test_a_table_of_mistakes_is_short():
    """A dozen an exercise is many: what the mechanisms find out by themselves needs no row."""
    tables = {number: len({d for n, d, _ in ROWS if n == number}) for number in NUMBERS}
    assert {number: length for number, length in tables.items() if length > 15} == {}


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
@pytest.mark.parametrize("empty", STUBS)
def test_an_empty_answer_is_not_attempted_and_shows_the_target(number, empty):
    verdict = ask(number, empty)
    assert verdict.text.startswith("not attempted: ")
    assert check.EXERCISES[number].target in verdict.text


@pytest.mark.parametrize("attempt", [prints_its_result, forgets_return])
@pytest.mark.parametrize("number", ["0.1", "1.2"])
def test_an_attempt_without_a_return_is_not_yet(number, attempt):
    assert "returns None" in ask(number, attempt).text


def test_a_called_function_is_told_from_an_empty_one():
    assert "was given None" in ask("1.4", None).text


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


def settings():
    return (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        vars(torch._tensor_str.PRINT_OPTS).copy(),
        np.geterr(),
        np.get_printoptions(),
        sys.getrecursionlimit(),
        list(warnings.filters),
    )


def changes_every_setting(x, table):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1 + torch.get_num_threads())
    torch.use_deterministic_algorithms(True)
    torch.set_printoptions(precision=1)
    np.seterr(all="raise")
    np.set_printoptions(precision=1, threshold=1)
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)
    warnings.simplefilter("error")
    return x @ table.T


def test_what_an_answer_sets_is_set_back():
    before = settings()
    assert ask("1.2", changes_every_setting).status == "passed"
    assert settings() == before


def test_a_verdict_does_not_depend_on_the_notebooks_settings():
    asked = [("1.5", WRONG["1.5"][0][1]), ("1.6", WRONG["1.6"][0][1]), ("1.1", WRONG["1.1"][-1][1])]
    before = [ask(*pair).text for pair in asked]
    with np.errstate(all="raise"), np.printoptions(threshold=1, precision=1, formatter={"all": str}):
        torch.set_default_dtype(torch.float64)
        try:
            with torch.inference_mode():
                assert [ask(*pair).text for pair in asked] == before
        finally:
            torch.set_default_dtype(torch.float32)


def test_a_warning_neither_fails_an_answer_nor_fills_the_cell():
    def answer(x, table):
        warnings.warn("careful", stacklevel=1)
        return x @ table.T

    assert ask("1.2", answer).status == "passed"  # pytest makes errors of warnings here


def fails(x, table):
    return x @ table.transposed()


class Failing(torch.nn.Module):
    def forward(self, x, table):
        return fails(x, table)


@pytest.mark.parametrize("answer", [fails, torch.no_grad()(fails), functools.partial(fails), Failing()])
def test_an_error_shows_the_students_own_line(answer):
    text = ask("1.2", answer).text
    assert "AttributeError" in text
    assert "  line    return x @ table.transposed()" in text


def test_an_error_is_cut_short_and_the_same_each_time():
    def long(x, table):
        raise ValueError(object(), "x" * 1000)

    def silent(x, table):
        raise WithoutWords

    class WithoutWords(Exception):
        def __str__(self):
            raise ValueError

    text = ask("1.2", long).text
    assert len(text) < 400
    assert " at 0x" not in text
    assert "WithoutWords: without a message" in ask("1.2", silent).text


somewhere = torch.ones(5, 4)


def test_a_tensor_of_the_notebook_is_named():
    assert "from the notebook: `somewhere`" in ask("1.2", lambda x, table: x @ somewhere.T).text
    assert "from the notebook" not in ask("1.2", fails).text


def test_odd_objects_never_raise_into_the_notebook():
    class Endless:
        def __getattr__(self, name):
            return self

        def __call__(self, x, table):
            return x @ table.T

    class Leaves:
        def __repr__(self):
            raise SystemExit

    class Hollow(list):
        def __len__(self):
            raise ValueError

    whole = []
    whole.extend([whole] * 3)
    for result in (Leaves(), Hollow(), whole, 10**6000, tuple(range(10**4)), torch.zeros(9, device="meta")):
        for number in ("1.2", "1.3"):
            verdict = ask(number, lambda *args, result=result: result)
            assert verdict.status == "not yet"
            assert len(verdict.text) < 400
    assert ask("1.2", Endless()).status == "passed"


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

    broken = Exercise("target", probe, "meaning", ("hint",))
    verdict = judge("9.9", broken, lambda: 1)
    assert verdict.status == "not yet"
    assert "fault of the course" in verdict.text
    progress._checked.pop("9.9")


def test_a_check_runs_every_case():
    seen = []

    def counting(x):
        seen.append(x)
        return x

    Cases(lambda: [(1,), (2,), (3,)], right=lambda x: x)(counting)
    assert seen == [1, 2, 3]
    with pytest.raises(Wrong, match="number is not"):
        Cases(lambda: [(1,), (2,)], right=lambda x: x)(lambda x: 1 // x)
    with pytest.raises(Wrong, match="same result in every case"):
        Cases(lambda: [(1,), (2,)], right=lambda x: x)(lambda x: 1)


def test_no_text_reveals_the_answer():
    for exercise in check.EXERCISES.values():
        said = " ".join((exercise.target, exercise.meaning, *exercise.hints))
        for answer in ("@ table.T", "table.transpose", "model.lm_head.weight = ", ".max()", "numel"):
            assert answer not in said


def test_two_functions_are_judged_together():
    split, merge = RIGHT["2.4"][0]
    for answer, missing in [((split, stub), "`merge_heads`"), ((stub, merge), "`split_heads`")]:
        assert f"not attempted: write {missing}, then" in ask("2.4", answer).text
    assert "write `split_heads` and `merge_heads`, then" in ask("2.4", stub).text
    assert "was given None; write `merge_heads`" in check.ex_2_4(split).text
    assert "given a Tensor; give it the function itself" in ask("2.4", (split, torch.ones(1))).text
    assert "from the notebook: `somewhere`" in ask("2.4", (split, lambda x: somewhere)).text


PARTS = ("2.3", "2.4", "2.5", "2.6")


@pytest.fixture
def four_parts(monkeypatch):
    """A kernel in which the four parts of a GPT are passed, each with the first right answer."""
    monkeypatch.setattr(progress, "_checked", {})
    for number in PARTS:
        ask(number, RIGHT[number][0])


@pytest.mark.parametrize(("number", "answer"), [(number, answer) for number in PARTS for answer in RIGHT[number]])
def test_a_students_own_parts_make_the_trained_model(four_parts, number, answer):
    ask(number, answer)
    before = torch.get_rng_state()
    text = check.your_gpt().text
    assert text.startswith("passed: your parts, with the trained model's weights, give its logits for ")
    assert text.endswith("3 × 10 tokens, to 0.00001 of the largest logit.")
    assert torch.equal(before, torch.get_rng_state())
    assert check.summary().text == "Lesson 02: 4 of 6 exercises passed. Still open: 2.1, 2.2."


def test_your_gpt_names_the_parts_that_are_still_open(monkeypatch, four_parts):
    ask("2.4", (RIGHT["2.4"][0][0], stub))  # the latest verdict counts
    ask("2.6", WRONG["2.6"][0][1])
    assert check.your_gpt().text.startswith("not attempted: ")
    assert "in this notebook, 2.4, 2.6. Then" in check.your_gpt().text
    monkeypatch.setattr(progress, "_checked", {})
    assert "2.3, 2.4, 2.5, 2.6" in check.your_gpt().text


@pytest.mark.parametrize(
    ("number", "word", "answer"),
    [
        ("2.3", "other logits than the model; the largest difference is", WRONG["2.3"][0][1]),
        ("2.6", "logits of shape (3, 200), and (3, 10, 200) is wanted", lambda *case: RIGHT["2.6"][0](*case)[:, -1]),
        ("2.6", "difference is nan", lambda *case: RIGHT["2.6"][0](*case) * torch.nan),
        ("2.5", "raised ValueError: too long", lambda x, *parts: refuse(x)),
    ],
)
def test_your_gpt_says_what_is_wrong(four_parts, number, word, answer):
    progress.record(number, (answer,))
    assert check.your_gpt().text.startswith("not yet: ")
    assert word in check.your_gpt().text


def refuse(x):
    raise ValueError("too long")


def test_hints_come_one_at_a_time_and_end_with_the_last():
    check._given.clear()
    texts = [check.hint("1.2").text for _ in range(4)]
    assert [text[:11] for text in texts] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert check.hint(1.2).text.startswith("Hint 3 of 3")
    assert "1.1, 1.2" in check.hint("7.7").text
    assert "Say which" in check.hint().text


def test_the_summary_counts_the_latest_verdicts(monkeypatch):
    monkeypatch.setattr(progress, "_checked", {})
    assert "No exercise" in check.summary().text
    ask("1.2", RIGHT["1.2"][0])
    ask("1.1", RIGHT["1.1"][0])
    ask("1.1", stub)
    assert check.summary().text == "Lesson 01: 1 of 6 exercises passed. Still open: 1.1, 1.3, 1.4, 1.5, 1.6."
    assert "no lesson 77" in check.summary("77").text
    assert check.summary(1).text == check.summary("1").text == check.summary("01").text


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
    assert json.loads((my_work / ".progress.json").read_text(encoding="utf-8")) == {"passed": ["1.2"]}
    monkeypatch.setattr(progress, "_checked", {})
    assert "1 of 6" in check.summary("01").text
    assert [path.name for path in my_work.iterdir()] == [".progress.json"]


def test_a_broken_progress_file_is_set_aside(my_work):
    (my_work / ".progress.json").write_text("{half", encoding="utf-8")
    ask("1.2", RIGHT["1.2"][0])
    assert (my_work / ".progress.broken.json").read_text(encoding="utf-8") == "{half"
    assert json.loads((my_work / ".progress.json").read_text(encoding="utf-8")) == {"passed": ["1.2"]}


@pytest.mark.parametrize("broken", [b"\xff\xfe", b"[]", b'{"passed": "1.1"}', b"[" * 100_000, b""])
def test_no_content_of_the_file_stops_a_check(my_work, broken):
    (my_work / ".progress.json").write_bytes(broken)
    assert ask("1.2", RIGHT["1.2"][0]).status == "passed"
    assert (my_work / ".progress.broken.json").read_bytes() == broken
    assert json.loads((my_work / ".progress.json").read_text(encoding="utf-8")) == {"passed": ["1.2"]}


def test_a_pass_is_kept_where_my_work_and_its_file_are_links(my_work, tmp_path_factory, monkeypatch):
    link = tmp_path_factory.mktemp("course") / "my_work"
    link.symlink_to(my_work)
    monkeypatch.setattr(progress, "MY_WORK", link)
    (my_work / ".progress.json").symlink_to(my_work / "synchronised.json")
    (my_work / "synchronised.json").write_text('{"passed": ["1.1"]}', encoding="utf-8")
    ask("1.2", RIGHT["1.2"][0])
    assert json.loads((my_work / "synchronised.json").read_text(encoding="utf-8")) == {"passed": ["1.1", "1.2"]}
    assert (my_work / ".progress.json").is_symlink()


def test_what_else_the_file_holds_is_kept(my_work):
    (my_work / ".progress.json").write_text('\ufeff{"passed": ["9.9", 7], "name": "Ada"}', encoding="utf-8")
    ask("1.2", RIGHT["1.2"][0])
    assert json.loads((my_work / ".progress.json").read_text(encoding="utf-8")) == {
        "passed": ["1.2", "9.9"],
        "name": "Ada",
    }


def test_passes_of_two_kernels_at_once_are_both_kept(my_work):
    ask("1.2", RIGHT["1.2"][0])
    # another kernel, which read before our pass
    (my_work / ".progress.json").write_text('{"passed": ["0.1"]}', encoding="utf-8")
    ask("1.1", RIGHT["1.1"][0])
    assert json.loads((my_work / ".progress.json").read_text(encoding="utf-8"))["passed"] == ["0.1", "1.1", "1.2"]


def test_a_file_that_cannot_be_read_is_left_alone(my_work):
    (my_work / ".progress.json").mkdir()
    assert ask("1.2", RIGHT["1.2"][0]).status == "passed"
    assert "1 of 6" in check.summary("01").text
    assert [path.name for path in my_work.iterdir()] == [".progress.json"]


def test_a_folder_that_cannot_be_written_stops_no_check(my_work, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError

    for name in ("replace", "getcwd"):  # a locked file; a folder that is gone
        monkeypatch.setattr("os." + name, refuse)
        assert ask("1.2", RIGHT["1.2"][0]).status == "passed"
        assert "1 of 6" in check.summary("01").text
    assert list(my_work.iterdir()) == []


def test_nothing_is_written_elsewhere_nor_under_pytest(my_work, monkeypatch):
    monkeypatch.setenv("PYTEST_VERSION", "9")
    ask("1.2", RIGHT["1.2"][0])
    monkeypatch.delenv("PYTEST_VERSION")
    (my_work / "elsewhere").mkdir()
    monkeypatch.chdir(my_work / "elsewhere")
    ask("1.2", RIGHT["1.2"][0])
    assert not list(my_work.rglob(".progress*"))


def test_verdicts_escape_html():
    def answer(x, table):
        raise ValueError("<b>bold</b>")

    shown = ask("1.2", answer)._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown
    assert "<b>" not in shown


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
        (torch.ones(1), 1, "a single number is wanted"),
        (1, torch.ones(2), "the result is a single number"),
        (torch.tensor([1.0, torch.inf]), torch.ones(2), "infinity"),
        (0.67, 0.6652, "rounded"),
        (len, 1, "brackets"),
        (..., 1, "three dots"),
        (None, "a", "a name to return"),
        (1, "a", "an int, and a name"),
        ("b", "a", "not the right name"),
        ("b", None, "None is wanted"),
        (0, None, "an int, and None"),
    ],
)
def test_differences_are_named(result, want, word):
    assert word in differs(result, want)
    assert differs(want, want) is None


def test_names_of_any_make_are_compared():
    assert same(np.str_("a"), "a")
    assert not same(np.str_("a"), "b")
    assert not same("None", None)
    assert not same("1", 1)


def test_dicts_are_compared_by_what_they_hold():
    assert same({"a": 1, "b": None}, {"b": None, "a": 1.0})
    assert not same({"a": 1}, {"a": 2})
    assert not same({"a": 1}, {"a": 1, "b": None})


def test_brief_values_stay_brief():
    assert brief(torch.eye(2)) == "[[1., 0.], [0., 1.]]"
    assert brief(torch.zeros(9, 9)) == "Tensor of shape (9, 9)"
    assert brief(1 / 3) == "0.333333"
    assert len(brief("x" * 500)) < 90
    assert brief([torch.ones(2), np.float32(0.5)]) == "[[1., 1.], 0.5]"
    assert brief(np.array([10.0, 0.09])) == "[10., 0.09]"
    assert brief(object()) == "an object"
    assert brief(GPTConfig(10, 4, 2, 1, 2, tied=False)).endswith("n_embd=2, n_layer=1, n_head=2, tied=False)")
