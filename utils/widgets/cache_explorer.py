"""Lesson 06's panel: how much memory a KV cache takes, beside the weights."""

import ipywidgets

from utils.counting import gpt_params, kv_cache_bytes
from utils.plots.cache import cache_beside_weights
from utils.widgets.panel import WIDE, Panel, size_slider
from utils.widgets.width_explorer import PRESETS, ladder

MODELS = [name for name in PRESETS if not name.startswith("GPT-3")] + ["GPT-3 175B"]
PRECISIONS = {"float32": 4, "bfloat16": 2}  # bytes of one number


class CacheExplorer(Panel):
    """Choose a model and what it reads: see when the keys and values outgrow the weights.

    Controls: model, context (tokens in the cache, of each sequence), batch (sequences), precision (of both).
    A context beyond the model's is counted all the same, and the picture says so.
    """

    def __init__(self):
        self.model = ipywidgets.Dropdown(options=MODELS, value="GPT-2 small", description="model", style=WIDE)
        self.context = size_slider(ladder(131_072), 1_024, "context, tokens")
        self.batch = size_slider(ladder(1_024), 1, "batch, sequences")
        self.precision = ipywidgets.Dropdown(options=[*PRECISIONS], description="precision", style=WIDE)
        super().__init__([self.model, self.context, self.batch, self.precision])

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        sizes, bytes_each = PRESETS[self.model.value], PRECISIONS[self.precision.value]
        weights = bytes_each * gpt_params(sizes["vocabulary"], sizes["context"], sizes["width"], sizes["layers"])
        cache = kv_cache_bytes(sizes["layers"], sizes["width"], self.context.value, self.batch.value, bytes_each)
        room = sizes["context"]
        note = f"{self.model.value} has positions for {room:,} tokens only" if self.context.value > room else ""
        return cache_beside_weights(weights, cache, note), self._sentence(weights, cache)

    def _sentence(self, weights, cache):
        return (
            f"{self.model.value}, {self.batch.value:,} × {self.context.value:,} tokens, {self.precision.value}: "
            f"cache {cache:,} bytes, weights {weights:,} bytes"
        )
