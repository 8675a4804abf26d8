"""Lesson 04's first picture: the same scores at several temperatures."""

import numpy as np

from utils.plots.style import BLUE, GREEN, ORANGE, label, new_figure, styled


@styled
def temperatures(tokens, probs):
    """Probabilities of the same tokens at up to three temperatures, side by side.

    tokens: k strings, likeliest first; probs: temperature -> (k,) -> Figure.
    """
    fig = new_figure(8, 3.6)
    ax = fig.add_axes((0.09, 0.13, 0.89, 0.83))
    places, width = np.arange(len(tokens)), 0.8 / len(probs)
    for number, (temperature, values) in enumerate(probs.items()):
        shift = (number - (len(probs) - 1) / 2) * width
        colour = (BLUE, ORANGE, GREEN)[number]
        ax.bar(places + shift, np.asarray(values), width, color=colour, label=f"temperature {temperature}")
    ax.set_xticks(places, [label(token) for token in tokens])
    ax.set_ylabel("probability")
    ax.legend(frameon=False)
    return fig
