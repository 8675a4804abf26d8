"""Lesson 09's panel: what rotary positions do to a query and a key."""

import ipywidgets
import torch

from utils.llama import rotate, rotation, speeds
from utils.plots.llama import turning_pairs
from utils.widgets.panel import LONG, WIDE, Panel

D_HEAD, DISTANCES = 16, 64
THETAS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


class RotaryExplorer(Panel):
    """Move a query and a key: every pair of their numbers turns, and the score depends on the distance alone.

    Both begin as the same vector, of 8 pairs that point to the right. Controls: key, the key's position; distance,
    how far behind it the query stands; theta: the larger, the slower the later pairs turn.
    """

    def __init__(self):
        self.key = ipywidgets.IntSlider(5, 0, 1_000, description="key's position", style=WIDE, layout=LONG)
        self.distance = ipywidgets.IntSlider(3, 0, DISTANCES - 1, description="distance", style=WIDE, layout=LONG)
        options = [(f"{theta:,}", theta) for theta in THETAS]
        self.theta = ipywidgets.SelectionSlider(
            options=options, value=10_000, description="theta", style=WIDE, layout=LONG
        )
        super().__init__([self.key, self.distance, self.theta])

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        key, distance, theta = self.key.value, self.distance.value, self.theta.value
        scores = scores_from(key, theta)
        fig = turning_pairs(speeds(D_HEAD, theta).tolist(), key + distance, key, scores)
        same = torch.allclose(scores, scores_from(0, theta), atol=1e-3)
        where = "the same as from position 0" if same else "not the same as from position 0"
        sentence = (
            f"Query at {key + distance}, key at {key}: distance {distance}, score {scores[distance]:.2f}, {where}"
        )
        return fig, sentence


def scores_from(key, theta) -> torch.Tensor:
    """Scores (64,) of a query at each distance behind a key, of two vectors that are equal before they are turned."""
    vector = torch.cat([torch.ones(D_HEAD // 2), torch.zeros(D_HEAD // 2)]).expand(DISTANCES, -1)  # (64, d_head)
    queries = rotate(vector, *rotation(key, DISTANCES, D_HEAD, theta))  # (64, d_head), at key, key + 1 …
    return queries @ rotate(vector[:1], *rotation(key, 1, D_HEAD, theta))[0]  # (64,)
