"""Panels: every control at every value, the sentence's numbers, errors in words, one live panel a cell."""

import json
import re
import warnings
from types import SimpleNamespace

import ipywidgets
import pytest
import torch
from matplotlib import pyplot

from utils import widgets
from utils.training import History
from utils.widgets import panel as panel_module
from utils.widgets import quiz, table_explorer, training_monitor
from utils.widgets.panel import Panel

HISTORY = History([4.0, 2.0, 3.0, 1.0], valid_loss=[2.5, 1.25], valid_steps=[2, 4])


def trained_monitor():
    """A training monitor that has seen a run."""
    monitor = widgets.TrainingMonitor(floor=0.61)
    monitor.finish(HISTORY)
    return monitor


PANELS = [
    widgets.BudgetPlanner,
    widgets.CacheExplorer,
    widgets.ConfigReader,
    widgets.WidthExplorer,
    widgets.AttentionExplorer,
    widgets.Lens,
    widgets.GenerationStepper,
    widgets.TemperatureExplorer,
    widgets.TableExplorer,
    widgets.TrainingMonitor,
    trained_monitor,
]


def controls(panel):
    """Everything in a panel that has a value to set: name -> (widget, its possible values, some of a long list)."""
    found = {}
    for name, widget in vars(panel).items():
        if isinstance(widget, ipywidgets.ValueWidget) and not isinstance(widget, ipywidgets.HTML):
            options = getattr(widget, "options", None)
            values = [getattr(widget, "min", None), getattr(widget, "max", None)]
            values = ["", widget.value, "yesterday"] if isinstance(widget, ipywidgets.Text) else values
            values = [f"{widget.value}\n", widget.value] if isinstance(widget, ipywidgets.Textarea) else values
            if isinstance(widget, ipywidgets.FloatLogSlider):
                values = [widget.base**power for power in values]
            if options:
                values = [v[1] if isinstance(v, tuple) else v for v in options]
                values = values if len(values) <= 20 else [*values[:: len(values) // 5], values[-1]]
            found[name] = widget, values
    return found


@pytest.fixture(autouse=True)
def fresh():
    """No panel of one test is another's predecessor."""
    panel_module._made.clear()


@pytest.mark.parametrize("make", PANELS)
def test_every_value_of_every_control_is_drawn(make):
    panel = make()
    assert controls(panel)
    for widget, values in controls(panel).values():
        for value in values:
            widget.value = value
            assert panel.error == ""
            assert panel.sentence in panel._picture.value.replace("&#x27;", "'")
            assert panel._picture.value.count("<img") == 1


@pytest.mark.parametrize("make", PANELS)
def test_every_control_is_described_and_the_repr_fits(make):
    panel = make()
    for widget, values in controls(panel).values():
        assert widget.description
        for value in values:
            widget.value = value
            assert repr(panel) == panel.sentence
            assert len(panel.sentence) <= 110


@pytest.mark.parametrize("make", PANELS)
def test_many_redraws_leave_no_figure_and_no_warning(make):
    panel = make()
    widget, values = next(iter(controls(panel).values()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in range(25):
            widget.value = values[step % len(values)]
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("make", PANELS)
def test_the_stored_form_is_a_static_picture_with_the_sentence(make):
    panel = make()
    bundle = panel._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == panel.sentence
    assert f'alt="{panel.sentence}" src="data:image/png;base64,' in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_failing_picture_is_told_in_words_and_mended_by_the_next():
    class Fragile(Panel):
        def __init__(self):
            self.number = ipywidgets.IntSlider(1, 0, 3, description="number")
            super().__init__([self.number])

        def picture(self):
            return table_explorer.explorer(
                torch.eye(10), table_explorer.TOKENS, 0
            ), f"1/{self.number.value} = {1 // self.number.value}"

    panel = Fragile()
    panel.number.value = 0
    assert "ZeroDivisionError" in panel.error
    assert "could not be drawn" in repr(panel)
    assert "<img" not in panel._picture.value
    assert "could not be drawn" in panel._repr_mimebundle_()["text/html"]
    panel.number.value = 2
    assert panel.error == ""
    assert "ZeroDivisionError" not in panel._picture.value


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


def drawn_loss(monitor):
    """The training losses in a monitor's picture."""
    return list(monitor._figure.axes[0].lines[0].get_ydata())


def test_the_training_monitor_says_the_last_losses():
    monitor = widgets.TrainingMonitor()
    assert "has not begun" in monitor.sentence
    monitor.update(History([4.0, 2.346]))
    assert monitor.sentence == "Step 2: training loss 2.35."
    monitor.finish(HISTORY)
    assert monitor.sentence == repr(monitor) == "Step 4: training loss 1.00, held out 1.25."
    assert drawn_loss(monitor) == HISTORY.train_loss


def test_the_training_monitor_draws_at_most_twice_a_second(monkeypatch):
    now = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr(training_monitor, "time", now)
    clock, monitor, seen = [1000.0], widgets.TrainingMonitor(), []
    for step in range(1, 101):
        monitor.update(History([5.0] * step))
        seen.append(len(drawn_loss(monitor)))
        clock[0] += 0.06
    assert seen[:10] == [1] * 9 + [10]
    assert len(set(seen)) == 12
    assert len(drawn_loss(monitor)) == 100
    clock[0] += 0.01
    monitor.update(History([5.0] * 101))
    assert len(drawn_loss(monitor)) == 100
    monitor.finish(History([5.0] * 101))
    assert len(drawn_loss(monitor)) == 101


def test_the_training_monitor_smooths_what_it_draws():
    monitor = trained_monitor()
    monitor.smoothing.value = 2
    assert drawn_loss(monitor) == [4.0, 3.0, 2.5, 2.0]
    assert "training loss 1.00" in monitor.sentence
    assert list(monitor._figure.axes[0].lines[1].get_ydata()) == [2.5, 1.25]
    assert set(monitor._figure.axes[0].lines[2].get_ydata()) == {0.61}


def test_a_run_watched_by_the_monitor_goes_on_when_a_picture_fails(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("no picture")

    monitor = widgets.TrainingMonitor()
    monkeypatch.setattr(training_monitor, "losses", broken)
    monitor.update(HISTORY)
    assert "no picture" in monitor.error


def run_as_cell(monkeypatch, cell, run):
    """Pretend that IPython is running a cell."""
    parent = {"header": {"msg_id": run}, "metadata": {"cellId": cell}, "content": {"code": "..."}}
    monkeypatch.setattr(panel_module, "get_ipython", lambda: SimpleNamespace(get_parent=lambda: parent))


def test_running_a_cell_again_closes_its_last_panels_and_no_others(monkeypatch):
    run_as_cell(monkeypatch, "other", "r0")
    other, alive = widgets.TableExplorer(), []
    for run in range(20):
        run_as_cell(monkeypatch, "mine", f"r{run + 1}")
        first, second = widgets.TableExplorer(), widgets.Quiz("00")
        alive.append(len(ipywidgets.widget._instances))
    assert len(set(alive[1:])) == 1, "a cell run again leaves widgets behind"
    assert len(panel_module._made["mine"][1]) == 2
    assert all(part.comm is not None for part in (first, second, other, other.width, second.questions[0].choice))
    run_as_cell(monkeypatch, "mine", "last")
    widgets.TableExplorer()
    assert first.comm is None
    assert first.width.comm is None
    assert second.questions[0].choice.comm is None
    assert other.comm is not None


@pytest.mark.parametrize("lesson", sorted(path.stem for path in quiz.QUIZZES.glob("*.json")))
def test_a_quiz_has_one_right_choice_and_a_reason_for_each(lesson):
    questions = quiz.load(lesson)
    assert 3 <= len(questions) <= 6
    for question in questions:
        assert len(question["choices"]) >= 3
        assert [right for _, right, _ in question["choices"]].count(True) == 1
        texts = [part for text, _, why in question["choices"] for part in (text, why)]
        assert len(set(texts)) == len(texts)
        assert all(len(text) > 3 for text in texts)


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
    bundle = panel._repr_mimebundle_()
    page = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    assert "A one-hot row of length V times the table." in page
    assert not any(why in page for question in quiz.load("01") for _, _, why in question["choices"])


def test_a_lesson_without_a_quiz_is_named():
    with pytest.raises(ValueError, match=r"'77'.*00, 01"):
        widgets.Quiz("77")
