"""Panels: every control at every value, the sentence's numbers, errors in words, one live panel a cell."""

import inspect
import itertools
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import ipywidgets
import pytest
import torch
from found_panels import fits, panels
from IPython.core.completer import IPCompleter, provisionalcompleter
from matplotlib import pyplot
from nbformat.v4 import new_code_cell, new_notebook, new_output

from utils import widgets
from utils.environment import ROOT
from utils.notebooks import canonical
from utils.training import History
from utils.widgets import panel as panel_module
from utils.widgets import quiz, table_explorer, training_monitor
from utils.widgets.panel import REPR_LENGTH, Panel

HISTORY = History([4.0, 2.0, 3.0, 1.0], valid_loss=[2.5, 1.25], valid_steps=[2, 4])


def trained_monitor():
    """A training monitor that has seen a run."""
    monitor = widgets.TrainingMonitor(floor=0.61)
    monitor.finish(HISTORY)
    return monitor


PANELS = [*panels(), trained_monitor]
LONG_WORDS = "surprised " * 32  # as many as the course model reads


def controls(panel):
    """Everything in a panel that has a value to set: name -> (widget, its possible values, some of a long list)."""
    found = {}
    for name, widget in vars(panel).items():
        if isinstance(widget, ipywidgets.ValueWidget) and not isinstance(widget, ipywidgets.HTML):
            options = getattr(widget, "options", None)
            values = [getattr(widget, "min", None), getattr(widget, "max", None)]
            values = ["", widget.value, LONG_WORDS] if isinstance(widget, ipywidgets.Text) else values
            values = [f"{widget.value}\n", widget.value] if isinstance(widget, ipywidgets.Textarea) else values
            if isinstance(widget, ipywidgets.FloatLogSlider):
                values = [widget.base**power for power in values]
            if options:
                values = [v[1] if isinstance(v, tuple) else v for v in options]
                values = values if len(values) <= 20 else [*values[:: len(values) // 5], values[-1]]
            found[name] = widget, values
    return found


def first_control(panel):
    """A control, another value for it than it has, and its own."""
    widget, values = next(iter(controls(panel).values()))
    return widget, next(value for value in values if value != widget.value), widget.value


def all_inside(widget):
    """A widget and everything in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from all_inside(child)


@pytest.fixture(autouse=True)
def fresh():
    """No panel of one test is another's predecessor."""
    panel_module._made.clear()


def assert_drawn(panel):
    """A picture with its sentence, which fits everywhere that it is shown."""
    assert panel.error == ""
    assert repr(panel) == panel.sentence
    assert len(panel.sentence) <= REPR_LENGTH
    assert panel.sentence in panel._picture.value.replace("&#x27;", "'")
    assert panel._picture.value.count("<img") == 1


@pytest.mark.parametrize("make", PANELS)
def test_every_value_of_every_control_is_drawn(make):
    panel = make()
    assert controls(panel)
    for widget, values in controls(panel).values():
        for value in values:
            widget.value = value
            assert_drawn(panel)


@pytest.mark.parametrize("make", PANELS)
def test_wherever_the_controls_end_everything_fits_and_the_picture_keeps_its_size(make):
    panel = make()
    sizes = set()
    ends = [[(widget, value) for value in (values[0], values[-1])] for widget, values in controls(panel).values()]
    for settings in itertools.product(*ends):
        for widget, value in settings:
            widget.value = value
        assert_drawn(panel)
        assert fits(panel._figure)
        sizes.add(re.search(r'width="\d+" height="\d+"', panel._picture.value).group())
    assert len(sizes) == 1


@pytest.mark.parametrize("make", PANELS)
def test_every_control_is_an_attribute_with_a_description(make):
    panel = make()
    named = [part for name, part in vars(panel).items() if not name.startswith("_")]
    for part in all_inside(panel):
        if isinstance(part, (ipywidgets.ValueWidget, ipywidgets.Button)) and part is not panel._picture:
            assert part.description, f"a {type(part).__name__} has no description"
            assert part in named, f"the control {part.description} is no attribute of the panel"
            assert part.tooltip or not isinstance(part, ipywidgets.Button), f"{part.description} has no tooltip"


@pytest.mark.parametrize("make", PANELS)
def test_an_error_while_drawing_is_told_in_words_and_mended_by_the_next_picture(make, monkeypatch):
    panel = make()
    widget, other, own = first_control(panel)
    height = round(90 * panel._figure.get_size_inches()[1])
    with monkeypatch.context() as patch:
        patch.setattr(panel, "picture", lambda: 1 / 0)
        widget.value = other
    assert panel.sentence == "This picture could not be drawn. ZeroDivisionError: division by zero"
    for page in (panel._picture.value, panel._repr_mimebundle_()["text/html"]):
        assert panel.sentence in page
        assert f'role="alert" style="min-height:calc({height}px' in page  # as much space as a picture
        assert "<img" not in page
    widget.value = own
    assert_drawn(panel)


@pytest.mark.parametrize("make", PANELS)
def test_many_redraws_leave_no_figure_and_no_warning(make):
    panel = make()
    widget, *values = first_control(panel)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            for value in values:
                widget.value = value
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("make", PANELS)
def test_the_stored_form_is_a_static_picture_with_the_sentence(make):
    panel = make()
    data = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data  # what the live notebook shows
    result = new_output("execute_result", data=data, execution_count=1)
    stored = canonical(new_notebook(cells=[new_code_cell("panel", execution_count=1, outputs=[result])]))
    assert set(stored.cells[0].outputs[0].data) == {"text/plain", "text/html"}
    assert stored.cells[0].outputs[0].data["text/plain"] == panel.sentence
    assert f'alt="{panel.sentence}" src="data:image/png;base64,' in data["text/html"]


def test_every_file_is_a_panel_that_these_tests_can_make():
    others = {name for name in dir(widgets) if getattr(widgets, name) not in panels()}
    assert others == {"Quiz"}, "a panel is a class on Panel; the quiz alone has no picture"
    for kind in panels():
        arguments = inspect.signature(kind).parameters.values()
        needed = [argument.name for argument in arguments if argument.default is argument.empty]
        assert needed == [], f"widgets.{kind.__name__} needs {needed}; a panel needs no argument"
        assert kind.__doc__, f"widgets.{kind.__name__} has no docstring"


def test_panels_are_offered_at_once_and_loaded_when_asked_for():
    heavy = ["torch", "ipywidgets", "matplotlib"]
    quick = f"import sys; from utils import widgets; print(dir(widgets), [name in sys.modules for name in {heavy}])"
    done = subprocess.run([sys.executable, "-c", quick], capture_output=True, encoding="utf-8", cwd=ROOT, check=True)
    assert done.stdout.strip() == f"{sorted(widgets.__all__)} {[False] * len(heavy)}"
    with provisionalcompleter():
        offered = list(IPCompleter(namespace={"widgets": widgets}).completions("widgets.Wi", 10))
    assert [completion.text.split(".")[-1] for completion in offered] == ["WidthExplorer"]


def test_a_panel_that_is_not_there_is_named(monkeypatch):
    with pytest.raises(AttributeError, match="there is no panel WideExplorer; the panels are AttentionExplorer, "):
        _ = widgets.WideExplorer
    found = {"WideExplorer": Path("table_explorer.py")}
    monkeypatch.setattr(widgets, "panels_in", lambda: found)
    with pytest.raises(AttributeError, match=r"utils/widgets/table_explorer.py has no class WideExplorer"):
        _ = widgets.WideExplorer


def test_an_error_at_the_start_is_raised_so_that_a_notebook_turns_red():
    class Broken(Panel):
        def picture(self):
            raise ZeroDivisionError("at once")

    with pytest.raises(ZeroDivisionError):
        Broken([])


@pytest.mark.parametrize("width", table_explorer.WIDTHS)
def test_the_table_explorer_says_what_it_shows(width):
    panel = widgets.TableExplorer()
    panel.width.value, panel.vocabulary.value, panel.token.value = width, 50_257, "milk"
    rows = table_explorer.random_rows(width).double()
    scores = [sum(a * b for a, b in zip(row, rows[3], strict=True)).item() for row in rows]
    own, rival, size = re.findall(r"-?\d[\d,.]*\d", panel.sentence.partition(":")[2])
    assert float(own) == pytest.approx(scores[3], abs=6e-5)
    assert float(rival) == pytest.approx(max(scores[:3] + scores[4:]), abs=6e-5)
    assert int(size.replace(",", "")) == 50_257 * width


def test_random_rows_are_those_of_a_fresh_gpt():
    rows = table_explorer.random_rows(1600)
    assert rows.std().item() == pytest.approx(0.02, rel=0.02)
    assert torch.equal(rows, table_explorer.random_rows(1600))


def drawn_lines(monitor):
    """The losses in a monitor's picture: training, and held out and the floor if they are there."""
    return [list(line.get_ydata()) for line in monitor._figure.axes[0].lines]


def test_the_training_monitor_says_the_last_losses_and_smooths_what_it_draws():
    monitor = widgets.TrainingMonitor(floor=0.61)
    assert "has not begun" in monitor.sentence
    monitor.update(History([4.0, 2.346]))
    assert monitor.sentence == "Step 2: training loss 2.35."
    monitor.finish(HISTORY)
    assert drawn_lines(monitor)[:2] == [HISTORY.train_loss, HISTORY.valid_loss]
    monitor.smoothing.value = 2
    assert monitor.sentence == "Step 4: training loss 1.00, held out 1.25."
    train, valid, floor = drawn_lines(monitor)
    assert (train, valid, set(floor)) == ([4.0, 3.0, 2.5, 2.0], [2.5, 1.25], {0.61})


def test_the_training_monitor_draws_at_most_twice_a_second(monkeypatch):
    monkeypatch.setattr(training_monitor, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    clock, monitor, seen = [1000.0], widgets.TrainingMonitor(), []
    for step in range(1, 101):
        monitor.update(History([5.0] * step))
        seen.append(len(drawn_lines(monitor)[0]))
        clock[0] += 0.06
    assert seen == [1 + 9 * (step // 9) for step in range(100)]  # 0.54 seconds from picture to picture
    monitor.update(History([5.0] * 101))
    assert len(drawn_lines(monitor)[0]) == 100
    monitor.finish(History([5.0] * 101))
    assert len(drawn_lines(monitor)[0]) == 101


def test_a_run_watched_by_the_monitor_goes_on_when_a_picture_fails(monkeypatch):
    monitor = widgets.TrainingMonitor()
    monkeypatch.setattr(training_monitor, "losses", lambda *_: 1 / 0)
    monitor.update(HISTORY)
    assert "ZeroDivisionError" in monitor.error


def run_as_cell(monkeypatch, cell, run):
    """Pretend that IPython is running a cell."""
    parent = {"header": {"msg_id": run}, "metadata": {"cellId": cell}, "content": {"code": "..."}}
    monkeypatch.setattr(panel_module, "get_ipython", lambda: SimpleNamespace(get_parent=lambda: parent))


@pytest.mark.parametrize("make", PANELS)
def test_a_cell_run_again_leaves_one_live_panel(make, monkeypatch):
    run_as_cell(monkeypatch, "mine", "first")
    parts = [part for part in all_inside(make()) if isinstance(part, ipywidgets.Widget)]
    run_as_cell(monkeypatch, "mine", "second")
    assert make().comm is not None
    assert [part.comm for part in parts] == [None] * len(parts)


def test_running_a_cell_again_closes_its_last_panels_and_no_others(monkeypatch):
    run_as_cell(monkeypatch, "other", "r0")
    other, alive = widgets.TableExplorer(), []
    for run in range(5):
        run_as_cell(monkeypatch, "mine", f"r{run + 1}")
        first, second = widgets.TableExplorer(), widgets.Quiz("00")
        alive.append(len(ipywidgets.widget._instances))
    assert len(set(alive[1:])) == 1, "a cell run again leaves widgets behind"
    assert len(panel_module._made["mine"][1]) == 2
    assert all(part.comm is not None for part in (first, second, other, other.width, second.questions[0].choice))
    run_as_cell(monkeypatch, "mine", "last")
    widgets.TableExplorer()
    assert [part.comm for part in (first, first.width, second.questions[0].choice)] == [None] * 3
    assert other.comm is not None


def test_right_choices_do_not_stand_in_one_place():
    data = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(quiz.QUIZZES.glob("*.json"))]
    places = [[right for _, right, _ in question["choices"]].index(True) for quiz_ in data for question in quiz_]
    assert len(set(places)) > 1


def test_a_question_answers_every_choice_with_its_reason():
    panel = widgets.Quiz("01")
    for question, data in zip(panel.questions, quiz.load("01"), strict=True):
        question.check.click()
        assert "Pick a choice first" in question.answer.value
        for place, (_, right, why) in enumerate(data["choices"]):
            question.choice.index = place
            question.check.click()
            assert ("Right." if right else "Not this one.") in question.answer.value
            assert why.split("`")[0][:20] in question.answer.value.replace("&#x27;", "'")
            assert question.right == right


def test_a_quiz_counts_right_answers_and_prints_without_them():
    panel = widgets.Quiz("01")
    assert repr(panel) == "Quiz of lesson 01: 0 of 6 questions answered correctly."
    panel.questions[0].choice.index = panel.questions[0]._right
    panel.questions[0].check.click()
    assert "1 of 6" in repr(panel)
    page = panel._repr_mimebundle_()["text/html"]
    assert "A one-hot row of length V times the table." in page
    assert not any(why in page for question in quiz.load("01") for _, _, why in question["choices"])


def test_a_lesson_without_a_quiz_is_named():
    with pytest.raises(ValueError, match=r"'77'.*00, 01"):
        widgets.Quiz("77")
