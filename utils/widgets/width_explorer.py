"""Lesson 03's panel: four sizes, and where the parameters of such a model sit."""

import ipywidgets

from utils.counting import GPT2_FAMILY, GPT3_FAMILY, ledger
from utils.model import GPTConfig
from utils.plots.counting import explorer
from utils.pretrained import COURSE_MODEL
from utils.widgets.panel import WIDE, Panel, size_slider

SIZES = {"vocabulary": "vocab_size", "context": "n_ctx", "width": "n_embd", "layers": "n_layer"}
OWN = "own"


def _sizes(config):
    return {slider: getattr(config, name) for slider, name in SIZES.items()}


# name -> the four sizes of a model
PRESETS = {name: _sizes(config) for name, config in {"course model": COURSE_MODEL, **GPT2_FAMILY}.items()}
PRESETS |= {model: {slider: row[name] for slider, name in SIZES.items()} for model, row in GPT3_FAMILY.items()}


def ladder(high, presets=()):
    """Whole numbers from 1 to high, rising by at most 1/32, with the round numbers and the presets' among them."""
    steps = {rung << octave for rung in range(32, 64) for octave in range(high.bit_length() - 5)}
    round_numbers = {digit * 10**zeros for digit in range(1, 10) for zeros in range(len(str(high)))}
    return sorted(size for size in {*range(1, 32), *steps, *round_numbers, *presets} if size <= high)


WIDEST = 16_384
CURVE = sorted({round(WIDEST ** (step / 56)) for step in range(57)})  # the widths of the lower picture


def parameters(vocabulary, context, width, layers):
    """The ledger of a tied GPT-2 with these sizes. One head: their number does not change the count."""
    return ledger(GPTConfig(vocab_size=vocabulary, n_ctx=context, n_embd=width, n_layer=layers, n_head=1))


class WidthExplorer(Panel):
    """Move the width: see the model turn from mostly table to mostly blocks.

    Controls: preset (a published model; "own" once a slider has left it), width, layers, vocabulary, context.
    A MB is a million bytes.
    """

    def __init__(self):
        self._choosing = False
        self.preset = ipywidgets.Dropdown(options=[*PRESETS, OWN], description="preset", style=WIDE)
        start = PRESETS[self.preset.value]
        for name, text, high in (
            ("width", "width d", WIDEST),
            ("layers", "layers L", 128),
            ("vocabulary", "vocabulary V", 262_144),
            ("context", "context n", 131_072),
        ):
            sizes = ladder(high, {sizes[name] for sizes in PRESETS.values()})
            setattr(self, name, size_slider(sizes, start[name], text))
        super().__init__([self.preset, self.width, self.layers, self.vocabulary, self.context])

    def _redraw(self, change):
        if self._choosing:
            return  # one of several settings that belong together: the last is drawn
        self._choosing = True
        if change.owner is self.preset:
            for name, size in PRESETS.get(self.preset.value, {}).items():
                getattr(self, name).value = size
        else:
            names = [name for name, sizes in PRESETS.items() if sizes == self._sizes()]
            self.preset.value = (*names, OWN)[0]
        self._choosing = False
        super()._redraw(change)

    def _sizes(self):
        return {name: getattr(self, name).value for name in SIZES}

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        sizes = self._sizes()
        rows = parameters(**sizes)
        others = [parameters(**{**sizes, "width": width}) for width in CURVE]
        return explorer(rows, CURVE, others, sizes["width"]), self._sentence(rows)

    def _sentence(self, rows):
        total = sum(rows.values())
        megabytes = 4 * total / 1e6
        size = f"{megabytes:,.1f}" if megabytes >= 1 else f"{megabytes:.3g}"
        table, blocks = (
            sum(rows[row] for row in part) / total for part in (["token table"], ["attention", "mlp", "layer norms"])
        )
        return (
            f"{self.preset.value}, d={self.width.value:,}: {total:,} parameters, {size} MB in float32; "
            f"token table {table:.1%}, blocks {blocks:.1%}"
        ).replace("%", " %")
