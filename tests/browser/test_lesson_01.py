"""The main job: a student works through lesson 01 in a real JupyterLab.

One page for all tests, in this order: each leaves a notebook in which the next can go on.
"""

import json

import pytest

LESSON = "01_one_table_two_jobs"
STUB = "your answer here"


@pytest.fixture(scope="module")
def lesson(open_lesson):
    page = open_lesson(LESSON)
    page.run_all()
    return page


def test_run_all_has_no_error_and_asks_no_other_host(lesson):
    assert lesson.errors() == []
    assert lesson.failed == []
    assert lesson.foreign == []
    assert lesson.text_of("ex-1-2").startswith("not attempted")


def test_the_width_slider_redraws_by_keyboard(lesson):
    cell = lesson.go_to("explorer")
    picture = cell.locator("img[alt]")
    assert picture.count() == 1
    assert "d=64" in picture.get_attribute("alt")
    before = picture.get_attribute("src")
    cell.locator(".noUi-handle").focus()
    lesson.page.keyboard.press("ArrowRight")
    cell.locator('img[alt*="d=128"]').wait_for(timeout=10_000)
    assert picture.count() == 1
    assert picture.get_attribute("src") != before


def test_a_cell_run_again_leaves_one_live_panel(lesson):
    lesson.go_to("explorer")
    for _ in range(3):
        lesson.press_and_wait("explorer", "Control+Enter")
    cell = lesson.go_to("explorer")
    cell.locator("img[alt]").wait_for()
    assert cell.locator("img[alt]").count() == 1
    assert cell.locator(".noUi-handle").count() == 1


def test_the_quiz_answers_by_keyboard(lesson):
    cell = lesson.go_to("quiz")
    question = cell.locator(".widget-vbox .widget-vbox").first
    question.locator("input[type=radio]").nth(1).focus()
    lesson.page.keyboard.press("Space")
    question.locator("button").focus()
    lesson.page.keyboard.press("Enter")
    question.get_by_text("Right.").wait_for(timeout=10_000)


def test_an_exercise_is_solved_by_typing_into_its_cell(lesson):
    wrong = lesson.answer("ex-1-2", STUB, "return table @ x  # your answer here")
    assert wrong.startswith("not yet: right for one vector")
    right = lesson.answer("ex-1-2", STUB, "return x @ table.T")
    assert right.startswith("passed")
    progress = json.loads((lesson.folder / "my_work" / ".progress.json").read_text())
    assert progress == {"passed": ["1.2"]}


def test_a_missing_bracket_is_not_judged_by_an_earlier_answer(lesson):
    assert lesson.text_of("ex-1-2").startswith("passed")
    lesson.answer("ex-1-2", "return x @ table.T", "return (x @ table.T")
    assert [error["ename"] for error in lesson.errors()] == ["SyntaxError"]
    assert "passed" not in lesson.text_of("ex-1-2")
