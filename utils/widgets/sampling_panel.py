"""What lesson 04's panels share: a prompt in the toy language, the filters, and the course model's scores."""

import functools
import gc

import ipywidgets
import traitlets

from utils.pretrained import load_toy_gpt
from utils.speaker import Speaker
from utils.toy_language import ToyLanguage
from utils.widgets.panel import LONG, WIDE, Panel, prompt

OFF = "off"
STORY_START = "today Anna took the"
KEEP = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, OFF)


class TopK(ipywidgets.SelectionSlider):
    """A slider for top-k whose last place is "off". None means "off", as it does in next_token_probs."""

    @traitlets.observe("value")
    def _propagate_value(self, change):
        if change.new is None:
            self.value = OFF
        else:
            super()._propagate_value(change)


@functools.cache
def course() -> Speaker:
    """The trained course model and its language, loaded once for all panels."""
    gc.collect()
    gc.freeze()  # a full collection among the libraries' objects takes 0.15 s, and pictures bring one every 20 keys
    return Speaker(load_toy_gpt(), ToyLanguage())


def speaker_of(model, tokenizer) -> Speaker:
    """The Speaker of a panel's arguments: the course's own if both are None. Raises TypeError for one without other."""
    if (model is None) != (tokenizer is None):
        raise TypeError("a panel was given a model without a tokenizer, or the other way round; give both, or neither.")
    return course() if model is None else Speaker(model, tokenizer)


def tail(text, length):
    """The last whole words of a text, behind "…", that fit into `length` characters; all of it if it fits."""
    if len(text) <= length:
        return text
    end = text[1 - length :]
    return "…" + (end.partition(" ")[2] or end)


class SamplingPanel(Panel):
    """Controls: prompt, read at Enter or Tab; temperature; top_k ("off" or None: all); top_p (1.0: all).

    model, tokenizer: who speaks, by default the trained course model. An empty prompt is the start mark alone. A word
    outside the language is named where the picture would be, in as much space, with the nearest words.
    """

    def __init__(self, model=None, tokenizer=None, text=STORY_START, further=()):
        self._speaker = speaker_of(model, tokenizer)
        self.prompt = prompt(text)
        self.temperature = ipywidgets.FloatSlider(
            1.0, min=0, max=3, step=0.1, readout_format=".1f", description="temperature", style=WIDE, layout=LONG
        )
        self.top_k = TopK(options=KEEP, value=OFF, description="top-k", style=WIDE, layout=LONG)
        self.top_p = ipywidgets.FloatSlider(
            1.0, min=0.05, max=1, step=0.05, description="top-p (1.00: off)", style=WIDE, layout=LONG
        )
        super().__init__([self.prompt, self.temperature, self.top_k, self.top_p, *further])

    def filters(self):
        """-> (temperature, top_k, top_p) as next_token_probs takes them."""
        return self.temperature.value, None if self.top_k.value == OFF else self.top_k.value, self.top_p.value

    def settings(self):
        """-> the filters in words, for a picture."""
        temperature, top_k, top_p = self.filters()
        nucleus = OFF if top_p == 1 else f"{top_p:.3g}"
        return f"(temperature {temperature:.3g}, top-k {top_k or OFF}, top-p {nucleus})"

    def ids(self):
        """The prompt as a tuple of ids, start mark first. Raises ValueError for a word outside the language."""
        return self._speaker.ids(self.prompt.value)
