"""Lesson 07's panel: what follows from a config.json alone."""

import json

import ipywidgets

from utils.plots.amounts import in_bytes
from utils.plots.config import from_config
from utils.pretrained import KNOWN_CONFIGS, cache_bytes_from_hf, count_from_hf
from utils.pretrained.config_files import from_json
from utils.pretrained.hf_configs import head_from_hf, whole_size
from utils.widgets.cache_explorer import PRECISIONS
from utils.widgets.panel import WIDE, Panel

TEXTS = {name: json.dumps(config, indent=2) for name, config in KNOWN_CONFIGS.items()}
PASTED = "pasted below"
# what bounds the tokens in a cache, in the files' words and in the picture's; of two for the context the later counts
BOUNDS = {
    "n_ctx": "context",
    "n_positions": "context",
    "max_position_embeddings": "context",
    "sliding_window": "window",
}
MOST_BYTES = 10**18  # longer numbers than this picture has room for


def parse(text) -> dict:
    """A config.json's text as a dict. Raises ValueError, with line and column for what is no JSON."""
    if not text.strip():
        raise ValueError("The text is empty; paste a configuration, or choose a model.")
    try:
        config = from_json(text)
    except json.JSONDecodeError as fault:
        found = text[fault.pos :].partition("\n")[0]
        place = f"No JSON at line {fault.lineno}, column {fault.colno}"
        if not found[:1].isascii():
            raise ValueError(f"{place}: {fault.msg}; type a plain letter in its place.") from None
        found = f"“{found[:12]}{'…' if len(found) > 12 else ''}”" if found else "where it ends"
        raise ValueError(f"{place}, {found}: check commas, double quotes, true, false, null.") from None
    except ValueError:
        raise ValueError("A number in the text has thousands of digits; give a smaller number.") from None
    except RecursionError:
        raise ValueError("The text has hundreds of brackets in brackets; paste one model's configuration.") from None
    if not isinstance(config, dict):
        raise ValueError("The text is JSON but no object; a configuration is one, from { to }.")
    return config


def full_cache(config) -> tuple[str, int] | None:
    """What bounds the tokens that a cache keeps, "context" or "window", and how many; None if neither is given.

    Mistral's window holds in all layers. Qwen2's, in some layers and mostly off, is left out, so that its cache is
    the largest it can be.
    """
    bounds = {word: whole_size(config, key) for key, word in BOUNDS.items() if _counts(config, key)}
    return min(bounds.items(), key=lambda bound: bound[1], default=None)


def _counts(config, key):
    return config.get(key) is not None and (key != "sliding_window" or config.get("model_type") == "mistral")


class ConfigReader(Panel):
    """Choose a model or paste a config.json: its parameters, its memory, and what a token costs in the cache.

    Controls: model (it fills config; "pasted below" once that was edited), config (the JSON text, read at Tab or a
    click elsewhere), precision (of weights and cache). What cannot be read is told in one sentence.
    """

    def __init__(self):
        self._choosing = False
        self.model = ipywidgets.Dropdown(options=[*TEXTS, PASTED], description="model", style=WIDE)
        self.config = ipywidgets.Textarea(
            TEXTS[self.model.value],
            description="config",
            continuous_update=False,  # a text is not judged while it is being typed
            rows=8,
            style=WIDE,
            layout={"width": "52em"},
        )
        self.precision = ipywidgets.Dropdown(
            options=[*PRECISIONS], value="bfloat16", description="precision", style=WIDE
        )
        super().__init__([self.model, self.config, self.precision])

    def _redraw(self, change):
        if self._choosing:
            return  # the other half of a choice: one picture for both
        self._choosing = True
        if change.owner is self.model:
            self.config.value = TEXTS.get(self.model.value, self.config.value)
        elif change.owner is self.config:
            self.model.value = PASTED
        self._choosing = False
        super()._redraw(change)

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        config, bytes_each = parse(self.config.value), PRECISIONS[self.precision.value]
        ledger, token = count_from_hf(config), cache_bytes_from_hf(config, bytes_each)
        memory = {"weights": bytes_each * sum(ledger.values()), "cache: 1 token": token}
        if full := full_cache(config):
            word, tokens = full
            memory[f"cache: {word} of {tokens:,}"] = tokens * token
        if max(memory.values()) >= MOST_BYTES:
            raise ValueError("Weights or cache would take 1,000 PB or more; look for a size with too many digits.")
        no_head = "none" if head_from_hf(config) == "none" else "tied"
        return from_config(ledger, memory, self.precision.value, no_head), self._sentence(
            ledger, memory["weights"], token
        )

    def _sentence(self, ledger, weights, token):
        name = "pasted" if self.model.value == PASTED else self.model.value
        total = sum(ledger.values())
        return (
            f"{name}: {total:,} parameters, {in_bytes(weights)} in {self.precision.value}; "
            f"table {ledger['token table'] / total:.1%}; cache {token:,} bytes a token"
        ).replace("%", " %")
