"""Lesson 04's first panel: what temperature, top-k and top-p do to the probabilities of the next token."""

import torch

from utils.plots.generation import filtered
from utils.sampling import next_token_probs
from utils.widgets.panel import START_ALONE
from utils.widgets.sampling_panel import SamplingPanel, tail

BARS = 12
TITLE = 60  # letters of the prompt above the picture


class TemperatureExplorer(SamplingPanel):
    """Type a prompt, move the sliders: the likeliest next tokens, before and after top-k and top-p.

    Controls: prompt, temperature (0: greedy), top_k ("off": all), top_p (1.0: all). Arguments: model and tokenizer,
    and text, the first prompt.
    """

    def picture(self):
        """-> (Figure, sentence) for the controls' present values; entropy in nats, of what the filters left."""
        speaker, ids, filters = self._speaker, self.ids(), self.filters()
        scores = speaker.scores(ids).double()  # exact, so that a token counts as kept however small its share
        before, after = next_token_probs(scores, filters[0]), next_token_probs(scores, *filters)  # (V,)
        best = scores.sort(descending=True, stable=True).indices[:BARS]  # ids, whatever the temperature
        words = [speaker.labels[token] for token in best]
        text = speaker.text(ids) or START_ALONE
        seen = f" (sees {speaker.n_ctx} of {len(ids)} tokens)" if len(ids) > speaker.n_ctx else ""
        title = f"next token after: {tail(text, TITLE - len(seen))}{seen}"
        fig = filtered(words, before[best], after[best], len(scores) - BARS, title, self.settings())
        return fig, self._sentence(tail(text, 28), words[0], after, after[best])

    def _sentence(self, text, word, after, shown):
        entropy, kept = torch.special.entr(after).sum(), after.count_nonzero()
        return (
            f"{text} → {word} {shown[0]:.3f} at T={self.temperature.value:.3g}; entropy {entropy:.2f} nats; "
            f"{kept} of {len(after)} kept; others {max(0.0, 1 - shown.sum()):.3f}"
        )
