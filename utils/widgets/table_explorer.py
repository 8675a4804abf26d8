"""Lesson 01's panel: one token's row, its score with every row, and what sharing the table saves."""

import ipywidgets
import torch

from utils.counting import tying_saving
from utils.plots.token_table import explorer
from utils.ten_words import TOKENS
from utils.widgets.panel import LONG, WIDE, Panel

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1280, 1600)
VOCABULARIES = (("ten words", 10), ("course model: 200", 200), ("GPT-2: 50,257", 50_257))


def random_rows(width, seed=115):
    """Ten rows as a fresh GPT has them: normal numbers with standard deviation 0.02 -> (10, width).

    This seed is one of those in which a row's lead grows with every step of the width, as it does on average.
    """
    return 0.02 * torch.randn(len(TOKENS), width, generator=torch.Generator().manual_seed(seed))


class TableExplorer(Panel):
    """Pick a token and a width: see that a row matches itself best, the more clearly the wider the table.

    Controls: token, width, vocabulary (for the size only: the picture shows ten rows).
    """

    def __init__(self):
        self.token = ipywidgets.Dropdown(options=TOKENS, description="token", style=WIDE)
        self.width = ipywidgets.SelectionSlider(
            options=WIDTHS, value=64, description="width d", style=WIDE, layout=LONG
        )
        self.vocabulary = ipywidgets.Dropdown(options=VOCABULARIES, value=200, description="vocabulary V", style=WIDE)
        super().__init__([self.token, self.width, self.vocabulary])

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        rows = random_rows(self.width.value)
        picked = TOKENS.index(self.token.value)
        return explorer(rows, TOKENS, picked), self._sentence(rows @ rows[picked], picked)

    def _sentence(self, scores, picked):
        own = scores[picked].item()
        rival = scores[torch.arange(len(scores)) != picked].max().item()
        width, vocabulary = self.width.value, self.vocabulary.value
        return (
            f"{self.token.value}, d={width:,}: {own:.4f} with itself, {rival:.4f} with its best rival; "
            f"sharing saves V·d = {tying_saving(vocabulary, width):,}"
        )
