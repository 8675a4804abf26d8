"""The notebook builder, each of its rules, strict nbval, and the notebooks that are stored."""

import copy
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.notebooks import (
    MarkerError,
    canonical,
    check,
    code_rules,
    derive,
    different_starts,
    drift,
    leaks,
    main,
    output_rules,
    problems,
    read,
    rules,
    run,
    text_of,
)
from utils.notebooks.form import keep_stored

ROOT = Path(__file__).parents[1]
STORED = sorted(path for edition in ("solutions", "lessons") for path in (ROOT / edition).glob("*.ipynb"))
START = "from types import SimpleNamespace\n\ncheck = SimpleNamespace(ex_1_1=lambda f: print('judged', f(2)))"
ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return sum([x, x])\n    ### END SOLUTION\n\ncheck.ex_1_1(double)"
PICTURE = "<figure><img alt='Loss {0}' src='data:image/png;base64,{1}'><figcaption>Loss {0}</figcaption></figure>"


def showing(number="0.62", pixels="AAAA"):
    """Return a cell's source that displays a figure in the house's way."""
    # cut in three: a cell's lines are short
    parts = "\n".join(f"    {part!r}" for part in re.findall(".{1,80}", PICTURE.format(number, pixels)))
    return f'html = (\n{parts}\n)\ndisplay({{"text/html": html, "text/plain": "Loss {number}"}}, raw=True)'


def md(text, name, tags=()):
    return new_markdown_cell(text, id=name, metadata={"tags": list(tags)} if tags else {})


def code(source, name, count=None, outputs=(), tags=()):
    meta = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, id=name, execution_count=count, outputs=list(outputs), metadata=meta)


def said(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def shown(data, **more):
    return new_output("display_data", data=data, **more)


def raised(ename, evalue):
    return new_output("error", ename=ename, evalue=evalue, traceback=[f"{ename}: {evalue}"])


def good():
    """Return a well-formed notebook, as if it had been run."""
    figure = {"text/html": PICTURE.format("0.62", "AAAA"), "text/plain": "Loss 0.62"}
    return canonical(
        new_notebook(
            cells=[
                md("# A lesson\n\nIt begins here.", "title"),
                code(START, "start", 1, tags=["run-from-here"]),
                md("The value follows.", "m-value"),
                code("1 + 1", "value", 2, [new_output("execute_result", data={"text/plain": "2"}, execution_count=2)]),
                md("The loss falls.", "m-figure"),
                code(showing(), "figure", 3, [shown(figure)]),
                md("This error is meant.", "m-error"),
                code("[][0]", "error", 4, [raised("IndexError", "list index out of range")], tags=["raises-exception"]),
                md("### Exercise 1.1 (★★, 10 min)\n\nDouble it.", "m-answer"),
                code(ANSWER, "answer", 5, [said("judged 4\n")], tags=["exercise"]),
                md("Adding is doubling: both read it twice.", "remark", tags=["solution-only"]),
            ]
        )
    )


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.get("id") == name)


def project(folder, **notebooks):
    """Make a project's folder with these solutions, and the real sanitizing file."""
    for name in ("solutions", "lessons", "tests"):
        (folder / name).mkdir(parents=True)
    rules = (ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    (folder / "tests" / "nbval_sanitize.cfg").write_text(rules, encoding="utf-8")
    for name, nb in notebooks.items():
        (folder / "solutions" / f"{name}.ipynb").write_text(text_of(nb), encoding="utf-8")
    return folder


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.ipynb"))}


def small(source):
    return canonical(new_notebook(cells=[md("# Small", "title"), code(source, "only")]))


# --- derivation


def test_each_block_becomes_one_stub_at_its_indentation():
    source = "a = 1\n### BEGIN SOLUTION\nb = 2\nc = 3\n### END SOLUTION\ndef f():\n" + (
        "        ### BEGIN SOLUTION\n        return 4\n        ### END SOLUTION\nf()"
    )
    lesson = derive(small(source))
    wanted = "a = 1\n...  # your answer here\ndef f():\n        ...  # your answer here\nf()"
    assert cell(lesson, "only").source == wanted


def test_solution_only_cells_and_outputs_go_and_ids_stay():
    solution = good()
    lesson = derive(solution)
    assert [cell.id for cell in lesson.cells] == [cell.id for cell in solution.cells][:-1]
    assert all(not cell.outputs and cell.execution_count is None for cell in lesson.cells if "outputs" in cell)
    assert cell(lesson, "answer").metadata == {"tags": ["exercise"]}
    assert drift(solution, lesson) == []


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("### BEGIN SOLUTION\n1", "line 1 is a BEGIN SOLUTION without its END"),
        ("1\n### END SOLUTION", "line 2 is an unbalanced END SOLUTION"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "line 2 is an unbalanced BEGIN SOLUTION"),
        ("## begin_solution\n1\n### END SOLUTION", "line 1 is like a solution marker, but not exactly one"),
        ("x = 1  ### BEGIN SOLUTION\n### END SOLUTION", "line 1 is like a solution marker, but not exactly one"),
    ],
)
def test_markers_have_to_pair_up(source, sentence, tmp_path, capsys):
    with pytest.raises(MarkerError, match=f"cell only: {sentence}"):
        derive(small(source))
    folder = project(tmp_path / "p", **{"01_small": small(source)})
    before = files(folder)
    assert main(["01"], folder) == 1
    assert f"solutions/01_small.ipynb, cell only: {sentence}" in capsys.readouterr().out
    assert files(folder) == before
    assert f"cell only: {sentence}" in problems(small(source))


# --- canonical form


def test_canonical_form_keeps_only_what_is_shared():
    nb = new_notebook(cells=[new_markdown_cell("# T  \n\n", attachments={"a.png": {"image/png": "AAAA"}})])
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "Panel"}
    outputs = [said("a\r"), said("b\n"), shown(view, metadata={"x": 1}), said("c"), said("d")]
    outputs += [new_output("error", ename="E", evalue="v", traceback=["/home/me/x.py"])]
    nb.cells += [new_code_cell("1 ", id="same", execution_count=7, outputs=outputs, metadata={"scrolled": True})]
    nb.cells += [new_code_cell("2\n", id="same", execution_count=9)]
    nb.metadata = {"widgets": {}, "kernelspec": {"name": "me", "display_name": "Mine"}}
    result = canonical(nb)
    assert [output.get("text") for output in result.cells[1].outputs] == ["b\n", None, "cd", None]
    assert result.cells[1].outputs[1].data == {"text/plain": "Panel"}
    assert result.cells[1].outputs[3].traceback == ["E: v"]
    assert [cell.source for cell in result.cells] == ["# T", "1", "2"]
    assert [cell.execution_count for cell in result.cells[1:]] == [1, 2]
    assert result.cells[1].id == "same" != result.cells[2].id
    assert result == canonical(result)
    assert text_of(result) == text_of(canonical(nb))
    nbformat.validate(result)
    assert text_of(result).endswith("}\n")
    assert "attachments" not in text_of(result)


# --- the rules, each broken once


def test_the_well_formed_notebook_has_no_problem():
    assert problems(good()) == []


def source_is(name, source):
    def change(nb):
        cell(nb, name).source = source

    return change


def outputs_are(name, *outputs):
    def change(nb):
        cell(nb, name).outputs = list(outputs)

    return change


def has(name, **values):
    def change(nb):
        cell(nb, name).update(copy.deepcopy(values))

    return change


def tagged(name, *tags):
    return has(name, metadata=nbformat.from_dict({"tags": list(tags)}))


def nb_is(**values):
    def change(nb):
        nb.update(nbformat.from_dict(values))

    return change


def without(name):
    def change(nb):
        nb.cells = [cell for cell in nb.cells if cell.id != name]

    return change


def added(*cells):
    def change(nb):
        nb.cells += cells

    return change


def metadata(**values):
    def change(nb):
        nb.metadata.update(nbformat.from_dict(values))

    return change


HTML = "it stores an <img> without alt text"
VIEW = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "P"}
BROKEN = [
    # form
    (nb_is(nbformat_minor=4), "the notebook's format is 4.4, not 4.5"),
    (has("title", strange=1), "the notebook does not fit the format's schema"),
    (metadata(kernelspec={"name": "my-env", "display_name": "Mine", "language": "python"}), "not python3's"),
    (metadata(language_info={"name": "python", "version": "3.11"}), "language_info is not only the name"),
    (metadata(widgets={}), "the notebook's metadata holds widgets"),
    (has("m-value", id="title"), "cell title: 2 cells have this id"),
    (has("m-value", id=""), "1 cells have no id"),
    (has("value", execution_count=None), "cell value: it was not run"),
    (has("value", execution_count=7), "cell value: its count is 7, not 2: not run in order"),
    (has("value", metadata=nbformat.from_dict({"scrolled": True})), "cell value: its metadata holds scrolled"),
    (tagged("value"), "cell value: its list of tags is empty"),
    (has("title", attachments={"a": {"image/png": "A"}}), "cell title: it has attachments"),
    (source_is("title", "# A \n\nB"), "cell title: its source has white space at the end of a line"),
    (source_is("value", "1 + 1\n"), "cell value: its source has white space"),
    (added(nbformat.v4.new_raw_cell("x", id="raw")), "cell raw: it is a raw cell"),
    (outputs_are("answer", said("a"), said("b")), "cell answer: it stores a stream in pieces"),
    (
        outputs_are("value", new_output("execute_result", execution_count=9, data={"text/plain": "2"})),
        "cell value: its result has the count 9, not 2",
    ),
    (outputs_are("value", shown(VIEW)), "cell value: it stores a widget view"),
    (outputs_are("value", shown({"text/plain": "P"}, metadata={"a": 1})), "cell value: it stores metadata"),
    (
        outputs_are("error", new_output("error", ename="E", evalue="v", traceback=["a", "b"])),
        "cell error: it stores more of a traceback",
    ),
    (outputs_are("value", said("")), "the notebook is not in canonical form"),
    (added(md("a" * 2_500_001, "big")), "the notebook has 2.5 MB, more than 2.5 MB"),
    # nothing is skipped
    *[
        (tagged("value", tag), f"cell value: it has the tag {tag}, which is not allowed")
        for tag in ("nbval-skip", "nbval-ignore-output", "skip-execution", "other")
    ],
    (source_is("value", "# NBVAL_IGNORE_OUTPUT\n1"), "cell value: the comment NBVAL_IGNORE_OUTPUT switches"),
    (source_is("value", "# NBVAL_SKIP\n1"), "cell value: the comment NBVAL_SKIP switches"),
    (source_is("value", ""), "cell value: it is empty"),
    (source_is("value", "\n".join(["1"] * 26)), "cell value: it has 26 lines, more than 25"),
    (source_is("value", "1" * 99), "cell value: it has a line of 99 characters, more than 98"),
    (source_is("value", "1 + 1;  # quiet"), "cell value: its last line ends in ;"),
    # plain Python, alike everywhere
    (source_is("value", "f(:"), "cell value: it does not parse as Python"),
    (source_is("value", "%matplotlib inline"), "cell value: it holds a magic, a shell escape or a help line"),
    (source_is("value", "%%time\n1"), "cell value: it holds a magic"),
    (source_is("value", "!ls"), "cell value: it holds a magic"),
    (source_is("value", "a = !ls"), "cell value: it holds a magic"),
    (source_is("value", "print?"), "cell value: it holds a magic"),
    (source_is("value", "interact(f, x=3)"), "cell value: it uses interact:"),
    (source_is("value", "w.interactive(f)"), "cell value: it uses interactive:"),
    (source_is("value", "from ipywidgets import Output"), "cell value: it uses Output:"),
    (source_is("value", "clear_output()"), "cell value: it uses clear_output:"),
    (source_is("value", "display(1, display_id=True)"), "cell value: it uses display_id:"),
    (source_is("value", "time.sleep(1)"), "cell value: it uses sleep:"),
    (source_is("value", "DataLoader(d, num_workers=2)"), "cell value: it uses num_workers:"),
    (source_is("value", "get_ipython().system('ls')"), "cell value: it uses get_ipython:"),
    (source_is("value", "sys.exit()"), "cell value: it uses exit:"),
    (source_is("value", "os._exit(1)"), "cell value: it uses _exit:"),
    (source_is("value", "x.cuda()"), "cell value: it uses cuda:"),
    (source_is("value", "x.to('cuda:0')"), "cell value: it chooses a device other than the CPU"),
    (source_is("value", "torch.device('mps')"), "cell value: it chooses a device other than the CPU"),
    (source_is("value", "Out[1]"), "cell value: it uses Out: a reference to the history"),
    (source_is("value", "_3 + 1"), "cell value: it uses _3: a reference to the history"),
    # outputs
    (tagged("error"), "cell error: it stores the error IndexError without the tag raises-exception"),
    (outputs_are("error"), "cell error: it has the tag raises-exception, but stores no error"),
    (outputs_are("value", said("UserWarning: x", "stderr")), "on stderr (UserWarning: x)"),
    (outputs_are("value", said("<f at 0x7f>")), "cell value: it stores a memory address"),
    (outputs_are("error", raised("OSError", "no '/home/me/x'")), "cell error: it stores an absolute path (/home/"),
    *[
        (outputs_are("value", shown({"text/plain": path})), "cell value: it stores an absolute path")
        for path in ("/Users/me/a", "'/tmp/a'", "C:\\Users\\me", "C:\\\\Users", "in /root/a")
    ],
    (outputs_are("value", said("ipykernel_12/3.py")), "cell value: it stores a file name of the kernel"),
    (outputs_are("value", shown({"image/png": "A", "text/plain": "F"})), "it stores a bare image/png"),
    (outputs_are("value", shown({"text/html": "<b>1</b>"})), "cell value: it stores a display without text/plain"),
    (outputs_are("value", shown({"text/html": "<img src=a>", "text/plain": "F"})), HTML),
    (outputs_are("value", shown({"text/html": "<p><IMG ALT=' '></p>", "text/plain": "F"})), HTML),
    (outputs_are("value", shown({"text/html": "<script>1</script>", "text/plain": "F"})), "it stores a script"),
    (outputs_are("value", said("a" * 400_001)), "cell value: it stores an output of 400 KB, more than 400 KB"),
    # the house's order
    (source_is("title", "A lesson"), "the notebook's first markdown cell has no title"),
    (source_is("m-value", "# Again"), "cell m-value: it holds a second title"),
    (without("m-value"), "cell value: no markdown cell stands directly before this code"),
    (source_is("value", "class GPT:\n    pass"), "cell value: it defines GPT, which utils/"),
    # exercises
    (tagged("answer"), "cell answer: it has an answer to give, but not the tag exercise"),
    (source_is("answer", ANSWER.replace("check.ex_1_1", "print")), "but no call of check.ex_N_M"),
    (source_is("value", "...  # your answer here"), "cell value: it has an answer to give, but not the tag"),
    (source_is("m-answer", "### Exercise 1.2 (★, 5 min)"), "cell answer: no heading ### Exercise 1.1 ("),
    (source_is("m-answer", "### Exercise 1.1 (5 min)"), "cell answer: no heading ### Exercise 1.1 ("),
    (source_is("value", "def double(x):\n    pass"), "cell answer: double is an exercise's name, and cell value"),
    (source_is("value", "double = 2"), "cell answer: double is an exercise's name, and cell value uses it again"),
    (source_is("answer", f"{ANSWER}\n\ndef double(x):\n    pass"), "and the same cell uses it again"),
    (source_is("title", "# A\n\n### BEGIN SOLUTION"), "cell title: line 3 is a solution marker outside"),
]


@pytest.mark.parametrize(("change", "sentence"), BROKEN, ids=[sentence for _, sentence in BROKEN])
def test_each_rule_broken_once_gives_its_sentence(change, sentence, monkeypatch):
    monkeypatch.setattr("utils.notebooks.code_rules.library", lambda: {"GPT": "model.py"})
    nb = good()
    change(nb)
    assert [found for found in problems(nb) if sentence in found], problems(nb)


@pytest.mark.parametrize(
    "change",
    [
        source_is("value", "for _ in range(2):\n    pass"),
        source_is("value", "class PlainGPT:\n    pass"),
        source_is("value", "(7\n % 2)"),
        source_is("value", "await f()"),
        source_is("value", "\n".join(["1"] * 25)),
        source_is("title", "# A\n\n```\n# not a title\n```"),
        source_is("value", "'interact(' + 'time.sleep' + '_3'  # Out[3]"),
        outputs_are("value", said("https://a.org/home/x, and/or, </tmp/>, A:\\nhello")),
        outputs_are(
            "value", shown({"text/html": "<img alt='a' src='data:image/png;base64,+/tmp/'>", "text/plain": "a"})
        ),
    ],
)
def test_what_only_looks_like_a_violation_is_allowed(change, monkeypatch):
    monkeypatch.setattr("utils.notebooks.code_rules.library", lambda: {"PlainGPT": "model.py"})
    nb = good()
    change(nb)
    assert problems(nb) == []


def parts_of(nb):
    """Pair each rule with the parts of a notebook that it is applied to."""
    coded = [cell for cell in nb.cells if cell.cell_type == "code"]
    outputs = [output for cell in coded for output in cell.outputs]
    yield from ((rule, [nb]) for rule in rules.NOTEBOOK_RULES)
    yield from ((rule, nb.cells) for rule in rules.CELL_RULES)
    yield from ((rule, coded) for rule in rules.RUN_RULES)
    # the markers of a markdown cell are another rule's matter
    yield from ((rule, coded) for rule in code_rules.RULES)
    yield from ((rule, outputs) for rule in (*rules.FORM_RULES, *output_rules.RULES))


def test_every_rule_is_broken_by_one_of_the_cases(monkeypatch):
    monkeypatch.setattr("utils.notebooks.code_rules.library", lambda: {"GPT": "model.py"})
    silent = {rule for rule, _ in parts_of(good())}
    for change, _ in BROKEN:
        nb = good()
        change(nb)
        silent -= {rule for rule, parts in parts_of(nb) if rule in silent and any(map(any, map(rule, parts)))}
    assert silent == set()


def test_the_first_code_cell_is_the_same_everywhere():
    other = good()
    cell(other, "start").source += "\n"
    found = different_starts({"a": good(), "b": other, "c": good()})
    assert found == ["b: its first code cell differs from the other notebooks'"]


# --- leaks


@pytest.mark.parametrize(
    "change",
    [
        source_is("m-value", "So we write `return  sum([x,x])` here."),
        outputs_are("value", said("return sum([x, x])")),
        outputs_are("value", shown({"text/html": "<pre>return&nbsp;sum&#40;[x, x])</pre>"})),
        has("value", metadata=nbformat.from_dict({"hint": "return sum([x, x])"})),
    ],
)
def test_a_line_of_an_answer_anywhere_in_the_lesson_is_a_leak(change):
    solution = good()
    lesson = derive(solution)
    assert leaks(solution, lesson) == []
    change(lesson)
    (found,) = leaks(solution, lesson)
    assert found.endswith("holds a line of the answer in cell answer: return sum([x, x])")


def test_a_remark_on_an_answer_may_not_leak_but_trivial_lines_may_stand():
    solution = good()
    lesson = derive(solution)
    cell(solution, "answer").source = ANSWER.replace("return sum", "# return None or so\n    return None\n    sum")
    cell(lesson, "m-value").source = "return None\n# return None or so"
    assert leaks(solution, lesson) == []
    cell(lesson, "m-value").source = "Adding is doubling: both read it twice."
    assert "holds a line of the answer in cell remark" in leaks(solution, lesson)[0]


# --- build, with real kernels


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a project that was built once, and must not be changed."""
    folder = project(tmp_path_factory.mktemp("a é project") / "p", **{"01_good": derive_nothing(good())})
    assert main([], folder) == 0
    return folder


def derive_nothing(nb):
    """Return a notebook as an author saves it: not run, with marks of the editor."""
    nb = copy.deepcopy(nb)
    nb.metadata["kernelspec"] = nbformat.from_dict({"name": "my-env", "display_name": "Mine"})
    for each in nb.cells:
        each.metadata["scrolled"] = True
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], None
    return nb


def copied(built, folder):
    target = project(folder / "p")
    for name, data in files(built).items():
        (target / name).write_bytes(data)
    return target


def redrawn(nb, old, new):
    """Return the notebook with other text in its stored figure, as another machine would have drawn it."""
    nb = copy.deepcopy(nb)
    data = cell(nb, "figure").outputs[0].data
    assert old in data["text/html"]
    data["text/html"] = data["text/html"].replace(old, new)
    return nb


def redraw(folder, old, new):
    for path in folder.rglob("*.ipynb"):
        path.write_text(text_of(redrawn(read(path), old, new)), encoding="utf-8")


def test_build_runs_both_editions_and_stores_them(built):
    assert check(built) == []
    solution = read(built / "solutions" / "01_good.ipynb")
    lesson = read(built / "lessons" / "01_good.ipynb")
    assert solution == good()
    assert cell(lesson, "answer").outputs == [said("judged None\n")]
    assert main(["--check", "01"], built) == 0
    assert not list(built.rglob("*.tmp"))


def test_building_again_changes_no_byte_and_a_moved_pixel_is_no_change(built, tmp_path):
    folder = copied(built, tmp_path)
    redraw(folder, "AAAA", "BBBB")
    before = files(folder)
    stamps = [path.stat().st_mtime_ns for path in folder.rglob("*.ipynb")]
    assert main(["01_good"], folder) == 0
    assert files(folder) == before
    assert [path.stat().st_mtime_ns for path in folder.rglob("*.ipynb")] == stamps
    assert main(["--fresh"], folder) == 0
    assert files(folder) == files(built)


def test_a_changed_number_replaces_the_stored_output(built, tmp_path):
    folder = copied(built, tmp_path)
    redraw(folder, "<figcaption>Loss 0.62", "<figcaption>Loss 0.63")
    assert main([], folder) == 0
    assert files(folder) == files(built)


ACCIDENTS = {
    "magic": ("%nosuch", "UsageError: Line magic function `%nosuch` not found."),
    "syntax": ("def f(:", "SyntaxError: invalid syntax"),
    "exit": ("import sys\nsys.exit()", "SystemExit"),
    "death": ("import os\nos._exit(1)", "the kernel died"),
    "loop": ("while True:\n    pass", "it was still running after 1 seconds"),
}


@pytest.mark.parametrize(("source", "sentence"), ACCIDENTS.values(), ids=ACCIDENTS)
def test_an_accident_in_a_cell_fails_the_build_and_writes_nothing(source, sentence, tmp_path, capsys):
    folder = project(tmp_path / "p", **{"01_small": small(source)})
    before = files(folder)
    assert main(["--timeout", "1"], folder) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"solutions/01_small.ipynb, cell only: {sentence}")
    assert last.endswith("; nothing was written")
    assert files(folder) == before


def test_a_lesson_that_needs_the_answer_is_named(tmp_path, capsys):
    source = "### BEGIN SOLUTION\nnumber = 3\n### END SOLUTION\nprint(number)"
    folder = project(tmp_path / "p", **{"01_small": small(source)})
    assert main([], folder) == 1
    assert "lessons/01_small.ipynb, cell only: NameError: name 'number'" in capsys.readouterr().out
    assert list(files(folder)) == ["solutions/01_small.ipynb"]


def test_an_edited_cell_gets_its_new_outputs_and_an_inserted_one_moves_the_counts():
    stored, new, patterns = good(), good(), [("AAAA|BBBB", "PICTURE")]
    new = redrawn(new, "AAAA", "BBBB")
    assert keep_stored(new, stored, patterns) == stored
    cell(new, "figure").source += "\n# drawn otherwise"
    assert keep_stored(new, stored, patterns) == new
    new.cells[1:1] = [md("More.", "m-more"), code("0", "more", 1)]
    kept = keep_stored(canonical(new), stored, patterns)
    assert cell(kept, "value").outputs[0].execution_count == 3


# --- what --check finds


def strip_count(text):
    nb = nbformat.v4.reads(text)
    cell(nb, "value").execution_count = None
    return text_of(nb)


def skip_cell(text):
    nb = nbformat.v4.reads(text)
    cell(nb, "value").metadata["tags"] = ["nbval-skip"]
    return text_of(nb)


@pytest.mark.parametrize(
    ("edition", "change", "sentence"),
    [
        (
            "lessons",
            lambda text: text.replace("The loss falls.", "The loss rises."),
            "lessons/01_good.ipynb: cell m-figure: its source is not derived",
        ),
        ("lessons", lambda text: text.replace('"id": "m-figure"', '"id": "m-f"'), "(cell m-f stands where m-figure is"),
        ("lessons", strip_count, "lessons/01_good.ipynb: cell value: it was not run"),
        ("solutions", skip_cell, "solutions/01_good.ipynb: cell value: it has the tag nbval-skip"),
        (
            "lessons",
            lambda text: text.replace("judged None", "return sum([x, x])"),
            "lessons/01_good.ipynb: cell answer: holds a line of the answer",
        ),
        ("lessons", lambda text: json.dumps(json.loads(text)), "is not written as the builder writes it"),
        (
            "solutions",
            lambda text: text.replace("### END", "### END OF"),
            "lessons/01_good.ipynb: it cannot be derived",
        ),
        ("solutions", lambda text: text[:100], "solutions/01_good.ipynb: not a notebook"),
        ("lessons", lambda text: None, "lessons/01_good.ipynb: it is missing"),
        ("solutions", lambda text: None, "solutions/01_good.ipynb: it is missing"),
    ],
)
def test_check_finds_what_was_edited_by_hand(built, tmp_path, capsys, edition, change, sentence):
    folder = copied(built, tmp_path)
    path = folder / edition / "01_good.ipynb"
    text = change(path.read_text(encoding="utf-8"))
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    assert main(["--check"], folder) == 1
    assert sentence in capsys.readouterr().out


def test_an_unknown_name_is_told(built, capsys):
    assert main(["07_nothing"], built) == 1
    assert capsys.readouterr().out == "no notebook is called 07_nothing\n"


# --- strict nbval, as the tests run it

PANEL = """import ipywidgets


class Panel(ipywidgets.VBox):
    def __repr__(self):
        return "Width 8: 512 weights"

    def _repr_mimebundle_(self, **options):
        return super()._repr_mimebundle_(**options) | {"text/html": "<p>Width 8: 512 weights</p>"}


Panel()"""


@pytest.fixture(scope="module")
def nbval(tmp_path_factory, built):
    """Run strict nbval once, with the project's options; return {notebook: [whether each code cell passed]}."""
    folder = tmp_path_factory.mktemp("nbval")
    nb = read(built / "solutions" / "01_good.ipynb")
    nb.cells += [md("A panel.", "m-panel"), code(PANEL, "panel")]
    nb = run(nb, folder, "as built")
    changed = redrawn(nb, "<figcaption>Loss 0.62", "<figcaption>Loss 0.63")
    cell(changed, "error").outputs = [raised("IndexError", "another message")]
    # a loop makes nbval give up on the cells after it, a dead kernel takes the whole timeout and 5 s more
    lively = [source for name, (source, _) in ACCIDENTS.items() if name != "death"]
    cases = {
        "good": redrawn(nb, "AAAA", "BBBBBBBB"),
        "changed": changed,
        "accidents": as_if_run(*lively),
        "death": as_if_run(ACCIDENTS["death"][0]),
        "unrun": small("1 / 1"),
    }
    for name, each in cases.items():
        (folder / f"{name}.ipynb").write_text(text_of(each), encoding="utf-8")
    options = ["-c", "pyproject.toml", "--nbval", "--nbval-cell-timeout=2", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={folder / 'report.xml'}", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    print(done.stdout)
    return verdicts(folder / "report.xml")


def as_if_run(*sources):
    cells = [code(source, f"c{count}", count) for count, source in enumerate(sources, start=1)]
    return canonical(new_notebook(cells=cells))


def verdicts(report):
    result = {}
    for case in ElementTree.parse(report).iter("testcase"):
        passed = not any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))
        result.setdefault(case.get("classname").split(".")[-2], []).append(passed)
    return result


def test_strict_nbval_passes_on_what_was_built_and_on_moved_pixels(nbval):
    assert nbval["good"] == [True] * 6


def test_strict_nbval_is_red_for_a_changed_number_and_a_changed_error(nbval):
    assert nbval["changed"] == [True, True, False, False, True, True]


def test_strict_nbval_is_red_for_each_accident(nbval):
    assert nbval["accidents"] == [False] * (len(ACCIDENTS) - 1)
    assert nbval["death"] == [False]


def test_nbval_does_not_see_an_unrun_cell_which_is_why_a_rule_does(nbval):
    assert nbval["unrun"] == [True]
    assert "cell only: it was not run" in problems(small("1 / 1"))


# --- the notebooks of this project


def test_lessons_exist_when_solutions_do():
    editions = [{path.name for path in STORED if path.parent.name == name} for name in ("solutions", "lessons")]
    assert editions[0] == editions[1]


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_stored_notebook_has_no_problem(path):
    assert problems(read(path)) == []


def test_nothing_in_the_project_differs_from_what_a_build_stores():
    assert check(ROOT) == []
