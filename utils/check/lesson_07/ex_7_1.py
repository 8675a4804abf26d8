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
    return lambda config: config.get("head_dim") or config[width] // config[heads]


_gpt2, _llama = _divided("n_embd", "n_head"), _divided("hidden_size", "num_attention_heads")


def _head_size(config, llama=_llama):
    return _gpt2(config) if "n_embd" in config else llama(config)


EXERCISE = Exercise(
    target='An example: `{"n_embd": 8, "n_head": 4}` gives 2, and so does '
    '`{"hidden_size": 8, "num_attention_heads": 4, "head_dim": None}`.',
    probe=Cases(
        _cases,
        right=_head_size,
        mistakes={
            "one kind of file is not understood: GPT-2's says `n_embd` and `n_head`, Llama's `hidden_size` and "
            "`num_attention_heads`, and `model_type` may be missing.": (
                *(_gpt2, _llama, lambda c: _gpt2(c) if c["model_type"] == "gpt2" else _llama(c)),
                lambda c: _gpt2(c) if c.get("model_type") == "gpt2" else _llama(c),
                lambda c: _llama(c) if c.get("model_type") == "llama" else _gpt2(c),
            ),
            "it is divided by the key-value heads; the width is shared out among the heads that ask.": (
                lambda c: _head_size(c, _divided("hidden_size", "num_key_value_heads"))
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
