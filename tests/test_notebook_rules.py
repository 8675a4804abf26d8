"""Each rule for a stored notebook, broken once."""

import nbformat
import pytest
from made_notebooks import (
    ANSWER,
    added,
    cell,
    good,
    has,
    md,
    metadata,
    nb_is,
    outputs_are,
    raised,
    said,
    shown,
    source_is,
    tagged,
    without,
)  # fmt: skip
from nbformat.v4 import new_output

from utils.notebooks import problems, rules
from utils.notebooks.course_rules import different_starts


def test_the_well_formed_notebook_has_no_problem():
    assert problems(good()) == []


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
    (source_is("value", "open('a')"), "cell value: line 1 reads or writes text without encoding="),
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
    (tagged("value", "exercise"), "cell value: it has the tag exercise, but no answer to give"),
    (source_is("m-answer", "### Exercise 1.2 (★, 5 min)"), "cell answer: no heading ### Exercise 1.1 ("),
    (source_is("m-answer", "### Exercise 1.1 (5 min)"), "cell answer: no heading ### Exercise 1.1 ("),
    (source_is("value", "def double(x):\n    pass"), "cell answer: double is an exercise's name, and cell value"),
    (source_is("value", "double = 2"), "cell answer: double is an exercise's name, and cell value uses it again"),
    (source_is("answer", f"{ANSWER}\n\ndef double(x):\n    pass"), "and the same cell uses it again"),
    (source_is("title", "# A\n\n### BEGIN SOLUTION"), "cell title: line 3 is a solution marker outside"),
]


@pytest.fixture(autouse=True)
def small_library(monkeypatch):
    monkeypatch.setattr("utils.notebooks.code_rules.library", lambda: {"GPT": "model.py", "PlainGPT": "model.py"})


def changed(change):
    nb = good()
    change(nb)
    return nb


@pytest.mark.parametrize(("change", "sentence"), BROKEN, ids=[sentence for _, sentence in BROKEN])
def test_each_rule_broken_once_gives_its_sentence(change, sentence):
    found = problems(changed(change))
    assert [text for text in found if sentence in text], found


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
def test_what_only_looks_like_a_violation_is_allowed(change):
    assert problems(changed(change)) == []


def parts_of(nb):
    """Pair each rule with the parts of a notebook that it is applied to."""
    coded = [cell for cell in nb.cells if cell.cell_type == "code"]
    outputs = [output for cell in coded for output in cell.outputs]
    for book in (rules.SOURCE, rules.STORED):
        yield from ((rule, [nb]) for rule in book.notebook)
        yield from ((rule, nb.cells) for rule in book.cell)
        # the markers of a markdown cell are another rule's matter
        yield from ((rule, coded) for rule in book.code)
        yield from ((rule, outputs) for rule in book.output)


def test_every_rule_is_broken_by_one_of_the_cases():
    silent = {rule for rule, _ in parts_of(good())}
    for change, _ in BROKEN:
        parts = parts_of(changed(change))
        silent -= {rule for rule, applied in parts if rule in silent and any(map(any, map(rule, applied)))}
    assert silent == set()


def test_the_first_code_cell_is_that_of_lesson_00_whatever_most_of_the_others_have():
    other = good()
    cell(other, "start").source += "\n"
    names = ["lessons/01_b.ipynb", "lessons/00_a.ipynb", "solutions/02_c.ipynb"]
    found = different_starts(dict(zip(names, [other, good(), other], strict=True)))
    wrong = "its first code cell differs from that of lessons/00_a.ipynb"
    assert found == [f"lessons/01_b.ipynb: {wrong}", f"solutions/02_c.ipynb: {wrong}"]
