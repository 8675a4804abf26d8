"""What the panels that look into the trained course model share: a story, and one of its words."""

import ipywidgets

from utils.widgets.panel import LONG, WIDE, Panel, prompt
from utils.widgets.sampling_panel import course

# every word that repeats an earlier one is plain to see in it
STORY = (
    "today Ruby took the little key to our barn. Jack was at our barn too. "
    "Ruby and Jack played with the little key until evening. both were happy."
)


class StoryPanel(Panel):
    """Controls: prompt, the beginning of a story or a whole one; word, the place of one of its words, from 0.

    The start mark stands at place 0, and alone if the prompt is empty.
    """

    def __init__(self, controls=()):
        self._model, self._language = course()
        self.prompt = prompt(STORY)
        self.word = ipywidgets.IntSlider(14, 0, 31, description="word", style=WIDE, layout=LONG)
        super().__init__([self.prompt, *controls, self.word])

    def _read(self):
        """-> the story's ids, start mark first, how many of them the model reads (T), and the picked word's place."""
        words = self._language.encode(self.prompt.value)
        n_ctx = self._model.config.n_ctx
        if len(words) > n_ctx:
            raise ValueError(
                f"the prompt has {len(words)} words and a story at most {n_ctx}, full stops included; leave some out."
            )
        length = min(1 + len(words), n_ctx)  # a whole story's last word is not read: it is only predicted
        last = max(1, length - 1)  # a browser's slider cannot have one place only
        if last != self.word.max:  # another prompt: its end is where the question is
            with self.word.hold_trait_notifications():  # one picture more, not two
                self.word.max = self.word.value = last
        return [self._language.start, *words], length, min(self.word.value, length - 1)

    def _named(self, ids, place):
        """A word as a sentence names it, with its place."""
        return f"“{self._language.vocab[ids[place]]}” ({place})" if place else "the start mark"
