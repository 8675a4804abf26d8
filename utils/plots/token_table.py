"""Lesson 01's pictures: the token table, its two jobs, what sharing it saves and how its gradient comes about."""

import matplotlib
import numpy as np
from matplotlib.patches import Rectangle

from utils.plots.style import BLUE, DIVERGING, GREY, ORANGE, RED, label, new_figure, styled

SHADES = matplotlib.colormaps[DIVERGING].with_extremes(bad="#DDDDDD")


def _heat(ax, values, limit, number=".1f"):
    """A matrix as coloured cells, with its numbers written in by the format `number`, unless that is None."""
    image = ax.imshow(values, cmap=SHADES, vmin=-limit, vmax=limit, aspect="auto")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    if number:
        for (row, column), value in np.ndenumerate(values):
            if np.isnan(value):
                continue
            colour = "white" if abs(value) > 0.7 * limit else "black"
            ax.text(column, row, f"{value:{number}}", ha="center", va="center", fontsize=10, color=colour)
    return image


def _outline(ax, row, width):
    """A frame around one row of a heat map."""
    frame = Rectangle((-0.5, row - 0.5), width, 1, fill=False, edgecolor=RED, linewidth=3, clip_on=False)
    ax.add_patch(frame)


@styled
def table(values, tokens, columns=None, picked=None, number=".1f", sides=("", "")):
    """A table as a heat map, one row for each token; `picked` outlines a row.

    values (V, d), NaN for a grey cell; tokens: V strings, columns: d strings or None; number: the format of what is
    written into the cells, if there are at most 16 columns; sides: what the rows and the columns are -> Figure.
    """
    values = np.asarray(values, dtype=float)
    fig = new_figure(8, 0.36 * len(tokens) + 1)
    ax = fig.add_axes((0.18, 0.10, 0.80, 0.76) if any(sides) else (0.14, 0.06, 0.84, 0.80))
    ax.set_ylabel(sides[0])
    ax.set_xlabel(sides[1])
    _heat(ax, values, np.nanmax(np.abs(values)), number=number if values.shape[1] <= 16 else None)
    ax.set_yticks(range(len(tokens)), [label(token) for token in tokens])
    ax.set_xticks(range(len(columns or [])), columns or [])
    ax.xaxis.tick_top()
    if picked is not None:
        _outline(ax, picked, values.shape[1])
    return fig


@styled
def look_up(values, tokens, picked):
    """The way in as a product: a one-hot row, times the table, is the picked row.

    values (V, d), tokens: V strings, picked: a row's number -> Figure.
    """
    values = np.asarray(values, dtype=float)
    n_rows, width = values.shape
    limit = np.abs(values).max()
    one_hot = np.eye(n_rows)[picked]
    fig = new_figure(9, 0.34 * n_rows + 1.1)
    left = fig.add_axes((0.02, 0.40, 0.33, 0.10))
    middle = fig.add_axes((0.49, 0.05, 0.20, 0.82))
    right = fig.add_axes((0.77, 0.40, 0.21, 0.10))
    _heat(left, one_hot[None], 1, ".0f")
    _heat(middle, values, limit)
    _heat(right, values[picked][None], limit)
    _outline(left, 0, n_rows)
    _outline(middle, picked, width)
    _outline(right, 0, width)
    middle.set_yticks(range(n_rows), [label(token) for token in tokens])
    left.set_title(f"one-hot (1, {n_rows})")
    middle.set_title(f"table ({n_rows}, {width})")
    right.set_title(f"row (1, {width})")
    for ax in (left, middle, right):
        ax.set_xticks([])
    for ax in (left, right):
        ax.set_yticks([])
    fig.text(0.365, 0.45, "×", fontsize=22, va="center")
    fig.text(0.715, 0.45, "=", fontsize=22, va="center")
    return fig


@styled
def scores(vector, values, tokens, columns=None):
    """The way out: a vector above, the table below it column by column, and each row's dot product as a bar.

    vector (d,), values (V, d), tokens: V strings, columns: d strings or None -> Figure.
    """
    vector, values = np.asarray(vector, dtype=float), np.asarray(values, dtype=float)
    limit = np.abs(values).max()  # the table keeps its colours; a longer vector is as dark as can be
    fig = new_figure(9, 0.36 * len(tokens) + 1.9)
    above = fig.add_axes((0.16, 0.83, 0.38, 0.09))
    below = fig.add_axes((0.16, 0.12, 0.38, 0.64))
    bars = fig.add_axes((0.57, 0.12, 0.40, 0.64))
    _heat(above, vector[None], limit)
    _heat(below, values, limit)
    above.set_yticks([0], ["vector"])
    above.set_xticks(range(len(columns or [])), columns or [])
    above.xaxis.tick_top()
    below.set_yticks(range(len(tokens)), [label(token) for token in tokens])
    below.set_xticks([])
    _bars(bars, values @ vector, tokens, int((values @ vector).argmax()), "score: vector · row")
    bars.set_yticks([])
    bars.set_ylim(len(tokens) - 0.5, -0.5)
    return fig


def _bars(ax, values, tokens, best, unit):
    colours = [ORANGE if row == best else BLUE for row in range(len(values))]
    ax.barh(range(len(values)), values, color=colours)
    ax.set_yticks(range(len(values)), [label(token) for token in tokens])
    ax.invert_yaxis()
    ax.axvline(0, color=GREY, linewidth=1)
    ax.set_xlabel(unit)
    ax.margins(y=0.02)


@styled
def token_probs(probs, tokens):
    """The likeliest tokens and their probabilities, as bars. probs (k,), likeliest first -> Figure."""
    height = 0.34 * len(tokens) + 0.75
    fig = new_figure(8, height)
    ax = fig.add_axes((0.16, 0.65 / height, 0.80, 1 - 0.7 / height))  # 0.65 inches for the axis below
    _bars(ax, np.asarray(probs, dtype=float), tokens, 0, "probability")
    ax.locator_params(axis="x", nbins=5)
    return fig


@styled
def explorer(table_values, tokens, picked):
    """Table explorer: the picked token's row above, its score with every row below. table_values (V, d)."""
    values = np.asarray(table_values, dtype=float)
    row, width = values[picked], values.shape[1]
    fig = new_figure(8, 5.2)
    above = fig.add_axes((0.12, 0.87, 0.84, 0.06))
    below = fig.add_axes((0.12, 0.11, 0.84, 0.64))
    _heat(above, row[None], np.abs(values).max(), ".3f" if width <= 8 else None)
    above.set_yticks([0], [label(tokens[picked])])
    above.set_xticks([])
    above.set_title(f"the row of {label(tokens[picked])}: {width:,} numbers")
    _bars(below, values @ row, tokens, picked, "score of every token against this row")
    return fig


@styled
def family_shares(names, of_tied, of_untied):
    """What the token table weighs, on two bases. names: models; of_tied, of_untied: fractions -> Figure."""
    fig = new_figure(8, 3.8)
    ax = fig.add_axes((0.10, 0.13, 0.88, 0.80))
    places = np.arange(len(names))
    for shift, shares, colour, base in ((-0.2, of_tied, BLUE, "tied"), (0.2, of_untied, ORANGE, "untied")):
        bars = ax.bar(places + shift, 100 * np.asarray(shares), 0.38, color=colour, label=f"of the {base} model")
        ax.bar_label(bars, fmt="%.1f", fontsize=11)
    ax.set_xticks(places, names)
    ax.set_ylabel("one token table, in %")
    ax.legend(frameon=False)
    return fig


@styled
def drift(copied, shared):
    """How far head and table are apart after each optimizer step. Two lists of the largest difference -> Figure."""
    fig = new_figure(8, 3.4)
    ax = fig.add_axes((0.12, 0.17, 0.86, 0.78))
    ax.plot(copied, color=ORANGE, marker="o", label="copied: two tables")
    ax.plot(shared, color=BLUE, marker="o", label="shared: one Parameter")
    ax.set_xticks(range(len(copied)))
    ax.set_xlabel("optimizer steps")
    ax.set_ylabel("largest difference")
    ax.legend(frameon=False)
    return fig


@styled
def gradient_parts(way_in, way_out, tied, tokens):
    """Three heat maps: the look-up's gradient, the head's, and the tied table's, which is their sum.

    Each (V, d); tokens: V strings -> Figure.
    """
    parts = [np.asarray(part, dtype=float) for part in (way_in, way_out, tied)]
    limit = max(np.abs(part).max() for part in parts)
    fig = new_figure(9, 0.30 * len(tokens) + 1.2)
    for place, part, title in zip((0.11, 0.42, 0.73), parts, ("way in", "way out", "shared table"), strict=True):
        ax = fig.add_axes((place, 0.05, 0.25, 0.82))
        _heat(ax, part, limit, None)
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks(range(len(tokens)), [label(token) for token in tokens] if place < 0.2 else [])
    fig.text(0.385, 0.46, "+", fontsize=22, ha="center", va="center")
    fig.text(0.695, 0.46, "=", fontsize=22, ha="center", va="center")
    fig.text(0.98, 0.02, "purple: above 0, orange: below 0, white: 0", fontsize=11, ha="right", va="center")
    return fig
