"""Lesson 04's second panel: generation one token at a time, with the random number that draws each."""

import ipywidgets
import torch

from utils.plots.generation import one_draw
from utils.sampling import draw, next_token_probs
from utils.widgets.panel import REPR_LENGTH, START_ALONE, WIDE
from utils.widgets.sampling_panel import STORY_START, SamplingPanel, tail

BARS = 8


class GenerationStepper(SamplingPanel):
    """Predict, draw, append: one click a step, forth and back, with the tokens that `generate` gives.

    Controls: prompt, temperature, top_k, top_p, seed (of the generator); buttons: step, back, reset. Other filters
    or another seed replay the steps made so far; another prompt begins anew. Arguments: model and tokenizer, and text,
    the first prompt.
    """

    def __init__(self, model=None, tokenizer=None, text=STORY_START):
        self._made, self._prompt = 0, None  # steps made, and from which prompt
        self.seed = ipywidgets.BoundedIntText(0, min=0, max=9999, description="seed", style=WIDE)
        self.step = self._button("step", "Draw one more token", lambda: self._made + 1)
        self.back = self._button("back", "Take the last token back", lambda: max(0, self._made - 1))
        self.reset = self._button("reset", "Go back to the prompt", lambda: 0)
        further = [self.seed, ipywidgets.HBox([self.step, self.back, self.reset])]
        super().__init__(model, tokenizer, text, further)

    def _button(self, name, tooltip, target):
        button = ipywidgets.Button(description=name, tooltip=tooltip)

        def move(_):
            before, self._made = self._made, target()
            self._redraw(None)
            if self.error:
                self._made = before

        button.on_click(move)
        return button

    def picture(self):
        """-> (Figure, sentence) after the steps made so far; before the first, what it will draw from."""
        speaker, prompt = self._speaker, self.ids()
        if prompt != self._prompt:
            self._made, self._prompt = 0, prompt
        ids, scores, probs, u = self._replay(prompt, self._made)
        drawn = ids[-1] if self._made else None
        seen_from = max(0, len(prompt) + max(0, self._made - 1) - speaker.n_ctx)
        best = scores.sort(descending=True, stable=True).indices[:BARS].tolist()
        fig = one_draw(speaker.parts(ids), seen_from, probs, speaker.labels, best, u, drawn, self.settings())
        return fig, self._sentence(ids, probs, u, seen_from)

    def _replay(self, ids, steps):
        """Draw `steps` tokens -> all ids, and of the last draw (before any, of the first): scores, probs, u."""
        generator, u = torch.Generator().manual_seed(self.seed.value), None
        for _ in range(max(1, steps)):
            scores = self._speaker.scores(ids)
            probs = next_token_probs(scores, *self.filters())  # (V,)
            if steps:
                u = torch.rand(1, dtype=torch.float64, generator=generator.clone_state()).item()  # what draw will use
                ids = (*ids, draw(probs[None], generator).item())
        return ids, scores, probs, u

    def _sentence(self, ids, probs, u, seen_from):
        labels, n_ctx = self._speaker.labels, self._speaker.n_ctx
        seen = f", sees the last {n_ctx} tokens" if seen_from else ""
        if u is None:
            word, chance = labels[probs.argmax()], probs.max()
            start = f"Step 0{seen}: {word} is likeliest ({chance:.3f}), press step to draw: "
        else:
            word, chance = labels[ids[-1]], probs[ids[-1]]
            start = f"Step {self._made}{seen}: u={u:.3f} draws {word} ({chance:.3f}): "
        return start + (tail(self._speaker.text(ids), REPR_LENGTH - len(start)) or START_ALONE)
