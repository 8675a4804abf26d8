"""Exercise 7.1: the width of one head. answer(config.json as a dict) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.pretrained import KNOWN_CONFIGS


def _cases():
    gpt2 = {"n_embd": 12, "n_head": 2, "n_layer": 3}
    llama = {"hidden_size": 12, "num_attention_heads": 3}
    more = {}, {"head_dim": None}, {"head_dim": 5}
    grouped = {"hidden_size": 12, "num_attention_heads": 6, "num_key_value_heads": 3}
    whole = KNOWN_CONFIGS["GPT-2 small"], KNOWN_CONFIGS["Llama-3-8B"]
    return [(config,) for config in (*(kind | head for head in more for kind in (gpt2, llama)), grouped, *whole)]


def _divided(width, heads):
    return lambda config: config[width] // config[heads]


_gpt2, _llama = _divided("n_embd", "n_head"), _divided("hidden_size", "num_attention_heads")


def _quotient(config, gpt2=_gpt2, llama=_llama):
    return gpt2(config) if "n_embd" in config else llama(config)


def _head_size(config, quotient=_quotient):
    return quotient(config) if config.get("head_dim") is None else config["head_dim"]


def _after(quotient):
    """A quotient that is made where `head_dim` says nothing."""
    return lambda config: _head_size(config, quotient)


EXERCISE = Exercise(
    target='An example: `{"n_embd": 8, "n_head": 4}` gives 2, and so does '
    '`{"hidden_size": 8, "num_attention_heads": 4, "head_dim": None}`.',
    probe=Cases(
        _cases,
        right=_head_size,
        mistakes={
            "`head_dim` does not count here; where a file gives it, that number holds, whosever names it uses.": (
                _quotient,
                lambda c: _quotient(c) if "n_embd" in c else _head_size(c),
                lambda c: _head_size(c) if "n_embd" in c else _quotient(c),
            ),
            "`head_dim` may be missing, or null: `config.get` gives None for both, and the width is divided then.": (
                lambda c: c["head_dim"] if "head_dim" in c else _quotient(c),
                lambda c: _quotient(c) if c["head_dim"] is None else c["head_dim"],
                lambda c: c["head_dim"],
                lambda c: c.get("head_dim"),
            ),
            "one kind of file is not understood: GPT-2's says `n_embd` and `n_head`, Llama's `hidden_size` and "
            "`num_attention_heads`, and `model_type` may be missing.": (
                *(_gpt2, _llama, _after(_gpt2), _after(_llama)),
                _after(lambda c: _gpt2(c) if c.get("model_type") == "gpt2" else _llama(c)),
                lambda c: _gpt2(c) if c["model_type"] == "gpt2" else _head_size(c),
                _after(lambda c: _llama(c) if c.get("model_type") == "llama" else _gpt2(c)),
            ),
            "it is divided by the layers, or the key-value heads; the width is shared out among the heads that ask.": (
                _after(
                    lambda c: _quotient(c, _divided("n_embd", "n_layer"), _divided("hidden_size", "num_hidden_layers"))
                ),
                _after(lambda c: _quotient(c, _divided("n_embd", "n_layer"))),
                _after(lambda c: _quotient(c, llama=_divided("hidden_size", "num_key_value_heads"))),
                _after(lambda c: _quotient(c, llama=lambda c: c["hidden_size"] // c.get("num_key_value_heads", 3))),
            ),
        },
    ),
    meaning="two families of files say the same in other words, and a width that is given beats one that is computed.",
    hints=(
        "There are two questions: does the file give the number itself, and if not, whose names does it use?",
        "`config.get(key)` gives None both for a missing key and for null, so one test covers both.",
        "`key in config` tells the two kinds of file apart. Then divide a whole number by a whole number.",
    ),
)
