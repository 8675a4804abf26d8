"""Lesson 02's panel: which earlier words each head of a model looks at."""

import ipywidgets

from utils.plots.inside import attention
from utils.widgets.panel import LONG, WIDE
from utils.widgets.sampling_panel import speaker_of
from utils.widgets.story_panel import STORY, StoryPanel


class AttentionExplorer(StoryPanel):
    """Pick a layer, a head and a word: see where the word looks. Some heads find the word that comes next.

    Controls: prompt, layer and head, both counted from 0 as in the code, and word. Arguments: model and tokenizer, by
    default the trained course model's; text, the first prompt; layer, head and word, what to begin with.
    """

    def __init__(self, model=None, tokenizer=None, text=STORY, layer=0, head=0, word=14):
        speaker = speaker_of(model, tokenizer)
        last = {"layer": speaker.model.config.n_layer - 1, "head": speaker.model.config.n_head - 1}
        self.layer, self.head = (
            ipywidgets.IntSlider(value, 0, last[what], description=f"{what}, from 0", style=WIDE, layout=LONG)
            for what, value in (("layer", layer), ("head", head))
        )
        super().__init__(speaker, text, word, [self.layer, self.head])

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        ids, length, place = self._read()
        weights = self._speaker.weights(ids[:length])[self.layer.value, self.head.value]  # (T, T)
        return attention(self._speaker.words(ids), weights, place), self._sentence(ids, place, weights[place])

    def _sentence(self, ids, place, row):
        target = int(row.argmax())
        sentence = (
            f"Layer {self.layer.value}, head {self.head.value}: {self._named(ids, place)} looks most at "
            f"{self._named(ids, target)}: {row[target].item():.2f}"
        )
        if place + 1 == len(ids):
            return sentence
        following = ids[place + 1]
        found = "the same word" if following == ids[target] else f"“{self._speaker.names[following]}”"
        return f"{sentence}; {found} comes next"
