"""Lesson 02's pictures of a model at work: where a word looks, and what the residual stream says after each block."""

import matplotlib
import numpy as np
from matplotlib.patches import Rectangle

from utils.plots.style import BLUE, GREEN, GREY, MONOSPACED, RED, label, new_figure, styled

SHADES = matplotlib.colormaps["Blues"].with_extremes(bad="#F0F0F0")
DEEPEST = 0.85  # a weight of 1 leaves the letters readable
PER_LINE = 66  # letters of a story in one line
LINES = 3  # lines that a story has room for; longer ones stand closer


@styled
def attention(words, weights, picked):
    """Where each word looks, for one head: the story with the picked word's weights as shades, and the whole map.

    words: T strings, or one more for the word that follows; weights (T, T), a row for each word that looks; picked: a
    row's number -> Figure.
    """
    weights = np.asarray(weights, dtype=float)
    fig = new_figure(8.6, 6.6)
    _story(fig, 5.4 / 6.6, 1.15 / 6.6, words, picked, weights[picked])
    ax = fig.add_axes((0.13, 0.05, 0.765, 0.62))
    future = np.triu(np.ones_like(weights, dtype=bool), 1)
    _map(ax, np.ma.masked_array(weights, future))
    for number, word in enumerate(words[: len(weights)]):  # plain text is drawn faster than tick labels
        size = min(12, 290 / len(weights))  # points: as large as a row is high
        above, left = {"transform": ax.get_xaxis_transform()}, {"transform": ax.get_yaxis_transform()}
        ax.text(number, 1.01, label(word), rotation=90, fontsize=size, ha="center", va="bottom", **above)
        ax.text(-0.01, number, label(word), fontsize=size, ha="right", va="center", **left)
    ax.set_xlabel("word looked at")
    fig.text(0.02, 0.36, "word that looks", rotation=90, ha="center", va="center")
    ax.add_patch(_frame(-0.5, picked - 0.5, len(weights), 1, RED))
    scale = fig.add_axes((0.905, 0.05, 0.018, 0.62))
    _map(scale, np.linspace(1, 0, 101)[:, None])
    scale.set_yticks([0, 100], ["1", "0"])
    scale.yaxis.tick_right()
    scale.yaxis.set_label_position("right")
    scale.set_ylabel("attention weight", labelpad=-8)
    return fig


def _map(ax, shares):
    """Shares from 0 to 1 as shades."""
    ax.imshow(shares, cmap=SHADES, vmin=0, vmax=1 / DEEPEST, aspect="auto")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


@styled
def lens(words, picked, probs, vocab, following=None, shown=5):
    """What the model would say after the picked word, if it ended after each block: the likeliest tokens of each row.

    words: strings; picked: a word's number; probs (L + 1, V); vocab: V strings; following: the id of the token that
    follows in truth, framed where it appears and given a column of its own, or None -> Figure.
    """
    probs = np.asarray(probs, dtype=float)
    height = 2.0 + 0.75 * len(probs)  # inches, as below
    fig = new_figure(8.6, height)
    _story(fig, 1 - 1.2 / height, 1.15 / height, words, picked)
    ax = fig.add_axes((0.2, 0.02, 0.78, 1 - 1.9 / height))
    ax.set(xlim=(0, shown + 1.1), ylim=(len(probs), 0))
    ax.axis("off")
    for row, of_row in enumerate(probs):
        ax.text(-0.1, row + 0.5, _depth(row, len(probs)), ha="right", va="center")
        for column, token in enumerate(np.argsort(-of_row, kind="stable")[:shown]):
            _cell(ax, column, row, of_row[token], vocab[token], GREEN if token == following else None)
        if following is not None:
            _cell(ax, shown + 0.1, row, of_row[following], vocab[following], GREEN)
    ax.text(shown / 2, -0.12, "likeliest next words and their probabilities", ha="center", va="bottom")
    ax.text(shown + 0.6, -0.12, "" if following is None else "in the story", ha="center", va="bottom", color=GREEN)
    return fig


def ranks(probs, token):
    """The place of a token among all, from 1 for the likeliest, in each row: probs (L + 1, V) -> (L + 1,)."""
    return (probs > probs[:, [token]]).sum(1) + 1  # (L + 1,)


@styled
def lens_by_rank(words, picked, probs, vocab, following=None):
    """How far from the top the model's final answer stands after each block, and what is at the top there.

    For models with many blocks. words: strings; picked: a word's number; probs (L + 1, V); vocab: V strings;
    following: the id of the token that follows in truth, drawn as well if it is not the answer, or None -> Figure.
    """
    probs = np.asarray(probs, dtype=float)
    fig = new_figure(8.6, 6.4)
    _story(fig, 5.2 / 6.4, 1.15 / 6.4, words, picked)
    ax = fig.add_axes((0.11, 0.27, 0.86, 0.51))
    answer, rows = int(probs[-1].argmax()), np.arange(len(probs))
    lines = [(answer, BLUE, "the answer")]
    lines += [(following, GREEN, "in the text")] if following not in (None, answer) else []
    for token, colour, what in lines:
        name = f"{label(vocab[token])}: {what}"
        ax.plot(rows, ranks(probs, token), color=colour, marker="o", markersize=4, label=name)
    ax.set_yscale("log")
    ax.set_ylim(probs.shape[1], 0.8)
    ax.set_ylabel("rank among all tokens")
    best = [label(vocab[token]) for token in probs.argmax(axis=1)]
    ax.set_xticks(rows, [f"{word[:14]}  {row - 1 if row else 'in'}" for row, word in enumerate(best)], rotation=90)
    ax.tick_params(axis="x", labelsize=9)
    ax.set_xlabel("at the top after each block (in: before block 0)")
    ax.legend(frameon=False, loc="upper left")
    return fig


def _depth(row, rows):
    """The name of a row: how far the model has come."""
    if row == 0:
        return "before\nblock 0"
    return f"after block {row - 1}" + ("\n= the output" if row == rows - 1 else "")


def _cell(ax, x, y, prob, token, edge):
    ax.add_patch(Rectangle((x + 0.03, y + 0.06), 0.94, 0.88, facecolor=SHADES(DEEPEST * prob)))
    if edge:
        ax.add_patch(_frame(x + 0.03, y + 0.06, 0.94, 0.88, edge))
    ink = _ink(prob)
    ax.text(x + 0.5, y + 0.34, label(token), ha="center", va="center", fontsize=13, color=ink)
    ax.text(x + 0.5, y + 0.70, f"{prob:.2f}", ha="center", va="center", fontsize=12, color=ink)


def _story(fig, bottom, height, words, picked, shares=()):
    """The words as running text: the picked one framed, those after it grey, all shaded by `shares`."""
    places = _places(words)
    ax = fig.add_axes((0.015, bottom, 0.97, height))
    ax.axis("off")
    ax.set(xlim=(-1, PER_LINE + 1), ylim=(max(LINES, places[-1][1] + 1) - 0.5, -0.6))
    for number, (word, (x, y)) in enumerate(zip(words, places, strict=True)):
        share = shares[number] if number < len(shares) else 0.0
        box = x - len(word) / 2 - 0.4, y - 0.4, len(word) + 0.8, 0.8
        if share:
            ax.add_patch(Rectangle(box[:2], *box[2:], facecolor=SHADES(DEEPEST * share)))
        if number == picked:
            ax.add_patch(_frame(*box, RED))
        ink = GREY if number > picked else _ink(share)
        ax.text(x, y, label(word), family=MONOSPACED, fontsize=13, ha="center", va="center", color=ink)


def _places(words):
    """Where each word stands, in letters of one width, so that nothing has to be measured -> (its middle, its line)."""
    places, column, line = [], 0, 0
    for word in words:
        if column + len(word) > PER_LINE:
            column, line = 0, line + 1
        places.append((column + len(word) / 2, line))
        column += len(word) + 1
    return places


def _frame(x, y, width, height, colour):
    return Rectangle((x, y), width, height, fill=False, edgecolor=colour, linewidth=2.5, clip_on=False)


def _ink(share):
    """Letters that can be read on a shade."""
    return "white" if share > 0.6 else "black"
