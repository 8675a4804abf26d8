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


def _width(config):
    return config["n_embd"] if "n_embd" in config else config["hidden_size"]


def _heads(config):
    return config["n_head"] if "n_head" in config else config["num_attention_heads"]


def _quotient(config):
    return _width(config) // _heads(config)


def _head_size(config, quotient=_quotient):
    return quotient(config) if config.get("head_dim") is None else config["head_dim"]


def _by_two(*quotients):
    """Wrong quotients, each without a look at `head_dim` and after it."""
    return tuple(
        made for quotient in quotients for made in (quotient, lambda config, by=quotient: _head_size(config, by))
    )


def _alone(width, heads):
    """The ways to know one kind of file alone, with an error or None for the other kind."""
    return _by_two(
        lambda config: config[width] // config[heads],
        lambda config: config[width] // config[heads] if width in config else None,
    )


def _by_kind(is_gpt2):
    """The right number, if the kind of file is told by `is_gpt2` and not by the names in it."""
    gpt2, llama = _alone("n_embd", "n_head")[0], _alone("hidden_size", "num_attention_heads")[0]
    return lambda config: _head_size(config, lambda config: gpt2(config) if is_gpt2(config) else llama(config))


EXERCISE = Exercise(
    target='An example: `{"n_embd": 8, "n_head": 4}` gives 2, and so does '
    '`{"hidden_size": 8, "num_attention_heads": 4, "head_dim": None}`.',
    probe=Cases(
        _cases,
        right=_head_size,
        mistakes={
            "`head_dim` is given and does not count; where a file gives it, that number holds.": _quotient,
            "`head_dim` counts beside one family's names alone; where a file gives it, that number holds.": (
                lambda c: _quotient(c) if "n_embd" in c else _head_size(c),
                lambda c: _head_size(c) if "n_embd" in c else _quotient(c),
            ),
            "`head_dim` is there and null, and null says as much as a missing key: the width is divided then.": (
                lambda c: c["head_dim"] if "head_dim" in c else _quotient(c)
            ),
            "`head_dim` is taken where it is missing or null; not every file gives it, so divide the width then.": (
                lambda c: c["head_dim"],
                lambda c: c.get("head_dim"),
            ),
            "`head_dim` is missing from most files; `config.get` asks for a key that may not be there.": (
                lambda c: _quotient(c) if c["head_dim"] is None else c["head_dim"]
            ),
            "these are GPT-2's names alone; Llama's file says `hidden_size` and `num_attention_heads`.": _alone(
                "n_embd", "n_head"
            ),
            "these are Llama's names alone; GPT-2's file says `n_embd` and `n_head`.": _alone(
                "hidden_size", "num_attention_heads"
            ),
            "`model_type` is not in every file here; which names there are tells the two kinds apart.": (
                _by_kind(lambda c: c["model_type"] == "gpt2"),
                _by_kind(lambda c: c.get("model_type") == "gpt2"),
                _by_kind(lambda c: c.get("model_type") != "llama"),
            ),
            "it is divided by the key-value heads; the width is shared out among the heads that ask.": _by_two(
                lambda c: _width(c) // (c.get("num_key_value_heads") or _heads(c)),
                lambda c: _width(c) // c[next(key for key in ("n_head", "num_key_value_heads") if key in c)],
            ),
            "it is divided by the layers; the heads share the width, and each layer has all of it.": _by_two(
                lambda c: _width(c) // c[next(key for key in ("n_layer", "num_hidden_layers") if key in c)],
                lambda c: _width(c) // (c.get("n_layer") or _heads(c)),
            ),
            "this is the whole width d, not that of one head; the heads share it.": (
                *_by_two(_width, lambda c: c["n_embd"], lambda c: c["hidden_size"]),
                lambda c: c.get("head_dim", _width(c)),
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
