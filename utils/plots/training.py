"""How a loss falls, and towards what; and any few lines side by side."""

import numpy as np

from utils.plots.style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, styled, writable

FEW = 4  # places that are named one by one
KIND_COLOURS = {"choice": ORANGE, "copied": RED, "forced": GREEN}


def smoothed(values, window):
    """Running mean over at most `window` values, ending at each place -> as many values."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    return (sums[ends] - sums[starts]) / (ends - starts)


@styled
def losses(history, floor=None, smoothing=1):
    """Training loss of every step, validation loss, and the entropy floor as a line.

    history: a utils.training.History; floor: nats per token or None; smoothing: steps averaged -> Figure.
    """
    fig = new_figure(8, 3.6)
    ax = fig.add_axes((0.10, 0.16, 0.87, 0.80))
    steps = np.arange(1, len(history.train_loss) + 1)
    ax.plot(steps, smoothed(history.train_loss, smoothing), color=BLUE, linewidth=1, label="training")
    if history.valid_loss:
        ax.plot(history.valid_steps, history.valid_loss, color=ORANGE, marker="o", label="held out")
    _floor(ax, floor)
    _finish(ax)
    if not history.train_loss:
        ax.set(xlim=(0, 100), ylim=(0, 6))  # an empty picture of losses, and not of nothing around 0
    return fig


@styled
def losses_by_kind(history, floor=None):
    """The held-out loss, split by kind of token: one line a kind. -> Figure."""
    fig = new_figure(8, 3.6)
    ax = fig.add_axes((0.10, 0.16, 0.87, 0.80))
    for kind, values in history.by_kind.items():
        name, colour = writable(f"{kind} words"), KIND_COLOURS.get(kind, BLUE)
        ax.plot(history.valid_steps, values, color=colour, marker="o", label=name)
    ax.plot(history.valid_steps, history.valid_loss, color=BLUE, marker="o", label="all words")
    _floor(ax, floor)
    _finish(ax)
    return fig


@styled
def compared(
    places, lines, unit="held-out loss, nats per token", against="steps", floor=None, log=False, doubling=False
):
    """Several lines in one picture. lines: name -> one value for each of places, along the axis `against` -> Figure.

    log: whether the values are on a logarithmic axis, for what spans powers of ten. doubling: the same for the places,
    for powers of two.
    Raises ValueError for more lines than the palette has colours.
    """
    colours = (BLUE, ORANGE, RED, GREEN)
    if len(lines) > len(colours):
        raise ValueError(f"compared was given {len(lines)} lines; give at most {len(colours)}, one for each colour.")
    fig = new_figure(8, 3.6)
    ax = fig.add_axes((0.10, 0.16, 0.87, 0.80))
    for (name, values), colour in zip(lines.items(), colours, strict=False):
        ax.plot(places, values, color=colour, marker="o", label=name)
    _floor(ax, floor)
    _finish(ax, unit, against, log)
    if doubling:
        ax.set_xscale("log", base=2)
        ax.minorticks_off()
    if doubling or len(places) <= FEW:
        ax.set_xticks(places, [f"{place:,}" for place in places])
    return fig


def _floor(ax, floor):
    if floor is not None:
        ax.axhline(floor, color=GREY, linestyle="--", label=f"entropy floor {floor:.2f}")


def _finish(ax, unit="loss, nats per token", against="steps", log=False):
    ax.set_xlabel(against)
    ax.set_ylabel(unit)
    if log:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False)
