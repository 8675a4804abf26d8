"""Lesson 04's pictures: the temperature, what the filters leave of the probabilities, how a number draws a token."""

import textwrap

import numpy as np
from matplotlib.collections import PolyCollection

from utils.plots.style import BLUE, GREEN, GREY, MONOSPACED, ORANGE, RED, label, new_figure, styled

LINES, COLUMNS = 3, 76  # room for text in a monospaced font of 13 points
HARD_SPACE = "\N{NO-BREAK SPACE}"  # a browser would run several of the other kind together
THIN = 0.002  # a narrower part of the strip would not be seen
LETTER = 0.013  # width of a letter on the strip, of the strip's length


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


@styled
def filtered(tokens, before, after, others, title="", settings=""):
    """What top-k and top-p leave: probabilities before them as outlines, after them as filled bars.

    tokens: k strings, from the top; before, after (k,); others: how many more tokens share what is missing from a
    sum of 1, shown as the last bar; title: what the picture is of; settings: temperature and filters in words
    -> Figure, of one size for the same k.
    """
    height = 0.33 * len(tokens) + 1.7
    fig = new_figure(8, height)
    ax = fig.add_axes((0.17, 0.6 / height, 0.80, 1 - 1.4 / height))  # in inches: 0.6 for the axis, 0.8 for the title
    names, (before, after) = _with_rest(tokens, others, before, after)
    _bars(ax, after, color=BLUE, label="after top-k and top-p")
    _bars(ax, before, facecolor="none", edgecolor="black", linewidth=1.2, label="before")
    _numbers(ax, after, np.maximum(before, after))
    _finish(ax, names, settings)
    fig.text(0.02, 1 - 0.25 / height, title, fontsize=13, va="center", parse_math=False)
    fig.legend(loc="upper right", bbox_to_anchor=(0.985, 1 - 0.35 / height), ncols=2, frameon=False)
    return fig


def _with_rest(tokens, others, *rows):
    """Names and rows (k,), each with one more entry: the other tokens together, so that a row sums to 1."""
    rows = [np.asarray(row, dtype=float) for row in rows]
    rests = [np.append(row, max(0.0, 1 - row.sum())) for row in rows]
    return [*map(label, tokens), f"{others} others"], rests


def _bars(ax, values, **style):
    """One horizontal bar for each value, from the top: one artist, which is drawn faster than as many rectangles."""
    corners = [[(0, y - 0.4), (value, y - 0.4), (value, y + 0.4), (0, y + 0.4)] for y, value in enumerate(values)]
    ax.add_collection(PolyCollection(corners, **style), autolim=False)


def _numbers(ax, values, ends):
    for row, (value, end) in enumerate(zip(values, ends, strict=True)):
        ax.text(end + 0.01, row, f"{value:.3f}" if value else "0", va="center", color="black" if value else GREY)


def _finish(ax, names, settings):
    for row, name in enumerate(names):  # plain text is drawn faster than tick labels
        ax.text(-0.01, row, name, ha="right", va="center")
    ax.set_yticks([])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, 1.1)  # fixed, so that bars can be compared between settings; room for a number behind 1
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.spines["bottom"].set_bounds(0, 1)
    ax.set_xlabel(f"probability of the next token   {settings}")


@styled
def one_draw(text, seen_from, probs, vocab, bars, u=None, drawn=None, settings=""):
    """One step of generation: the text so far, the cumulative probabilities with the random number, the bars.

    text: the tokens so far, with their spaces, the drawn one last; seen_from: where the model's context begins in it;
    probs (V,): from what the step draws; vocab: V strings; bars: ids from the top, the last one gives way to a drawn
    token that is not among them; u: the random number, 0 <= u < 1, and drawn: the id it falls on, or None for both
    before the draw; settings: temperature and filters in words -> Figure, of one size for the same number of bars.
    """
    probs = np.asarray(probs, dtype=float)
    fig = new_figure(9, 0.33 * len(bars) + 3.45)
    height = fig.get_size_inches()[1]
    _text(fig, text, seen_from, newest=drawn is not None)
    strip = fig.add_axes((0.03, 1 - 1.75 / height, 0.94, 0.36 / height))
    _strip(strip, probs, vocab, drawn)
    _mark(strip, vocab, u, drawn)
    bars = bars if drawn is None or drawn in bars else [*bars[:-1], drawn]
    ax = fig.add_axes((0.15, 0.6 / height, 0.80, (0.33 * len(bars) + 0.33) / height))
    names, (values,) = _with_rest([vocab[token] for token in bars], len(probs) - len(bars), probs[bars])
    _bars(ax, values, color=[RED if token == drawn else BLUE for token in bars] + [BLUE])
    _numbers(ax, values, values)
    _finish(ax, names, settings)
    return fig


def _text(fig, tokens, seen_from, newest):
    """The last lines of the text: grey what the model does not see any more, red what was drawn last."""
    tokens = ["".join(" " if letter.isspace() else letter for letter in token) for token in tokens]
    colours = [GREY] * seen_from + ["black"] * (len(tokens) - seen_from)
    if newest:
        colours[-1] = RED
    for colour in set(colours):
        shown = "\n".join(_masked(tokens, [own == colour for own in colours]))
        weight = "bold" if colour == RED else "normal"
        font = {"family": MONOSPACED, "fontsize": 13, "linespacing": 1.25, "weight": weight}
        top = 1 - 0.1 / fig.get_size_inches()[1]
        fig.text(0.03, top, shown, color=colour, va="top", parse_math=False, **font)


def _masked(tokens, wanted):
    """Lines of the text in which all but the wanted tokens are blank, so that colours can lie over each other."""
    whole = "".join(tokens)
    masked = "".join(part if show else HARD_SPACE * len(part) for part, show in zip(tokens, wanted, strict=True))
    lines, at = [], 0
    for line in textwrap.wrap(whole, COLUMNS):
        at = whole.index(line, at)
        lines.append(masked[at : at + len(line)].replace(" ", HARD_SPACE))
        at += len(line)
    if len(lines) <= LINES:
        return lines
    first = lines[-LINES]
    dots = HARD_SPACE if first[0] == HARD_SPACE else "…"  # in one colour only
    return [f"{dots}{HARD_SPACE}{first}", *lines[1 - LINES :]]


def _strip(ax, probs, vocab, drawn):
    ends = probs.cumsum() / probs.sum()
    starts = np.append(0, ends[:-1])
    ax.set_facecolor("#DDDDDD")  # the thin parts together
    wide = np.flatnonzero(probs >= THIN)
    colours = [RED if token == drawn else BLUE for token in wide]
    ax.broken_barh([(starts[t], ends[t] - starts[t]) for t in wide], (0, 1), facecolors=colours, edgecolors="white")
    for token in wide:
        if ends[token] - starts[token] > LETTER * (len(vocab[token]) + 1):
            middle, colour = (starts[token] + ends[token]) / 2, "black" if token == drawn else "white"
            ax.text(middle, 0.47, label(vocab[token]), ha="center", va="center", color=colour)
    ax.set(xlim=(0, 1), ylim=(0, 1), yticks=[], xlabel="cumulative probability, tokens in the order of their ids")


def _mark(ax, vocab, u, drawn):
    """The random number as an arrow from above, with the token that it falls on."""
    if u is None:
        return
    ax.plot([u, u], [0, 1], color="black", linewidth=2)
    ax.plot([u], [1.12], color="black", marker="v", markersize=9, clip_on=False)
    side = "left" if u < 0.15 else "right" if u > 0.85 else "center"
    ax.text(u, 1.35, f"u = {u:.3f} falls on {label(vocab[drawn])}", ha=side, va="bottom")
