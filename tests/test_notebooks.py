"""The form of a notebook, what is derived from it, and the notebooks that are stored."""

import re

import nbformat
import pytest
from made_notebooks import ANSWER, cell, code, files, good, has, outputs_are, project, said, shown, small, source_is
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.environment import ROOT
from utils.notebooks import MarkerError, canonical, check, derive, drift, leaks, main, problems, read, text_of
from utils.notebooks.reading import Course
from utils.start.my_work import copy_lessons

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


def test_every_line_of_a_solution_only_cell_is_searched_for_code_too():
    solution = good()
    solution.cells.append(code("import torch\nfound = torch.arange(3)", "more", 6, tags=["solution-only"]))
    lesson = derive(solution)
    assert leaks(solution, lesson) == []
    cell(lesson, "value").source = "import torch\nfound = torch.arange(3)"
    assert leaks(solution, lesson) == ["cell value: holds a line of the answer in cell more: found = torch.arange(3)"]


def test_what_a_student_is_given_holds_no_answer_and_no_marker(tmp_path):
    copy_lessons(ROOT / "lessons", tmp_path / "my_work")
    given = sorted((tmp_path / "my_work").glob("*.ipynb"))
    assert [path.stem for path in given] == Course(ROOT).names != []
    for path in given:
        assert leaks(read(ROOT / "solutions" / path.name), read(path)) == []
    for path in (tmp_path / "my_work").rglob("*"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(BEGIN|END)[\W_]*SOLUTION|solution-only", text, re.IGNORECASE), path.name


# --- the notebooks of this project


@pytest.mark.parametrize("name", Course(ROOT).names)
def test_nothing_in_a_lesson_differs_from_what_a_build_stores_and_its_rules_allow(name):
    assert check(ROOT, [name]) == []
