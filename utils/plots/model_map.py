"""Lesson 02's pictures of the whole: the map of a model, drawn from its tensors, and the line from text to text."""

from itertools import pairwise
from typing import NamedTuple

from matplotlib.patches import Circle, FancyBboxPatch

from utils import validate
from utils.counting import ledger, meta_model
from utils.model import GPT, GPTConfig
from utils.plots.style import BLUE, GREEN, GREY, ORANGE, RED, new_figure, styled

PALE = {BLUE: "#D9EAF5", ORANGE: "#FCEBC8", GREEN: "#D2EDE3", GREY: "#EFEFEF", RED: "#FFFFFF"}
INK = "#222222"
LINE = 0.205  # from line to line in a box, inches


class Part(NamedTuple):
    """A box of the map: the module's name, its weights' shapes (one a line), its number of parameters."""

    name: str
    shapes: str
    count: int


def parts(cfg_or_model) -> dict[str, Part]:
    """The boxes of the map, read from tensors: wte, wpe, ln_f, lm_head, and ln_1, attn, ln_2, mlp of the first block.

    A GPTConfig is built without memory first. The count of a tied lm_head is 0: its numbers are those of wte.
    Raises TypeError for anything else.
    """
    model = _model(cfg_or_model)
    modules = dict([*model.named_children(), *model.h[0].named_children()])
    del modules["h"]
    found = {
        name: Part(name, _shapes(module), sum(p.numel() for p in module.parameters()))
        for name, module in modules.items()
    }
    if model.lm_head.weight is model.wte.weight:
        found["lm_head"] = found["lm_head"]._replace(count=0)
    return found


def _model(cfg_or_model):
    if isinstance(cfg_or_model, GPTConfig):
        return meta_model(cfg_or_model)
    validate.instance("cfg_or_model", cfg_or_model, GPT)
    validate.instance("cfg_or_model.config", cfg_or_model.config, GPTConfig)  # a Llama has other boxes
    if not hasattr(cfg_or_model.lm_head, "weight"):
        kind = type(cfg_or_model.lm_head).__name__
        raise ValueError(f"the model's lm_head is of type {kind}, without weights; give a GPT with its own head.")
    return cfg_or_model


def _shapes(module):
    """The shapes of a module's weights; biases are in the count only."""
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters() if name.endswith("weight")}
    return "\n".join(f"{name.removesuffix('weight').strip('.')} {shape}".strip() for name, shape in shapes.items())


@styled
def model_map(cfg_or_model):
    """The whole model as boxes with the shapes and parameter counts of its tensors, from token ids to logits.

    cfg_or_model: a GPTConfig or a GPT -> Figure. A tied token table is drawn once, with its way in and its way out.
    Raises TypeError for anything else.
    """
    model = _model(cfg_or_model)
    config, boxes = model.config, parts(model)
    fig = new_figure(8, 8.4)
    ax = _canvas(fig, 8, 8.4)
    total = sum(ledger(model).values())
    ax.text(7.85, 8.0, f"{total:,} parameters", fontsize=17, weight="bold", color=INK, ha="right")
    sizes = f"V = {config.vocab_size:,}, n = {config.n_ctx:,}, d = {config.n_embd:,}, L = {config.n_layer}"
    ax.text(7.85, 7.72, f"{sizes}, H = {config.n_head}", fontsize=10.5, color=INK, ha="right")
    _block(ax, boxes, config.n_layer)
    _ends(ax, boxes, config)
    _tables(ax, boxes)
    ax.text(7.85, 0.12, "bold: parameters, biases included", fontsize=10.5, color=GREY, ha="right")
    return fig


STREAM = 3.3  # the residual stream's place from left to right, in inches, as everything here


def _block(ax, boxes, n_layer):
    """One block, opened up: the stream on the left, and what each half adds to it on the right."""
    _box(ax, (2.6, 1.95, 5.25, 3.85), RED, edge=GREY)
    each = sum(boxes[name].count for name in ("ln_1", "attn", "ln_2", "mlp"))
    ax.text(6.8, 5.5, f"each block of h: {each:,}", fontsize=13, ha="right", va="center", color=INK)
    ax.text(7.65, 5.5, f"× {n_layer}", fontsize=18, weight="bold", ha="right", va="center", color=INK)
    _arrow(ax, (STREAM, 1.45), (STREAM, 6.05), width=3)
    ax.text(2.88, 3.87, "residual stream (B, T, d)", fontsize=11, ha="center", va="center", rotation=90, color=INK)
    halves = ((2.15, "ln_1", "attn", "attn: attention", BLUE), (3.85, "ln_2", "mlp", "mlp", GREEN))
    for bottom, norm, work, title, colour in halves:
        middle, top = bottom + 0.5, bottom + 1.27
        _arrow(ax, (STREAM, middle), (3.8, middle))
        _part(ax, (3.8, bottom + 0.1, 1.2, 0.8), GREY, boxes[norm])
        _arrow(ax, (5.0, middle), (5.35, middle))
        _part(ax, (5.35, bottom, 2.3, 1.0), colour, boxes[work], title)
        ax.plot([6.5, 6.5], [bottom + 1.0, top], color=INK, linewidth=1.5)
        _arrow(ax, (6.5, top), (STREAM + 0.14, top))
        _plus(ax, STREAM, top)


def _ends(ax, boxes, config):
    """What lies on the stream before and after the blocks."""
    _box(ax, (0.1, 0.1, 2.2, 0.5), RED, "token ids (B, T)")
    _arrow(ax, (1.2, 0.6), (1.2, 0.95))
    _part(ax, (4.6, 0.85, 2.3, 0.85), ORANGE, boxes["wpe"], "wpe: position table")
    _arrow(ax, (4.6, 1.3), (STREAM + 0.14, 1.3))
    _plus(ax, STREAM, 1.3)
    _part(ax, (2.6, 6.05, 1.4, 0.75), GREY, boxes["ln_f"])
    ax.plot([STREAM, STREAM], [6.8, 7.1], color=INK, linewidth=3)
    _arrow(ax, (1.2, 7.45), (1.2, 7.75))
    _box(ax, (0.1, 7.75, 2.2, 0.5), RED, f"logits (B, T, {config.vocab_size:,})")


def _tables(ax, boxes):
    """The token table: one tall box for both ways, or one box at each end."""
    for start, end, way in (((2.1, 1.3), (STREAM - 0.14, 1.3), "way in"), ((STREAM, 7.1), (2.1, 7.1), "way out")):
        _arrow(ax, start, end, colour=ORANGE, width=3)
        ax.text(2.62, end[1] + 0.18, way, fontsize=11, ha="center", va="center", color=INK)
    if boxes["lm_head"].count:
        _part(ax, (0.3, 0.95, 1.8, 1.5), ORANGE, boxes["wte"], "wte\ntoken table")
        _part(ax, (0.3, 5.95, 1.8, 1.5), ORANGE, boxes["lm_head"], "lm_head\nits own table")
        return
    _part(ax, (0.3, 0.95, 1.8, 6.5), ORANGE, boxes["wte"], "wte\ntoken table")
    for height, job in ((1.3, "one row\nfor each id"), (7.0, "lm_head is wte:\na score\nfor each row")):
        ax.text(1.2, height, job, fontsize=11, ha="center", va="center", color=INK)


def _canvas(fig, width, height):
    """Axes without lines, measured in inches."""
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return ax


def _box(ax, place, colour, text="", edge=None):
    x, y, width, height = place
    style = "round,pad=0,rounding_size=0.08"
    ax.add_patch(
        FancyBboxPatch((x, y), width, height, style, facecolor=PALE[colour], edgecolor=edge or INK, linewidth=1.5)
    )
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=12.5, color=INK)


def _part(ax, place, colour, part, title=None):
    """A Part's box: its name, its shapes, and its count in bold."""
    lines = (title or part.name, 13, "normal"), (part.shapes, 11, "normal"), (f"{part.count:,}", 13, "bold")
    _lines(ax, place, colour, *lines)


def _lines(ax, place, colour, *texts):
    """A box with texts below each other in its middle, each a (text, font size, weight)."""
    x, y, width, height = place
    _box(ax, place, colour)
    top = y + height / 2 + LINE * sum(text.count("\n") + 1 for text, *_ in texts) / 2
    for text, size, weight in texts:
        used = LINE * (text.count("\n") + 1)
        ax.text(x + width / 2, top - used / 2, text, fontsize=size, weight=weight, color=INK, ha="center", va="center")
        top -= used


def _plus(ax, x, y):
    ax.add_patch(Circle((x, y), 0.14, facecolor="white", edgecolor=INK, linewidth=1.5, zorder=3))
    ax.text(x, y - 0.01, "+", fontsize=15, ha="center", va="center", color=INK, zorder=4)


def _arrow(ax, start, end, colour=INK, width=1.5):
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=look, zorder=2)


# station: its place (column, row), colour, what it does, what leaves it
STATIONS = {
    "tokenizer": (0, 1, RED, "cuts the text\ninto pieces", "ids (B, T)"),
    "two tables": (1, 1, ORANGE, "a vector for\neach piece, and\na place sticker", "(B, T, d)"),
    "blocks × L": (2, 1, BLUE, "look at earlier\npieces, work on\nwhat is found", "(B, T, d)"),
    "final layer norm": (3, 1, GREY, "every vector\nto mean 0,\nspread 1", "(B, T, d)"),
    "head": (4, 1, ORANGE, "a score for\neach token", "(B, T, V)"),
    "softmax": (4, 0, RED, "probabilities\nfrom the scores\nof the last row", "(B, V)"),
    "choice": (3, 0, RED, "the likeliest,\nor a draw", "(B, 1)"),
    "append": (2, 0, RED, "the new piece\nis shipped and\njoins the line", "ids (B, T + 1)"),
    "tokenizer, back": (0, 0, RED, "joins the pieces\nat the end", "text"),
}
WIDE, HIGH = 1.7, 1.4  # a station's box, inches


@styled
def assembly_line():
    """From text to text: the stations that a piece of text passes, and the line that goes on with it. -> Figure."""
    fig = new_figure(10, 4.4)
    ax = _canvas(fig, 10, 4.4)
    corners = {name: (0.15 + 2 * column, 0.2 + 2.1 * row) for name, (column, row, *_) in STATIONS.items()}
    names = list(STATIONS)
    for name, (*_, colour, work, result) in STATIONS.items():
        _lines(ax, (*corners[name], WIDE, HIGH), colour, (name, 12, "bold"), (work, 11, "normal"), (result, 12, "bold"))
    for before, after in pairwise(names[:-1]):
        (x, y), (to, down) = corners[before], corners[after]
        if to == x:
            _arrow(ax, (x + WIDE / 2, y), (x + WIDE / 2, down + HIGH))
        else:
            _arrow(ax, (x + WIDE * (to > x), y + HIGH / 2), (to + WIDE * (to < x), y + HIGH / 2))
    (x, y), turn = corners["append"], corners["two tables"][0] + WIDE / 2
    _arrow(ax, (x, y + HIGH / 2), (corners["tokenizer, back"][0] + WIDE, y + HIGH / 2))
    _arrow(ax, (turn, y + HIGH / 2), (turn, corners["two tables"][1]), colour=ORANGE, width=3)
    ax.text(turn + 0.12, 1.95, "again", fontsize=13, va="center", color=INK)
    _arrow(ax, (1, 4.05), (1, 3.7))
    ax.text(1, 4.2, "text", fontsize=12, weight="bold", ha="center", va="center", color=INK)
    return fig
