"""The nearest right program: it points to the line, stays in its limits, and touches nothing."""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from utils.check.cases import Cases
from utils.check.engine import Exercise, judge
from utils.check.repair import limits, search


def verdict(answer, cases, right):
    return judge("9.9", Exercise("target", Cases(cases, right), "meaning", ("hint",)), answer).text


def _rows():
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(3, generator=generator),), (torch.randn(2, 5, generator=generator),)]


def _softmax(x):
    return x.softmax(-1)


def axis(x):
    e = x.exp()
    return e / e.sum(0, keepdim=True)


def no_keepdim(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    total = e.sum(-1)
    return e / total


def sign(x):
    e = (-x).exp()
    return e / e.sum(-1, keepdim=True)


def forgotten_call(x):
    e = x - x.amax(-1, keepdim=True)
    return e / e.exp().sum(-1, keepdim=True)


def dropped(x):
    x.exp()
    return x / x.sum(-1, keepdim=True)


def no_return(x):
    e = x.exp()
    e = e / e.sum(-1, keepdim=True)


def wrong_name(x):
    e = x.exp()
    return x / e.sum(-1, keepdim=True)


def surplus(x):
    e = x.exp()
    e = e / e.sum(-1, keepdim=True)
    return e.log()


@pytest.mark.parametrize(
    ("answer", "line", "word"),
    [
        (axis, 3, "`sum`"),
        (no_keepdim, 3, "the dimensions that `sum` leaves"),
        (sign, 2, "the sign"),
        (forgotten_call, 3, "`e`"),
        (dropped, 2, "computed and dropped"),
        (no_return, 3, "what is returned"),
        (wrong_name, 3, "the name `x`"),
        (surplus, 4, "the call of `log`"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_line_of_a_slip_is_named_and_the_change_is_not(answer, line, word):
    text = verdict(answer, _rows, _softmax)
    look = text.partition("\n  look    ")[2].splitlines()[0]
    assert look.startswith(f"line {line}, ")
    assert word in look
    assert text == verdict(answer, _rows, _softmax)


def _counts():
    return [(4, 2), (5, 3), (10, 7)]


def _sum_of_squares(n, k):
    return sum(i**k for i in range(n))


def power(n, k):
    return sum(i ^ k for i in range(n))


def bound(n, k):
    total = 0
    for i in range(n - 1):
        total += i**k
    return total


def return_too_deep(n, k):  # noqa: RET503
    total = 0
    for i in range(n):
        total += i**k
        return total


def replaces(n, k):
    total = 0
    for i in range(n):
        total = i**k
    return total


@pytest.mark.parametrize(
    ("answer", "line"), [(power, 2), (bound, 3), (return_too_deep, 3), (replaces, 4)], ids=lambda v: str(v)[:20]
)
def test_loops_and_operators_are_mended_too(answer, line):
    assert f"look    line {line}" in verdict(answer, _counts, _sum_of_squares)


def xor(n, k):
    return n ^ 2 + k


def printed(n, k):
    total = sum(i**k for i in range(n))
    print(total, end="")


def one_way(n, k):  # noqa: RET503
    if n > 4:
        return n**2 + k


def default(n, k):
    sizes = {"n": n, "k": k}
    return sizes.get("n", sizes["n_inner"])


def word(n, k):
    inner = None
    width = 4 * n if inner == "null" else inner
    return width + k


@pytest.mark.parametrize(
    ("answer", "line", "words"),
    [
        (xor, 2, "is no power"),
        (printed, 3, "gives it to nobody"),
        (one_way, 2, "comes to no `return`"),
        (default, 3, "is computed first"),
        (word, 3, "Python's None"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_slips_of_python_itself_are_named(answer, line, words):
    look = verdict(answer, lambda: [(5, 2), (4, 2)], lambda n, k: n**2 + k).partition("look    ")[2]
    assert look.startswith(f"line {line}, ")
    assert words in look


def test_what_is_far_from_right_gets_no_line():
    def far(n, k):
        return math.sin(n) * 1000

    assert "look" not in verdict(far, _counts, _sum_of_squares)


def endless(n, k):
    while n > 0:
        n = n + 1 - 1 + k
        k = k * 1
    return k


def deep(n, k):
    def again(m):
        return again(m) + again(m + k)

    return n - k if n > 100 else n + 1


def huge(n, k):
    return n + k + 0 * torch.zeros(n).sum().item() + 1


def leaves(n, k):
    if n > 1000:
        sys.exit()
    return n * k + 1


def swallows(n, k):
    while True:
        try:
            n += 1
            if n > 10**9:
                return n
        except:  # noqa: E722
            pass


@pytest.mark.parametrize("answer", [endless, deep, huge, leaves], ids=lambda f: f.__name__)
def test_changed_programs_stay_in_their_limits(answer):
    if answer is endless:
        answer = lambda n, k: n  # noqa: E731  the student's own endless loop is not ours to stop
    start = time.perf_counter()
    probe = Cases(_counts, lambda n, k: n * 1000 + k * 77)
    search.hint_at_change(probe, (answer,))
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize("program", [endless, swallows])
def test_an_endless_changed_program_is_stopped_by_its_lines(program):
    space = {"torch": torch}
    source = Path(__file__).read_text(encoding="utf-8")
    body = source[source.index(f"def {program.__name__}(") :].partition("\n\n\n")[0]
    exec(compile(body, limits.NAME, "exec"), space)
    start = time.perf_counter()
    with pytest.raises(limits.Stopped), limits.limits(start + 60):
        space[program.__name__](5, 1)
    assert time.perf_counter() - start < 5


def test_no_file_is_written_and_no_process_started(tmp_path):
    for act in (
        lambda: (tmp_path / "new").write_text("x"),
        lambda: (tmp_path / "kept").unlink(),
        lambda: __import__("subprocess").run(["true"], check=False),
        lambda: __import__("os").system("true"),
    ):
        (tmp_path / "kept").touch()
        with pytest.raises(limits.Stopped), limits.limits(time.perf_counter() + 5):
            act()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "after").write_text("files are written again")


def test_an_import_is_never_stopped_half_way(tmp_path, monkeypatch):
    (tmp_path / "makes_a_folder.py").write_text("import os\nos.mkdir(os.path.join(os.path.dirname(__file__), 'new'))\n")
    monkeypatch.syspath_prepend(tmp_path)
    with limits.limits(time.perf_counter() + 5):
        import makes_a_folder  # noqa: F401
    assert (tmp_path / "new").is_dir()


def test_reading_a_file_is_allowed():
    with limits.limits(time.perf_counter() + 5):
        json.loads('{"a": 1}')
        assert Path(__file__).read_text(encoding="utf-8")


shared = [1.0, 2.0]
total = 0


def touches_the_notebook(x):
    global total
    total += 1
    shared.append(3.0)
    return x.softmax(0) + 0


def test_the_search_works_on_a_copy_and_leaves_no_trace(capsys):
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), sys.gettrace()

    def prints(x):
        print("noise")
        return x.softmax(0)

    search.hint_at_change(Cases(_rows, _softmax), (touches_the_notebook,))
    assert (shared, total) == ([1.0, 2.0], 0)
    assert "line 3" in search.hint_at_change(Cases(_rows, _softmax), (prints,))
    assert capsys.readouterr().out == ""
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])
    assert sys.gettrace() is before[2]


def test_without_a_source_the_verdict_is_as_before():
    space = {}
    exec("def answer(n, k):\n    return n + k", space)
    text = verdict(space["answer"], _counts, _sum_of_squares)
    assert text.startswith("not yet: the number is not the right one.")
    assert "look" not in text


def test_no_change_calls_what_the_student_did_not():
    called = []

    def helper(x):
        called.append(x)
        return x

    def answer(n, k):
        kept = helper
        return n + k if kept is None else n - k

    search.hint_at_change(Cases(_counts, _sum_of_squares), (answer,))
    assert called == []
