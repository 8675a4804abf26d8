"""Lesson 02's panel: how a prediction forms, with the residual stream read through the token table."""

from utils.plots import inside
from utils.widgets.sampling_panel import speaker_of
from utils.widgets.story_panel import STORY, StoryPanel

FEW = 8  # layers whose words have room below each other


class Lens(StoryPanel):
    """Pick a word: see what the model would say next if it ended before block 0, after block 0, after block 1.

    The last row is the model's own output. A deep model is shown by ranks: how far from the top its final answer
    stands after each block. Controls: prompt, word. Arguments: model and tokenizer, by default the trained course
    model's; text, the first prompt; word, the place to begin with.
    """

    def __init__(self, model=None, tokenizer=None, text=STORY, word=14):
        super().__init__(speaker_of(model, tokenizer), text, word)

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        ids, length, place = self._read()
        names = self._speaker.names
        probs = self._speaker.lens(ids[:length], place).softmax(-1)  # (L + 1, V)
        following = ids[place + 1] if place + 1 < len(ids) else None
        draw, say = (inside.lens, self._words) if len(probs) <= FEW else (inside.lens_by_rank, self._ranks)
        fig = draw(self._speaker.words(ids), place, probs, names, following)
        return fig, f"After {self._named(ids, place)}: {say(probs, following)}"

    def _words(self, probs, following):
        best = [self._said(row, int(row.argmax())) for row in probs]
        truth = "" if following is None else f"; in the story: {self._said(probs[-1], following)}"
        return f"{', then '.join(best)}{truth}"

    def _ranks(self, probs, _):
        """When the final answer comes to the top, and stays there."""
        answer = int(probs[-1].argmax())
        ranks = inside.ranks(probs, answer)  # (L + 1,)
        below = (ranks > 1).nonzero().flatten().tolist() or [-1]
        first = below[-1] + 1  # rows: 0 is before block 0
        middle = len(ranks) // 2
        return (
            f"{self._said(probs[-1], answer)}; its rank is {ranks[middle]:,} after block {middle - 1}, "
            f"and 1 from {f'block {first - 1}' if first else 'the start'} on"
        )

    def _said(self, row, token):
        """A token and its probability, such as `barn 0.92`."""
        name = "start mark" if token == self._speaker.tokenizer.start else self._speaker.names[token]
        return f"{name} {row[token].item():.2f}"
