"""Exercises 7.1 and 7.2: the width of one head and of the MLP, from a config.json of either kind."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.pretrained import KNOWN_CONFIGS


def _head_cases():
    return [
        ({"n_embd": 12, "n_head": 2, "n_layer": 3},),
        ({"hidden_size": 10, "num_attention_heads": 2},),
        ({"hidden_size": 12, "num_attention_heads": 6, "num_key_value_heads": 3},),
        ({"hidden_size": 12, "num_attention_heads": 3, "head_dim": None},),
        ({"hidden_size": 1_024, "num_attention_heads": 16, "head_dim": 128},),
        ({"hidden_size": 12, "num_attention_heads": 2, "head_dim": 4},),
        (KNOWN_CONFIGS["GPT-2 small"],),
        (KNOWN_CONFIGS["Llama-3-8B"],),
    ]


def _width(config):
    return config["n_embd"] if "n_embd" in config else config["hidden_size"]


def _heads(config):
    return config["n_head"] if "n_head" in config else config["num_attention_heads"]


def _quotient(config):
    return _width(config) // _heads(config)


def _head_size(config, quotient=_quotient):
    return quotient(config) if config.get("head_dim") is None else config["head_dim"]


def _by_two(quotient):
    """A quotient that is wrong, without a look at `head_dim` and after it."""
    return quotient, lambda config: _head_size(config, quotient)


def _alone(width, heads):
    """The ways to know one kind of file alone, with an error or None for the other kind."""

    def quotient(config):
        return config[width] // config[heads]

    return *_by_two(quotient), *_by_two(lambda config: quotient(config) if width in config else None)


def _by_kind(is_gpt2):
    """The right number, if the kind of file is told by `is_gpt2` and not by the names in it."""

    def head_size(config):
        names = ("n_embd", "n_head") if is_gpt2(config) else ("hidden_size", "num_attention_heads")
        return _head_size(config, lambda config: config[names[0]] // config[names[1]])

    return head_size


def _by(key, missing):
    """The width divided by what stands under a key; `missing` where the file has no such key."""
    return _by_two(lambda config: _width(config) // config[key] if key in config else missing(config))


_HEAD_MISTAKES = (
    ("`head_dim` is given and does not count; where a file gives it, that number holds.", (_quotient,)),
    (
        "`head_dim` is there and null, and null says as much as a missing key: the width is divided then.",
        (lambda config: config["head_dim"] if "head_dim" in config else _quotient(config),),
    ),
    (
        "`head_dim` is taken where it is missing or null; not every file gives it, so divide the width then.",
        (lambda config: config["head_dim"], lambda config: config.get("head_dim")),
    ),
    (
        "these are GPT-2's names alone; Llama's file says `hidden_size` and `num_attention_heads`.",
        _alone("n_embd", "n_head"),
    ),
    (
        "these are Llama's names alone; GPT-2's file says `n_embd` and `n_head`.",
        _alone("hidden_size", "num_attention_heads"),
    ),
    (
        "`model_type` is not in every file here; which names there are tells the two kinds apart.",
        (
            _by_kind(lambda config: config["model_type"] == "gpt2"),
            _by_kind(lambda config: config.get("model_type") == "gpt2"),
            _by_kind(lambda config: config.get("model_type") != "llama"),
        ),
    ),
    (
        "it is divided by the key-value heads; the width is shared out among the heads that ask.",
        (*_by("num_key_value_heads", _quotient), *_by("num_key_value_heads", lambda c: c["n_embd"] // c["n_head"])),
    ),
    (
        "it is divided by the layers; the heads share the width, and each layer has all of it.",
        (
            *_by_two(lambda config: _width(config) // config.get("n_layer", config.get("num_hidden_layers"))),
            *_by_two(lambda config: _width(config) // config["n_layer"] if "n_layer" in config else _quotient(config)),
        ),
    ),
    ("this is the number of heads; the width of one is wanted.", _by_two(_heads)),
    (
        "this is the whole width d, not that of one head; the heads share it.",
        (
            *_by_two(_width),
            lambda config: config.get("head_dim", _width(config)),
            *(
                read
                for width in ("n_embd", "hidden_size")
                for read in _by_two(lambda config, width=width: config[width])
            ),
            *(
                read
                for width in ("n_embd", "hidden_size")
                for read in _by_two(lambda config, width=width: config.get(width))
            ),
        ),
    ),
    (
        "one head's width is multiplied by the number of heads, which gives the whole width again.",
        (lambda config: _head_size(config) * _heads(config),),
    ),
    (
        "a given `head_dim` is divided by the heads; it is the width of one head already.",
        (lambda config: _head_size(config, _width) // _heads(config),),
    ),
    (
        "this is the larger of `head_dim` and the quotient; where a file gives `head_dim`, it holds.",
        (lambda config: max(config.get("head_dim") or 0, _quotient(config)),),
    ),
    (
        "this is the smaller of `head_dim` and the quotient; where a file gives `head_dim`, it holds.",
        (lambda config: min(_head_size(config), _quotient(config)),),
    ),
    (
        "four times the width is shared out; that is the MLP's, and the heads share d.",
        _by_two(lambda config: 4 * _width(config) // _heads(config)),
    ),
    (
        "the widths of queries, keys and values are taken together; each of the three has this width by itself.",
        _by_two(lambda config: 3 * _width(config) // _heads(config)),
    ),
    ("the heads are taken off the width; they share it.", _by_two(lambda config: _width(config) - _heads(config))),
    ("width and heads are multiplied; the heads share the width.", _by_two(lambda c: _width(c) * _heads(c))),
    ("the quotient is upside down: the width is divided by the heads.", _by_two(lambda c: _heads(c) / _width(c))),
    (
        "this is 0 without `head_dim`: the quotient is upside down, or the rest of the division is taken.",
        _by_two(lambda c: _heads(c) // _width(c)),
    ),
)

HEAD = Exercise(
    number="7.1",
    target='An example: `{"n_embd": 8, "n_head": 4}` gives 2, and so does '
    '`{"hidden_size": 8, "num_attention_heads": 4, "head_dim": None}`.',
    probe=by_cases(
        _head_cases,
        right=_head_size,
        mistakes=tuple((text, mistake) for text, mistakes in _HEAD_MISTAKES for mistake in mistakes),
    ),
    meaning="two families of files say the same in other words, and a width that is given beats one that is computed.",
    hints=(
        "There are two questions: does the file give the number itself, and if not, whose names does it use?",
        "`config.get(key)` gives None both for a missing key and for null, so one test covers both.",
        "`key in config` tells the two kinds of file apart. Then divide a whole number by a whole number.",
    ),
)


def _mlp_cases():
    return [
        ({"n_embd": 3},),
        ({"n_embd": 3, "n_inner": None},),
        ({"n_embd": 3, "n_inner": 10},),
        ({"n_embd": 2, "n_inner": 9, "n_layer": 3},),
        (KNOWN_CONFIGS["GPT-2 small"],),
        (KNOWN_CONFIGS["GPT-2 small"] | {"n_inner": None},),
    ]


def _mlp_width(config, factor=4):
    given = config.get("n_inner")
    return factor * config["n_embd"] if given is None else given


MLP = Exercise(
    number="7.2",
    target='An example: `{"n_embd": 2, "n_inner": None}` gives 8, and `{"n_embd": 2, "n_inner": 5}` gives 5.',
    probe=by_cases(
        _mlp_cases,
        right=_mlp_width,
        mistakes=(
            (
                "`n_inner` is missing from this file, and that means the same as null; `config.get` asks for a key "
                "that may not be there.",
                lambda config: config["n_inner"] or _mlp_width(config),
            ),
            (
                "null comes through: `get` takes its second argument for a missing key, not for one that is None.",
                lambda config: config.get("n_inner", 4 * config["n_embd"]),
            ),
            (
                "null, which is None in Python, is taken for a number here; it stands for the usual width.",
                lambda config: int(config.get("n_inner", 4 * config["n_embd"])),
            ),
            (
                "`n_inner` is returned as it stands, and there it says nothing; then the width follows from `n_embd`.",
                lambda config: config.get("n_inner"),
            ),
            (
                "`n_inner` is returned as it stands, and there it says nothing; then the width follows from `n_embd`.",
                lambda config: config["n_inner"],
            ),
            (
                "`n_inner` is given here and does not count; where a file gives it, that number holds.",
                lambda config: 4 * config["n_embd"],
            ),
            (
                "the usual width is three times `n_embd` here; that is for queries, keys and values.",
                lambda config: _mlp_width(config, 3),
            ),
            (
                "without `n_inner` the MLP is as wide as the stream here; it is wider.",
                lambda config: _mlp_width(config, 1),
            ),
            (
                "`n_inner` is taken for a factor of `n_embd`; it is the width itself.",
                lambda config: (config.get("n_inner") or 4) * config["n_embd"],
            ),
            (
                "the usual width is the square of `n_embd` here; it is a multiple of it.",
                lambda config: config.get("n_inner") or config["n_embd"] ** 2,
            ),
            ("4 is added to `n_embd`; multiply.", lambda config: config.get("n_inner") or config["n_embd"] + 4),
            (
                "null, or a missing key, becomes 0; it stands for the usual width.",
                lambda config: config.get("n_inner") or 0,
            ),
            (
                "the usual width is a fourth of `n_embd` here; it is wider than the stream.",
                lambda config: config.get("n_inner") or config["n_embd"] // 4,
            ),
            (
                "this is for GPT-2 small's width, whatever the file says; the usual width follows from `n_embd`.",
                lambda config: config.get("n_inner") or 3_072,
            ),
            (
                "these are the parameters of the MLP's matrices; its width is wanted.",
                lambda config: 2 * config["n_embd"] * _mlp_width(config),
            ),
            ("this is the model's width; the MLP's is wanted.", lambda config: config["n_embd"]),
            ("the usual width is twice `n_embd` here; it is more.", lambda config: _mlp_width(config, 2)),
            (
                "the usual width is 8/3 of `n_embd` here, as with three matrices in the MLP; GPT-2 has two.",
                lambda config: _mlp_width(config, 8 / 3),
            ),
            (
                "`n_inner` is multiplied as well; it is the width already.",
                lambda config: 4 * (config.get("n_inner") or config["n_embd"]),
            ),
            (
                "the two cases are swapped: `n_inner` holds where it is given.",
                lambda config: config.get("n_inner") and 4 * config["n_embd"],
            ),
            (
                "this is the larger of the two widths; a given `n_inner` holds, larger or smaller.",
                lambda config: max(config.get("n_inner") or 0, 4 * config["n_embd"]),
            ),
            (
                "this is the smaller of the two widths; a given `n_inner` holds, larger or smaller.",
                lambda config: min(_mlp_width(config), 4 * config["n_embd"]),
            ),
        ),
    ),
    meaning="null is a value that says *the usual*, and a reader has to know what is usual.",
    hints=(
        "There are three kinds of file: with a number, with null, and without the key.",
        "`config.get(key)` gives None for the last two of them.",
        "Compare with `is None`. Otherwise the number that is given is the result.",
    ),
)


def ex_7_1(answer) -> Verdict:
    """Exercise 7.1: the width of one head. answer(config.json as a dict) -> int."""
    return judge(HEAD, answer)


def ex_7_2(answer) -> Verdict:
    """Exercise 7.2: the MLP's width. answer(GPT-2's config.json as a dict) -> int."""
    return judge(MLP, answer)
