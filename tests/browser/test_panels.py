"""Every other lesson in a real JupyterLab: it runs as a whole, and its panels answer to the keyboard."""

import re
from pathlib import Path

import pytest

from utils import widgets
from utils.environment import ROOT
from utils.notebooks import read
from utils.notebooks.reading import cells, number_of
from utils.notebooks.rules import LONGER

HERE = Path(__file__).parent
OWN = {path.stem.removeprefix("test_lesson_") for path in HERE.glob("test_lesson_*.py")}  # have tests of their own
OTHERS = [path for path in sorted((ROOT / "lessons").glob("*.ipynb")) if number_of(path.stem) not in OWN]
SHOWS = re.compile(rf"widgets\.({'|'.join({*dir(widgets)} - {'Quiz'})})\((.*)\)")
SHOWN = {path.stem: {cell.id: SHOWS.search(cell.source) for cell in cells(read(path), "code")} for path in OTHERS}
PANELS = {name: [cell for cell, shows in found.items() if shows] for name, found in SHOWN.items()}
# a lesson that trains for half a minute is run from its panel alone, unless that needs what other cells have made
NEEDY = {name for name, found in SHOWN.items() if any(shows[2] for shows in found.values() if shows)}
LESSONS = [name for name in SHOWN if number_of(name) not in LONGER or name in NEEDY]


@pytest.fixture(scope="module")
def lesson(open_page):
    """Lesson name -> its page with every cell run, or only its panels' if it is long; each is opened once."""
    opened = {}

    def get(name):
        if name not in opened:
            opened[name] = open_page(f"lab/tree/my_work/{name}.ipynb")
            if name in LESSONS:
                opened[name].run_all()
            else:
                for cell in PANELS[name]:
                    opened[name].go_to(cell)
                    opened[name].press_and_wait(cell, "Control+Enter")
        return opened[name]

    return get


def picture(cell):
    """A panel's one picture, by its alt text."""
    images = cell.locator("img[alt]")
    assert images.count() == 1
    return images.get_attribute("alt")


def changed(cell, before):
    """Wait until a panel's picture says something else -> what it says."""
    cell.locator(f'img[alt]:not([alt="{before}"])').wait_for(timeout=60_000)
    return picture(cell)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_without_an_error(lesson, name):
    page = lesson(name)
    assert page.errors() == []
    assert page.failed == []
    assert page.foreign == []


@pytest.mark.parametrize(("name", "cell_id"), [(name, cell) for name, ids in PANELS.items() for cell in ids])
def test_a_panel_answers_to_its_first_control_a_slider_by_keyboard(lesson, name, cell_id):
    page = lesson(name)
    cell = page.go_to(cell_id)
    before = picture(cell)
    sliders = cell.locator(".noUi-handle")
    if sliders.count():
        slider = sliders.first
        at_its_end = slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax")
        slider.focus()
        page.page.keyboard.press("ArrowLeft" if at_its_end else "ArrowRight")
    else:  # the browser's own list of choices, which it opens by itself
        cell.locator("select").first.select_option(index=1)
    assert changed(cell, before) != before


def test_a_prompt_is_typed_and_an_unknown_word_is_named(lesson):
    page = lesson("04_generation")
    cell = page.go_to("explorer")
    prompt = cell.locator('input[type="text"]').first
    for text, answer in (("today Anna took the dgo", "near it are"), ("today Anna", "today Anna → took")):
        prompt.fill(text)
        prompt.press("Enter")
        cell.get_by_text(answer).first.wait_for(timeout=60_000)
    assert picture(cell).startswith("today Anna → took")


def test_the_stepper_steps_and_goes_back_by_keyboard(lesson):
    page = lesson("04_generation")
    cell = page.go_to("stepper")
    said = []
    for button in ("step", "step", "back", "step"):
        before = picture(cell)
        cell.get_by_role("button", name=button, exact=True).focus()
        page.page.keyboard.press("Enter")
        said.append(changed(cell, before))
    assert [sentence.split(":")[0] for sentence in said] == ["Step 1", "Step 2", "Step 1", "Step 2"]
    assert said[1] == said[3]
    assert said[0] == said[2]


def test_a_configuration_is_chosen_and_pasted(lesson):
    page = lesson("07_reading_a_configuration")
    cell = page.go_to("reader")
    cell.locator("select").first.select_option("Llama-3-8B")
    cell.locator('img[alt^="Llama-3-8B: 8,030,261,248"]').wait_for(timeout=60_000)
    text = cell.locator("textarea")
    pasted = text.input_value().replace('"num_key_value_heads": 8', '"num_key_value_heads": 32')
    text.fill(pasted)
    text.press("Tab")
    cell.locator('img[alt^="pasted: 8,835,567,616"]').wait_for(timeout=60_000)
