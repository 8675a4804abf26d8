"""Lesson 02's panel: how the prediction forms, with the residual stream read through the token table."""

import torch

from utils.inspection import lens
from utils.plots import inside
from utils.widgets.story_panel import StoryPanel


class Lens(StoryPanel):
    """Pick a word: see what the model would say next if it ended after the tables, after block 0, after block 1.

    The last row is the model's own output. Controls: prompt, word.
    """

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        ids, length, place = self._read()
        probs = lens(self._model, torch.tensor([ids[:length]]))[:, 0, place].softmax(-1)  # (L + 1, V)
        following = ids[place + 1] if place + 1 < len(ids) else None
        vocab = self._language.vocab
        fig = inside.lens([vocab[number] for number in ids], place, probs, vocab, following)
        return fig, self._sentence(f"After {self._named(ids, place)}", probs, following)

    def _sentence(self, start, probs, following):
        best = [self._said(row, int(row.argmax())) for row in probs]
        truth = "" if following is None else f"; in the story: {self._said(probs[-1], following)}"
        return f"{start}: {', then '.join(best)}{truth}"

    def _said(self, row, token):
        """A token and its probability, such as `barn 0.92`."""
        name = "start mark" if token == self._language.start else self._language.vocab[token]
        return f"{name} {row[token].item():.2f}"
