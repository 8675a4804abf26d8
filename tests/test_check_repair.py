"""The nearest right program: it points to the line, stays in its limits, and touches nothing."""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from written import written

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


def _counts():
    return [(4, 2), (5, 3), (10, 7)]


def _sum_of_squares(n, k):
    return sum(i**k for i in range(n))


STABLE = "e = (x - x.amax(-1, keepdim=True)).exp()\n"
LOOP = "total = 0\nfor i in range(n):\n    total += i**k\n"


@pytest.mark.parametrize(
    ("body", "line", "word"),
    [
        ("e = x.exp()\nreturn e / e.sum(0, keepdim=True)", 3, "`sum`"),
        (STABLE + "total = e.sum(-1)\nreturn e / total", 3, "the dimensions that `sum` leaves"),
        ("e = (-x).exp()\nreturn e / e.sum(-1, keepdim=True)", 2, "the sign"),
        ("e = x - x.amax(-1, keepdim=True)\nreturn e / e.exp().sum(-1, keepdim=True)", 3, "`e`"),
        ("x.exp()\nreturn x / x.sum(-1, keepdim=True)", 2, "computed and dropped"),
        ("e = x.exp()\ne = e / e.sum(-1, keepdim=True)", 3, "what is returned"),
        ("e = x.exp()\nreturn x / e.sum(-1, keepdim=True)", 3, "the name `x`"),
        ("e = x.exp()\ne = e / e.sum(-1, keepdim=True)\nreturn e.log()", 4, "the call of `log`"),
        ("x = x / x.sum(-1, keepdim=True)\nx = x.exp()\nreturn x", 2, "its order with line 3"),
    ],
)
def test_the_line_of_a_slip_is_named_and_the_change_is_not(body, line, word):
    text = verdict(written(body, "x"), _rows, _softmax)
    look = text.partition("\n  look    ")[2].splitlines()[0]
    assert look.startswith(f"line {line}, ")
    assert word in look
    assert text == verdict(written(body, "x"), _rows, _softmax)


@pytest.mark.parametrize(
    ("body", "line", "word"),
    [
        ("return sum(i ^ k for i in range(n))", 2, "is no power"),
        ("return sum(i**k for i in range(n) if i > n and k > 0)", 2, "the operator `and`"),
        (LOOP.replace("range(n)", "range(n - 1)") + "return total", 3, "the number 1"),
        (LOOP + "    return total", 3, "how far in the `return` stands"),
        (LOOP.replace("+=", "=") + "return total", 4, "the `=`"),
    ],
)
def test_loops_and_operators_are_mended_too(body, line, word):
    look = verdict(written(body, "n, k"), _counts, _sum_of_squares).partition("look    ")[2].splitlines()[0]
    assert look.startswith(f"line {line}, ")
    assert word in look


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("return n ^ 2 + k", 2, "is no power"),
        ("total = sum(i**k for i in range(n))\nprint(total, end='')", 3, "gives it to nobody"),
        ("if n > 4:\n    return n**2 + k", 2, "comes to no `return`"),
        ("sizes = {'n': n, 'k': k}\nreturn sizes.get('n', sizes['n_inner'])", 3, "is computed first"),
        ("inner = None\nwidth = 4 * n if inner == 'null' else inner\nreturn width + k", 3, "Python's None"),
    ],
)
def test_slips_of_python_itself_are_named(body, line, words):
    look = verdict(written(body, "n, k"), lambda: [(5, 2), (4, 2)], lambda n, k: n**2 + k).partition("look    ")[2]
    assert look.startswith(f"line {line}, ")
    assert words in look


def _pairs():
    generator = torch.Generator().manual_seed(2)
    return [(torch.rand(2, 3, generator=generator), 2), (torch.rand(4, 6, generator=generator), 3)]


@pytest.mark.parametrize(
    ("right", "body", "line", "word"),
    [
        ("return torch.cat([x, x], -1)", "return torch.cat([x, x])", 2, "the dimension of `cat`"),
        ("return x.softmax(-1)", "return torch.softmax(x, dim=0)", 2, "the dimension"),
        ("return x.sort(-1, descending=True).values", "return x.sort(-1).values", 2, "which way, and by which rule"),
        ("return x.topk(k, -1).values", "return x.topk(k, -1, largest=False).values", 2, "False or True"),
        ("return x / x.shape[-1] ** 0.5", "return x / x.shape[-1] ** 1 / 2", 2, "a power comes before"),
        ("return torch.stack([x, 2 * x])", "return torch.stack([2 * x, x])", 2, "the order in"),
        ("return x[:, :k] + x[:, k - 1 :][:, :1]", "return x[:, :k] + x[:, k:][:, :1]", 2, "the bound `k`"),
        ("return x[:k] + x[k - 1]", "return x[k] + x[k - 1]", 2, "what stands between the brackets"),
        ("return (x * k).sum(0) * k", "return (x * 3).sum(0) * 3", 2, "here and where it stands again"),
        ("t = x * 0\nfor r in x:\n    t = t + r\nreturn t",
         "for r in x:\n    t = x * 0\n    t = t + r\nreturn t", 3, "how far in"),
        ("t = 0\nfor r in x:\n    t = t + r\nreturn t * k",
         "t = 0\nfor r in x:\n    t = t + r\n    t = t * k\nreturn t", 5, "how far in"),
        ("y = x.exp()\ny = y.sum(-1)\nreturn y",
         "y = x.log()\ny = y.mean(-1)\nreturn y", 2, "; and line 3: the `mean`"),
        ("return x * k", "return spare * k", 2, "the name `spare`"),
    ],
)  # fmt: skip
def test_further_kinds_of_slip_are_mended(right, body, line, word):
    space = {"torch": torch, "spare": torch.ones(2, 3)}
    text = verdict(written(body, "x, k", **space), _pairs, written(right, "x, k", **space))
    look = text.partition("look    ")[2].partition("\n")[0]
    assert f"line {line}, " in look
    assert word in look


def test_the_search_is_timed_by_its_work():
    clock = limits.Clock(0.2)
    time.sleep(0.22)
    assert not clock.is_over()
    time.sleep(0.1)
    assert clock.is_over()  # on the wall too, in the end
    clock = limits.Clock(0.05)
    while not clock.is_over():
        pass
    assert time.perf_counter() < clock.passed + 0.05


def test_what_is_far_from_right_gets_no_line():
    assert "look" not in verdict(written("return math.sin(n) * 1000", "n, k", math=math), _counts, _sum_of_squares)


ENDLESS = "while n > 0:\n    n = n + 1 - 1 + k\n    k = k * 1\nreturn k"
SWALLOWS = (
    "while True:\n    try:\n        n += 1\n        if n > 10**9:\n            return n\n    except:\n        pass"
)


@pytest.mark.parametrize(
    "body",
    [
        "return n",  # one step away from what never ends
        "def again(m):\n    return again(m) + again(m + k)\nreturn n - k if n > 100 else n + 1",
        "return n + k + 0 * torch.zeros(n).sum().item() + 1",
        "if n > 1000:\n    sys.exit()\nreturn n * k + 1",
    ],
)
def test_changed_programs_stay_in_their_limits(body):
    answer = written(body, "n, k", torch=torch, sys=sys)
    start = time.perf_counter()
    search.hint_at_change(Cases(_counts, lambda n, k: n * 1000 + k * 77), (answer,))
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize("body", [ENDLESS, SWALLOWS])
def test_an_endless_changed_program_is_stopped_by_its_lines(body, monkeypatch):
    program = written(body, "n, k")
    monkeypatch.setattr(limits, "NAME", program.__code__.co_filename)
    start = time.perf_counter()
    with pytest.raises(limits.Stopped), limits.limits(limits.Clock(60)):
        program(5, 1)
    assert time.perf_counter() - start < 5


def test_no_file_is_written_and_no_process_started(tmp_path):
    for act in (
        lambda: (tmp_path / "new").write_bytes(b"x"),
        lambda: (tmp_path / "kept").unlink(),
        lambda: __import__("subprocess").run(["true"], check=False),
        lambda: __import__("os").system("true"),
    ):
        (tmp_path / "kept").touch()
        with pytest.raises(limits.Stopped), limits.limits(limits.Clock(5)):
            act()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "after").write_text("files are written again", encoding="utf-8")


def test_an_import_is_never_stopped_half_way(tmp_path, monkeypatch):
    text = "import os\nos.mkdir(os.path.join(os.path.dirname(__file__), 'new'))\n"
    (tmp_path / "makes_a_folder.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with limits.limits(limits.Clock(5)):
        import makes_a_folder  # noqa: F401
    assert (tmp_path / "new").is_dir()


def test_reading_a_file_is_allowed():
    with limits.limits(limits.Clock(5)):
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
    body = "kept = helper\nreturn n + k if kept is None else n - k"
    search.hint_at_change(Cases(_counts, _sum_of_squares), (written(body, "n, k", helper=called.append),))
    assert called == []
