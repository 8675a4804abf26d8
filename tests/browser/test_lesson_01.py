"""The main job: a student opens the course and works through lesson 01 in a real JupyterLab.

One page for all tests of the lesson, in this order: each leaves a notebook in which the next can go on.
"""

import json

import pytest
from lab_page import foreign_to

from utils.widgets import quiz

LESSON = "01_one_table_two_jobs"
STUB = "your answer here"


@pytest.fixture(scope="module")
def opened(open_page):
    return open_page(f"lab/tree/my_work/{LESSON}.ipynb")


@pytest.fixture(scope="module")
def lesson(opened):
    opened.run_all()
    return opened


def test_requests_and_sockets_to_other_hosts_are_seen(browser):
    page = browser.new_page()
    found = foreign_to(page)
    page.evaluate("() => { new WebSocket('ws://other.invalid/a'); fetch('http://other.invalid/b').catch(() => 0); }")
    page.wait_for_timeout(500)
    page.close()
    assert sorted(found) == ["http://other.invalid/b", "ws://other.invalid/a"]


def test_the_course_opens_at_its_first_lesson_and_nothing_is_in_the_way(open_page):
    start = open_page()
    assert start.now()["path"] == "my_work/00_start_here.ipynb"
    start.page.wait_for_timeout(2000)  # a notification comes late
    assert start.page.locator(".jp-Dialog, .Toastify__toast").count() == 0


def test_stored_pictures_show_before_anything_runs_and_without_trust(opened):
    assert not opened.now()["trusted"]
    for cell_id in ("table-picture", "explorer"):
        picture = opened.go_to(cell_id).locator("img[alt]")
        picture.wait_for(state="visible", timeout=60_000)
        assert len(picture.get_attribute("alt")) > 20
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 300


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
    cell.locator('img[alt*="d=128"]').wait_for(timeout=60_000)
    assert picture.count() == 1
    assert picture.get_attribute("src") != before


def test_quick_presses_end_in_the_last_value_and_leave_nothing_to_do(lesson):
    cell = lesson.go_to("explorer")
    cell.locator(".noUi-handle").focus()
    for key in ["ArrowRight"] * 8 + ["ArrowLeft"] * 4:
        lesson.page.keyboard.press(key)
    cell.locator('img[alt*="d=512"]').wait_for(timeout=60_000)
    assert cell.locator(".widget-readout").first.inner_text() == "512"
    lesson.page.wait_for_timeout(500)  # a queued redraw would come now
    assert lesson.now()["kernel"] == "idle"
    assert "d=512" in cell.locator("img[alt]").get_attribute("alt")


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
    right = [is_right for _, is_right, _ in quiz.load("01")[0]["choices"]].index(True)
    question.locator("input[type=radio]").nth(right).focus()
    lesson.page.keyboard.press("Space")
    question.locator("button").focus()
    lesson.page.keyboard.press("Enter")
    question.get_by_text("Right.").wait_for(timeout=60_000)


def test_an_exercise_is_solved_by_typing_into_its_cell(lesson):
    wrong = lesson.answer("ex-1-2", STUB, "return table @ x  # your answer here")
    assert wrong.startswith("not yet: right for the shape (2,), and not for (2, 2)")
    right = lesson.answer("ex-1-2", STUB, "return x @ table.T")
    assert right.startswith("passed")
    progress = json.loads((lesson.folder / "my_work" / ".progress.json").read_text(encoding="utf-8"))
    assert progress == {"passed": ["1.2"]}


def test_a_missing_bracket_is_not_judged_by_an_earlier_answer(lesson):
    assert lesson.text_of("ex-1-2").startswith("passed")
    lesson.answer("ex-1-2", "return x @ table.T", "return (x @ table.T")
    assert [error["ename"] for error in lesson.errors()] == ["SyntaxError"]
    assert "passed" not in lesson.text_of("ex-1-2")
