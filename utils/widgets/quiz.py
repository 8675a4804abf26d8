"""Multiple choice at the end of a lesson: a reason for every choice, by keyboard, and nothing else."""

import json
from pathlib import Path

import ipywidgets

from utils.markup import as_html
from utils.widgets.panel import close_all, close_predecessors

QUIZZES = Path(__file__).resolve().parents[1] / "data" / "quizzes"
FULL = {"width": "98%"}


class Question(ipywidgets.VBox):
    """One question: pick a choice, press Check, read why. `choice`, `check` are its controls, `answer` its text."""

    def __init__(self, number, question):
        self._reasons = [why for _, _, why in question["choices"]]
        self._right = [right for _, right, _ in question["choices"]].index(True)
        self.right = False
        options = [(text, place) for place, (text, _, _) in enumerate(question["choices"])]
        self.choice = ipywidgets.RadioButtons(
            options=options,
            index=None,
            layout=FULL,
            description="your choice",
            style={"description_width": "5em"},
        )
        self.check = ipywidgets.Button(description=f"Check {number}", tooltip=f"Check question {number}")
        self.answer = ipywidgets.HTML()
        title = ipywidgets.HTML(f"<b>{number}. {as_html(question['question'])}</b>", layout=FULL)
        super().__init__([title, self.choice, self.check, self.answer])
        self.check.on_click(self._judge)

    def _judge(self, _button):
        picked = self.choice.index
        if picked is None:
            self.answer.value = "Pick a choice first."
            return
        self.right = picked == self._right
        verdict = "Right." if self.right else "Not this one."
        self.answer.value = f'<div role="status"><b>{verdict}</b> {as_html(self._reasons[picked])}</div>'


class Quiz(ipywidgets.VBox):
    """The questions of one lesson, such as Quiz("01"). Raises ValueError for a lesson without a quiz."""

    def __init__(self, lesson):
        data = load(lesson)
        self.lesson = lesson
        self.questions = [Question(number, question) for number, question in enumerate(data, 1)]
        super().__init__(self.questions)
        close_predecessors(self)

    @property
    def sentence(self):
        """How many of the questions are answered correctly by now."""
        right = sum(question.right for question in self.questions)
        return f"Quiz of lesson {self.lesson}: {right} of {len(self.questions)} questions answered correctly."

    def close(self):
        """Close the quiz and everything in it."""
        close_all(self)

    def __repr__(self):
        return self.sentence

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": self.sentence, "text/html": _on_paper(load(self.lesson))}


def load(lesson):
    """The questions of a lesson: dicts with `question` and `choices`, each [text, right or not, why]."""
    path = QUIZZES / f"{lesson}.json"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in QUIZZES.glob("*.json")))
        raise ValueError(f"There is no quiz for lesson {lesson!r}; there is one for {known}.")
    return json.loads(path.read_text(encoding="utf-8"))


def _on_paper(questions):
    """The quiz without a kernel: questions and choices, and no answers."""
    items = "".join(
        f"<li>{as_html(question['question'])}<ul>"
        + "".join(f"<li>{as_html(text)}</li>" for text, _, _ in question["choices"])
        + "</ul></li>"
        for question in questions
    )
    return f"<p>Run this cell to answer.</p><ol>{items}</ol>"
