"""What the panels that look into a model share: a text, and one of its tokens."""

import ipywidgets

from utils.widgets.panel import LONG, WIDE, Panel, prompt

# every word that repeats an earlier one is plain to see in it
STORY = (
    "today Ruby took the little key to our barn. Jack was at our barn too. "
    "Ruby and Jack played with the little key until evening. both were happy."
)
LONGEST = 64  # tokens that a picture has room for


class StoryPanel(Panel):
    """Controls: prompt, a text; word, the place of one of its tokens, from 0.

    The start mark stands at place 0, and alone if the prompt is empty. speaker: who reads; text: the first prompt;
    word: the place to begin with.
    """

    def __init__(self, speaker, text, word, controls=()):
        self._speaker, self._longest = speaker, min(speaker.n_ctx, LONGEST)
        self.prompt = prompt(text)
        last = max(1, min(len(speaker.ids(text)), self._longest) - 1)  # a slider in a browser needs two places
        self.word = ipywidgets.IntSlider(word, 0, last, description="word", style=WIDE, layout=LONG)
        super().__init__([self.prompt, *controls, self.word])

    def _read(self):
        """-> the text's ids, start mark first, how many of them the model reads (T), and the picked token's place."""
        ids, most = self._speaker.ids(self.prompt.value), self._longest
        if len(ids) > most + 1:
            raise ValueError(f"the prompt has {len(ids) - 1} tokens, and there is room for {most}; leave some out.")
        length = min(len(ids), most)  # a whole story's last word is not read: it is only predicted
        last = max(1, length - 1)
        if last != self.word.max:  # another prompt: its end is where the question is
            with self.word.hold_trait_notifications():  # one picture more, not two
                self.word.max = self.word.value = last
        return ids, length, min(self.word.value, length - 1)

    def _named(self, ids, place):
        """A word as a sentence names it, with its place."""
        return f"“{self._speaker.names[ids[place]]}” ({place})" if place else "the start mark"
