"""Training in a real JupyterLab: the picture moves while the kernel is busy, and Interrupt stops the run."""

import pytest

LESSON = "05_training"


@pytest.fixture(scope="module")
def lesson(open_page):
    page = open_page(f"lab/tree/my_work/{LESSON}.ipynb")
    for cell in ("setup", "train-start"):
        page.go_to(cell)
        page.press_and_wait(cell, "Control+Enter")
    return page


def test_the_monitor_draws_while_it_trains_and_interrupt_stops_it(lesson):
    cell = lesson.go_to("train-live")
    lesson.page.keyboard.press("Control+Enter")
    cell.locator('img[alt^="Step "]').wait_for(timeout=300_000)  # the kernel is still at it
    lesson.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:interrupt-kernel'); }")
    cell.get_by_text("Interrupted after").wait_for(timeout=300_000)
    assert lesson.errors() == []


def test_the_history_and_the_model_so_far_are_usable(lesson):
    lesson.go_to("train-result")
    assert "the held-out loss is within 5 % of the floor: False" in lesson.press_and_wait(
        "train-result", "Control+Enter"
    )
    lesson.go_to("copying-picture")
    assert "Copied words" in lesson.press_and_wait("copying-picture", "Control+Enter")
    assert lesson.errors() == []
