"""Lesson 02's panel: which earlier words each head of the trained course model looks at."""

import ipywidgets
import torch

from utils.inspection import attention_weights
from utils.plots.inside import attention
from utils.widgets.panel import LONG, WIDE
from utils.widgets.story_panel import StoryPanel


class AttentionExplorer(StoryPanel):
    """Pick a layer, a head and a word: see where the word looks. Some heads find the word that comes next.

    Controls: prompt, layer and head, both counted from 0 as in the code, and word.
    """

    def __init__(self):
        self.layer = ipywidgets.IntSlider(0, 0, 1, description="layer, from 0", style=WIDE, layout=LONG)
        self.head = ipywidgets.IntSlider(0, 0, 3, description="head, from 0", style=WIDE, layout=LONG)
        super().__init__([self.layer, self.head])

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        ids, length, place = self._read()
        weights = attention_weights(self._model, torch.tensor([ids[:length]]))[self.layer.value, 0, self.head.value]
        words = [self._language.vocab[number] for number in ids]
        return attention(words, weights, place), self._sentence(ids, place, weights[place])

    def _sentence(self, ids, place, row):
        target = int(row.argmax())
        sentence = (
            f"Layer {self.layer.value}, head {self.head.value}: {self._named(ids, place)} looks most at "
            f"{self._named(ids, target)}: {row[target].item():.2f}"
        )
        if place + 1 == len(ids):
            return sentence
        following = ids[place + 1]
        found = "the same word" if following == ids[target] else f"“{self._language.vocab[following]}”"
        return f"{sentence}; {found} comes next"
