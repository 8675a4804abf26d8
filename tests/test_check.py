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
from written import written

from utils import check
from utils.check import progress
from utils.check.calling import Wrong
from utils.check.cases import Cases
from utils.check.compare import brief, differs, same
from utils.check.engine import Exercise, judge
from utils.check.repair import search
from utils.model import GPTConfig

NUMBERS = list(check.EXERCISES)
every_exercise = pytest.mark.parametrize("number", NUMBERS)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine the search finds what it finds on an idle one in two seconds."""
    monkeypatch.setattr(search, "SECONDS", 20)


def ask(number, answer):
    """The verdict on an answer, or on one for each part of an exercise; a lone one stands for all its parts."""
    answers = answer if isinstance(answer, tuple) else [answer] * len(check.EXERCISES[number].parts)
    return getattr(check, "ex_" + number.replace(".", "_"))(*answers)


def told(body, **space):
    """The text of the verdict on an answer to 1.2 with this body."""
    return ask("1.2", written(body, "x, table", torch=torch, **space)).text


def pass_(number="1.2"):
    verdict = ask(number, RIGHT[number][0])
    assert verdict.status == "passed"
    return verdict


def stub(*args): ...


async def empty_async(*args): ...


class WithMethod:
    def method(self, *args):
        pass

    def __call__(self, *args):
        pass


BODIES = [
    *('"""What a student finds."""\n...  # your answer here', '"""The same."""', "# nothing yet\npass", "return ..."),
    *("raise NotImplementedError", 'raise NotImplementedError("todo")', '"""To do."""\nreturn None', "return ..., ..."),
    *('print("called", args[0], end="")\n...', "import torch\nresult: float\nanswer = None"),
]
STUBS = [
    *(*map(written, BODIES), None, ..., torch.no_grad()(stub), functools.cache(stub), functools.partial(stub, 1)),
    *(empty_async, WithMethod().method, WithMethod()),
]


def test_an_exercise_is_found_by_its_file_and_has_a_name_and_a_docstring():
    assert sorted(NUMBERS, key=lambda number: [int(part) for part in number.split(".")]) == NUMBERS
    for name in ("ex_" + number.replace(".", "_") for number in NUMBERS):
        assert name in dir(check)
        assert getattr(check, name).__name__ == name
        assert getattr(check, name).__doc__.startswith(f"Exercise {name[3:].replace('_', '.')}: ")


@every_exercise
def test_every_exercise_has_answers_to_try(number):
    file = f"tests/answers/ex_{number.replace('.', '_')}.py"
    assert number in RIGHT, f"exercise {number} has no answers to try: write {file} with RIGHT and WRONG"
    assert len(RIGHT[number]) >= 2, f"write more right answers into {file}"
    assert len(WRONG[number]) >= 5, f"write at least five wrong answers into {file}"


def test_every_file_of_answers_belongs_to_an_exercise():
    assert set(RIGHT) <= set(NUMBERS)


PROBES = {number: exercise.probe for number, exercise in check.EXERCISES.items() if hasattr(exercise.probe, "rows")}
ROWS = [(number, diagnosis, mistake) for number, probe in PROBES.items() for diagnosis, mistake in probe.rows()]


@pytest.mark.parametrize(("number", "diagnosis", "mistake"), ROWS, ids=[f"{n} {d[:40]}" for n, d, _ in ROWS])
def test_each_mistake_of_a_table_comes_back_with_its_own_diagnosis(number, diagnosis, mistake):
    assert ask(number, mistake).text.startswith(f"not yet: {diagnosis}")


def test_a_table_of_mistakes_is_short():
    """A dozen an exercise is many: what the mechanisms find out by themselves needs no row."""
    tables = {number: len({d for n, d, _ in ROWS if n == number}) for number in NUMBERS}
    assert {number: length for number, length in tables.items() if length > 12} == {}


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


@every_exercise
@pytest.mark.parametrize("empty", STUBS)
def test_an_empty_answer_is_not_attempted_and_shows_the_target(number, empty):
    verdict = ask(number, empty)
    assert verdict.text.startswith("not attempted: ")
    assert check.EXERCISES[number].target in verdict.text


@pytest.mark.parametrize("attempt", ['print(args[0] * 1, end="")', "result = args[0] * 1"])
@pytest.mark.parametrize("number", ["0.1", "1.2"])
def test_an_attempt_without_a_return_is_not_yet(number, attempt):
    assert "returns None" in ask(number, written(attempt)).text


def test_a_called_function_is_told_from_an_empty_one():
    assert "was given None" in ask("1.4", None).text


@every_exercise
def test_a_constant_or_a_result_is_not_a_pass(number):
    assert ask(number, written("return 0")).status == "not yet"
    assert "the function itself" in ask(number, torch.zeros(3)).text


def state():
    """All that an answer may set, and a check has to leave as it was."""
    return (
        *(torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()),
        *(torch.get_default_dtype(), torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()),
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), vars(torch._tensor_str.PRINT_OPTS).copy()),
        *(np.geterr(), np.get_printoptions(), sys.getrecursionlimit(), list(warnings.filters)),
    )


@every_exercise
def test_verdicts_are_deterministic_and_change_no_global_state(number):
    def disturbs(*args):
        for seed in (torch.manual_seed, np.random.seed, random.seed):
            seed(99)
        torch.set_default_dtype(torch.float64)
        return torch.rand(3)

    with torch.no_grad():
        torch.manual_seed(3)
        before = state()
        assert len({ask(number, disturbs).text for _ in range(2)}) == 1
        assert state() == before


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
    before = state()
    assert ask("1.2", changes_every_setting).status == "passed"
    assert state() == before


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
    # pytest makes errors of warnings here
    assert told("warnings.warn('careful', stacklevel=1)\nreturn x @ table.T", warnings=warnings).startswith("passed")


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
    assert "from the notebook" not in text


class WithoutWords(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("raise ValueError(object(), 'x' * 1000)", "ValueError: (<object object>, 'xxx"),
        ("raise WithoutWords", "WithoutWords: without a message"),
        ("raise SystemExit(1)", "SystemExit"),
        ("raise KeyboardInterrupt", "interrupted"),
        ("return x @ somewhere.T", "the notebook's `somewhere`"),
    ],
)
def test_whatever_an_answer_does_the_verdict_is_short_and_the_same_each_time(body, word):
    texts = {told(body, WithoutWords=WithoutWords, somewhere=torch.ones(5, 4)) for _ in range(2)}
    assert len(texts) == 1
    text = texts.pop()
    assert word in text
    assert len(text) < 400
    assert " at 0x" not in text


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


WHOLE = []
WHOLE.extend([WHOLE] * 3)
ODD = [Leaves(), Hollow(), WHOLE, 10**6000, tuple(range(10**4)), torch.zeros(9, device="meta")]


@pytest.mark.parametrize("number", ["1.2", "1.3"])
@pytest.mark.parametrize("result", ODD, ids=range(len(ODD)))
def test_odd_objects_never_raise_into_the_notebook(number, result):
    verdict = ask(number, lambda *args: result)
    assert verdict.status == "not yet"
    assert len(verdict.text) < 400
    assert ask("1.2", Endless()).status == "passed"


def test_a_fault_of_the_check_is_never_a_pass():
    verdict = judge("9.9", Exercise("target", written("raise ZeroDivisionError"), "meaning", ("hint",)), lambda: 1)
    assert verdict.status == "not yet"
    assert "fault of the course" in verdict.text
    progress._checked.pop("9.9")


def test_a_check_runs_every_case():
    seen = []
    Cases(lambda: [(1,), (2,), (3,)], right=lambda x: x)(lambda x: seen.append(x) or x)
    assert seen == [1, 2, 3]
    for wrong, words in [(lambda x: 1 // x, "where `x` is not 1"), (lambda x: 1, "same result in every case")]:
        with pytest.raises(Wrong, match=words):
            Cases(lambda: [(1,), (2,)], right=lambda x: x)(wrong)


def test_no_text_reveals_the_answer():
    for exercise in check.EXERCISES.values():
        said = " ".join((exercise.target, exercise.meaning, *exercise.hints))
        answers = ("@ table.T", "table.transpose", "model.lm_head.weight = ", ".max()", "numel")
        assert [answer for answer in answers if answer in said] == []


SPLIT, MERGE = RIGHT["2.4"][0]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((SPLIT, stub), "not attempted: write `merge_heads`, then"),
        ((stub, MERGE), "not attempted: write `split_heads`, then"),
        ((stub, stub), "write `split_heads` and `merge_heads`, then"),
        ((SPLIT,), "was given None; write `merge_heads`"),
        ((SPLIT, torch.ones(1)), "given a Tensor; give it the function itself"),
        ((SPLIT, written("return somewhere", somewhere=torch.ones(5))), "the notebook's `somewhere`"),
    ],
)
def test_two_functions_are_judged_together(answers, words):
    assert words in ask("2.4", answers).text


PARTS = ("2.3", "2.4", "2.5", "2.6")


@pytest.fixture
def checked(monkeypatch):
    """A kernel in which nothing was checked yet; call it for another such one."""

    def afresh():
        monkeypatch.setattr(progress, "_checked", {})

    afresh()
    return afresh


@pytest.fixture
def four_parts(checked):
    """A kernel in which the four parts of a GPT are passed, each with the first right answer."""
    for number in PARTS:
        pass_(number)


@pytest.mark.parametrize(("number", "answer"), [(number, answer) for number in PARTS for answer in RIGHT[number]])
def test_a_students_own_parts_make_the_trained_model(four_parts, number, answer):
    ask(number, answer)
    before = torch.get_rng_state()
    text = check.your_gpt().text
    assert text.startswith("passed: your parts, with the trained model's weights, give its logits for ")
    assert text.endswith("3 × 10 tokens, to 0.00001 of the largest logit.")
    assert torch.equal(before, torch.get_rng_state())
    assert check.summary().text == "Lesson 02: 4 of 6 exercises passed. Still open: 2.1, 2.2."


def test_your_gpt_names_the_parts_that_are_still_open(checked, four_parts):
    ask("2.4", (SPLIT, stub))  # the latest verdict counts
    ask("2.6", WRONG["2.6"][0][1])
    assert check.your_gpt().text.startswith("not attempted: ")
    assert "in this notebook, 2.4, 2.6. Then" in check.your_gpt().text
    checked()
    assert "2.3, 2.4, 2.5, 2.6" in check.your_gpt().text


@pytest.mark.parametrize(
    ("number", "word", "answer"),
    [
        ("2.3", "other logits than the model; the largest difference is", WRONG["2.3"][0][1]),
        ("2.6", "logits of shape (3, 200), and (3, 10, 200) is wanted", lambda *case: RIGHT["2.6"][0](*case)[:, -1]),
        ("2.6", "difference is nan", lambda *case: RIGHT["2.6"][0](*case) * torch.nan),
        ("2.5", "raised ValueError: too long", written("raise ValueError('too long')")),
    ],
)
def test_your_gpt_says_what_is_wrong(four_parts, number, word, answer):
    progress.record(number, (answer,))
    assert check.your_gpt().text.startswith("not yet: ")
    assert word in check.your_gpt().text


def test_hints_come_one_at_a_time_and_end_with_the_last():
    check._given.clear()
    for number, start in zip(["1.2", "1.2", "1.2", "1.2", 1.2], [1, 2, 3, 3, 3], strict=True):
        assert check.hint(number).text.startswith(f"Hint {start} of 3")
    assert "1.1, 1.2" in check.hint("7.7").text
    assert "Say which" in check.hint().text


def test_the_summary_counts_the_latest_verdicts(checked):
    assert "No exercise" in check.summary().text
    pass_("1.2")
    pass_("1.1")
    ask("1.1", stub)
    assert check.summary().text == "Lesson 01: 1 of 6 exercises passed. Still open: 1.1, 1.3, 1.4, 1.5, 1.6."
    assert "no lesson 77" in check.summary("77").text
    assert check.summary(1).text == check.summary("1").text == check.summary("01").text


@pytest.fixture
def my_work(tmp_path, monkeypatch, checked):
    """The progress file of a my_work/ that the checks take for theirs, with no test runner in sight."""
    monkeypatch.setattr(progress, "MY_WORK", tmp_path)
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".progress.json"


def kept(file):
    return json.loads(file.read_text(encoding="utf-8"))


def test_passes_are_kept_in_my_work_for_the_next_day(my_work, checked):
    pass_()
    ask("1.1", stub)
    assert kept(my_work) == {"passed": ["1.2"]}
    checked()
    assert "1 of 6" in check.summary("01").text
    assert list(my_work.parent.iterdir()) == [my_work]


@pytest.mark.parametrize("broken", [b"{half", b"\xff\xfe", b"[]", b'{"passed": "1.1"}', b"[" * 100_000, b""])
def test_a_broken_progress_file_is_set_aside_and_stops_no_check(my_work, broken):
    my_work.write_bytes(broken)
    pass_()
    assert my_work.with_suffix(".broken.json").read_bytes() == broken
    assert kept(my_work) == {"passed": ["1.2"]}


def test_a_pass_is_kept_where_my_work_and_its_file_are_links(my_work, tmp_path_factory, monkeypatch):
    link = tmp_path_factory.mktemp("course") / "my_work"
    link.symlink_to(my_work.parent)
    monkeypatch.setattr(progress, "MY_WORK", link)
    synchronised = my_work.with_name("synchronised.json")
    synchronised.write_text('{"passed": ["1.1"]}', encoding="utf-8")
    my_work.symlink_to(synchronised)
    pass_()
    assert kept(synchronised) == {"passed": ["1.1", "1.2"]}
    assert my_work.is_symlink()


def test_what_else_the_file_holds_is_kept(my_work):
    my_work.write_text('\ufeff{"passed": ["9.9", 7], "name": "Ada"}', encoding="utf-8")
    pass_()
    assert kept(my_work) == {"passed": ["1.2", "9.9"], "name": "Ada"}


def test_passes_of_two_kernels_at_once_are_both_kept(my_work):
    pass_()
    my_work.write_text('{"passed": ["0.1"]}', encoding="utf-8")  # another kernel, which read before our pass
    pass_("1.1")
    assert kept(my_work) == {"passed": ["0.1", "1.1", "1.2"]}


def test_a_file_that_cannot_be_read_is_left_alone(my_work):
    my_work.mkdir()
    pass_()
    assert "1 of 6" in check.summary("01").text
    assert list(my_work.parent.iterdir()) == [my_work]


@pytest.mark.parametrize("name", ["replace", "getcwd"])  # a locked file; a folder that is gone
def test_a_folder_that_cannot_be_written_stops_no_check(my_work, monkeypatch, name):
    def refuse(*args, **kwargs):
        raise PermissionError

    monkeypatch.setattr("os." + name, refuse)
    pass_()
    assert "1 of 6" in check.summary("01").text
    assert list(my_work.parent.iterdir()) == []


def test_nothing_is_written_elsewhere_nor_under_pytest(my_work, monkeypatch):
    monkeypatch.setenv("PYTEST_VERSION", "9")
    pass_()
    monkeypatch.delenv("PYTEST_VERSION")
    elsewhere = my_work.with_name("elsewhere")
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    pass_()
    assert list(my_work.parent.rglob("*")) == [elsewhere]


def test_verdicts_escape_html():
    shown = ask("1.2", written("raise ValueError('<b>bold</b>')"))._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("result", "want", "word"),
    [
        (None, 1, "None"),
        (torch.ones(2), torch.ones(3), "shape"),
        (torch.tensor([1.0, torch.nan]), torch.ones(2), "NaN"),
        (torch.ones(2), torch.zeros(2), "values"),
        ("text", torch.zeros(2), "a text"),
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


def test_names_and_dicts_are_compared_by_what_they_hold():
    assert same(np.str_("a"), "a")
    assert same({"a": 1, "b": None}, {"b": None, "a": 1.0})
    unequal = [(np.str_("a"), "b"), ("None", None), ("1", 1), ({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 1, "b": None})]
    assert [pair for pair in unequal if same(*pair)] == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (torch.eye(2), "[[1., 0.], [0., 1.]]"),
        (torch.zeros(9, 9), "Tensor of shape (9, 9)"),
        (1 / 3, "0.333333"),
        ("x" * 500, "a str"),
        ([torch.ones(2), np.float32(0.5)], "[[1., 1.], 0.5]"),
        (np.array([10.0, 0.09]), "[10., 0.09]"),
        (object(), "an object"),
    ],
)
def test_brief_values_stay_brief(value, shown):
    assert brief(value) == shown
    assert brief(GPTConfig(10, 4, 2, 1, 2, tied=False)).endswith("n_embd=2, n_layer=1, n_head=2, tied=False)")
