"""Answers to lesson 07's exercises, right and wrong: what tests/test_check.py tries."""

import re
import types
from fractions import Fraction

import numpy as np
import torch

from utils.model import GPTConfig
from utils.pretrained import count_from_hf

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 7.1 one head


def _head_size(config):
    if config.get("head_dim") is not None:
        return config["head_dim"]
    if "n_embd" in config:
        return config["n_embd"] // config["n_head"]
    return config["hidden_size"] // config["num_attention_heads"]


def _with_defaults(config):
    width = config.get("n_embd", config.get("hidden_size"))
    heads = config.get("n_head") or config.get("num_attention_heads")
    return config.get("head_dim") or width / heads


def _with_try(config):
    try:
        return int(config["head_dim"])
    except (KeyError, TypeError):
        names = ("n_embd", "n_head") if "n_head" in config else ("hidden_size", "num_attention_heads")
        width, heads = (config[name] for name in names)
        return width // heads


def _divided_by(*heads):
    """The width divided by the first of some keys that a file has, whatever head_dim says."""

    def head_size(config):
        width = config["n_embd"] if "n_embd" in config else config["hidden_size"]
        return width // config[next(key for key in heads if key in config)]

    return head_size


def _null_comes_through(config):
    if "head_dim" in config:
        return config["head_dim"]
    return _head_size(config)


def _gpt2_or_nothing(config):
    if config.get("head_dim"):
        return config["head_dim"]
    if "n_embd" in config:
        return config["n_embd"] // config["n_head"]
    return None


def _llama_or_nothing(config):
    return _of_llama(config) if "hidden_size" in config else None


def _of_llama(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def _number_of_heads(config):
    return config.get("head_dim") or config.get("n_head") or config["num_attention_heads"]


def _upside_down(config):
    return config["n_head"] / config["n_embd"] if "n_head" in config else 1 / _head_size(config)


HEADS = ("n_head", "num_attention_heads")


def _divisor(config):
    return config[next(key for key in HEADS if key in config)]


def _whole(config):
    return config.get("n_embd") or config["hidden_size"]


def _divides_it_again(config):
    return (config.get("head_dim") or _whole(config)) // _divisor(config)


RIGHT["7.1"] = [
    _head_size,
    _with_defaults,
    _with_try,
    lambda config: float(_head_size(config)),
    lambda config: np.int64(_head_size(config)),
    lambda config: torch.tensor(_head_size(config)),
    lambda config: Fraction(_head_size(config)),
]
WRONG["7.1"] = [
    ("is given and does not count", _divided_by(*HEADS)),
    ("null says as much", _null_comes_through),
    ("null says as much", lambda config: config.get("head_dim", _head_size({**config, "head_dim": None}))),
    ("not every file gives it", lambda config: config["head_dim"]),
    ("not every file gives it", lambda config: config.get("head_dim")),
    ("GPT-2's names alone", lambda config: config["n_embd"] // config["n_head"]),
    ("GPT-2's names alone", lambda config: config.get("n_embd") / config.get("n_head")),
    ("GPT-2's names alone", lambda config: config.get("head_dim") or config["n_embd"] // config["n_head"]),
    ("GPT-2's names alone", _gpt2_or_nothing),
    ("Llama's names alone", lambda config: config["hidden_size"] // config["num_attention_heads"]),
    ("Llama's names alone", _llama_or_nothing),
    ("`model_type` is not", lambda c: _with_defaults(c) if c["model_type"] == "gpt2" else _with_try(c)),
    ("`model_type` is not", lambda c: _of_llama(c) if c.get("model_type") != "gpt2" else c["n_embd"] // c["n_head"]),
    ("`model_type` is not", lambda c: _of_llama(c) if c.get("model_type") == "llama" else c["n_embd"] // c["n_head"]),
    ("key-value heads", _divided_by("num_key_value_heads", *HEADS)),
    ("key-value heads", _divided_by("n_head", "num_key_value_heads")),
    ("by the layers", lambda config: config.get("head_dim") or _divided_by("n_layer", "num_hidden_layers")(config)),
    ("by the layers", _divided_by("n_layer", "num_attention_heads")),
    ("number of heads", _number_of_heads),
    ("whole width", lambda config: config["n_embd"] if "n_embd" in config else config["hidden_size"]),
    ("whole width", lambda config: config["n_embd"]),
    ("whole width", lambda config: config.get("hidden_size")),
    ("whole width", lambda config: config.get("head_dim", config.get("n_embd", config.get("hidden_size")))),
    ("gives the whole width again", lambda config: _head_size(config) * _divisor(config)),
    ("is the width of one head already", _divides_it_again),
    ("larger of `head_dim`", lambda config: max(config.get("head_dim") or 0, _divided_by(*HEADS)(config))),
    ("smaller of `head_dim`", lambda config: min(_head_size(config), _divided_by(*HEADS)(config))),
    ("is upside down, or", lambda config: config.get("head_dim") or _divisor(config) // _whole(config)),
    ("or the rest of", lambda config: config.get("head_dim") or _whole(config) % _divisor(config)),
    ("four times the width", lambda config: config.get("head_dim") or 4 * _divided_by(*HEADS)(config)),
    ("taken together", lambda config: config.get("head_dim") or 3 * _divided_by(*HEADS)(config)),
    ("taken off the width", lambda config: config.get("head_dim") or _whole(config) - _divisor(config)),
    ("whole width", lambda config: config.get("head_dim") or config.get("n_embd") or config["hidden_size"]),
    ("multiplied", lambda config: config["n_embd"] * config["n_head"] if "n_embd" in config else _multiplied(config)),
    ("upside down", lambda config: config.get("head_dim") or _upside_down(config)),
    ("same result in every case", lambda config: 64),
    ("changes its argument 1", lambda config: config.pop("head_dim", None) or _head_size(config)),
    ("NaN", lambda config: _head_size(config) if "n_head" in config else torch.nan),
    ("returns a str", lambda config: str(_head_size(config))),
    ("a single number", lambda config: [_head_size(config)]),
    ("returns None", lambda config: print(end="")),
    ("AttributeError", lambda config: config.n_embd // config.n_head),
    ("number is not", lambda config: _head_size(config) + 1),
]


def _multiplied(config):
    return config["hidden_size"] * config["num_attention_heads"]


# 7.2 the MLP's width


def _mlp_width(config):
    given = config.get("n_inner")
    return 4 * config["n_embd"] if given is None else given


def _with_match(config):
    match config:
        case {"n_inner": int(width)}:
            return width
        case {"n_embd": width}:
            return 4 * width


def _absent_raises(config):
    if config["n_inner"] is None:
        return 4 * config["n_embd"]
    return config["n_inner"]


def _swapped(config):
    return config.get("n_inner") if config.get("n_inner") is None else 4 * config["n_embd"]


RIGHT["7.2"] = [
    _mlp_width,
    _with_match,
    lambda config: config.get("n_inner") or 4 * config["n_embd"],
    lambda config: GPTConfig(1, 1, config["n_embd"], 1, 1, n_inner=config.get("n_inner")).d_ff,
    lambda config: float(_mlp_width(config)),
    lambda config: np.int32(_mlp_width(config)),
    lambda config: torch.tensor(_mlp_width(config)),
]
WRONG["7.2"] = [
    ("is missing from this file", _absent_raises),
    ("is missing from this file", lambda config: config["n_inner"] or 4 * config["n_embd"]),
    ("null comes through", lambda config: config.get("n_inner", 4 * config["n_embd"])),
    ("null comes through", lambda config: config["n_inner"] if "n_inner" in config else 4 * config["n_embd"]),
    ("taken for a number", lambda config: int(config.get("n_inner", 4 * config["n_embd"]))),
    ("as it stands", lambda config: config.get("n_inner")),
    ("as it stands", lambda config: config["n_inner"]),
    ("is given here and does not count", lambda config: 4 * config["n_embd"]),
    ("three times", lambda config: config.get("n_inner") or 3 * config["n_embd"]),
    ("as wide as the stream", lambda config: config.get("n_inner") or config["n_embd"]),
    ("this is the model's width", lambda config: config["n_embd"]),
    ("taken for a factor", lambda config: config["n_embd"] * (config.get("n_inner") or 4)),
    ("square of `n_embd`", lambda config: config.get("n_inner") or config["n_embd"] ** 2),
    ("4 is added", lambda config: config.get("n_inner") or 4 + config["n_embd"]),
    ("becomes 0", lambda config: config.get("n_inner") or 0),
    ("a fourth", lambda config: config.get("n_inner") or config["n_embd"] // 4),
    ("GPT-2 small's width", lambda config: config.get("n_inner") or 3072),
    ("MLP's matrices", lambda config: 2 * config["n_embd"] * _mlp_width(config)),
    ("twice `n_embd`", lambda config: config.get("n_inner") or 2 * config["n_embd"]),
    ("8/3", lambda config: config.get("n_inner") or 8 * config["n_embd"] / 3),
    ("multiplied as well", lambda config: 4 * (config.get("n_inner") or config["n_embd"])),
    ("swapped", _swapped),
    ("larger of the two", lambda config: max(_mlp_width(config), 4 * config["n_embd"])),
    ("smaller of the two", lambda config: min(_mlp_width(config), 4 * config["n_embd"])),
    ("same result in every case", lambda config: 3072),
    ("NaN", lambda config: config.get("n_inner") or float("nan")),
    ("KeyError: 'hidden_size'", lambda config: config.get("n_inner") or 4 * config["hidden_size"]),
    ("number is not", lambda config: (config.get("n_inner") or 0) + 4 * config["n_embd"]),
    ("returns a dict", lambda config: config | {"n_inner": _mlp_width(config)}),
]

# 7.3 the count


def _count(config, d_ff=None, tied=None, heads=1, **parts):
    d = config["n_embd"]
    d_ff = _mlp_width(config) if d_ff is None else d_ff
    tied = config.get("tie_word_embeddings", True) if tied is None else tied
    attention = parts.get("attention", 4 * d * d + 4 * d)
    mlp = parts.get("mlp", d * d_ff + d_ff + d_ff * d + d)
    block = parts.get("norms", 2 * 2 * d) + attention + mlp
    tables = (config["vocab_size"] * (1 if tied else 2) + config["n_positions"]) * d
    return tables + config["n_layer"] * block + parts.get("final", 2 * d)


def _from_a_model_without_memory(config):
    from utils.model import GPT

    sizes = {"vocab_size": config["vocab_size"], "n_ctx": config["n_positions"], "n_embd": config["n_embd"]}
    form = {"tied": config.get("tie_word_embeddings", True), "n_inner": config.get("n_inner")}
    with torch.device("meta"):
        model = GPT(GPTConfig(**sizes, **form, n_layer=config["n_layer"], n_head=1))
    return sum(parameter.numel() for parameter in model.parameters())


def _by_the_reader(config):
    return sum(count_from_hf({"model_type": "gpt2", "n_head": 1} | config).values())


def _with_mlp(mlp):
    """A count with another number of parameters in the MLP, from width and inner width."""
    return lambda config: _count(config, mlp=mlp(config["n_embd"], _mlp_width(config)))


def _more(numbers):
    """A count with more numbers, from V, n, d and L."""
    keys = ("vocab_size", "n_positions", "n_embd", "n_layer")
    return lambda config: _count(config) + numbers(*(config[key] for key in keys))


def _no_bias_at_all(config):
    d = config["n_embd"]
    return _count(config, attention=4 * d * d, mlp=2 * d * _mlp_width(config))


def _tables_twice(config):
    tables = (config["vocab_size"] + config["n_positions"]) * config["n_embd"]
    return _count(config, tied=True) + (0 if config.get("tie_word_embeddings", True) else tables)


def _head_as_a_column(config):
    return _count(config, tied=True) + (0 if config.get("tie_word_embeddings", True) else config["vocab_size"])


def _head_with_bias(config):
    return _count(config) + (0 if config.get("tie_word_embeddings", True) else config["vocab_size"])


RIGHT["7.3"] = [
    _count,
    _by_the_reader,
    _from_a_model_without_memory,
    lambda config: float(_count(config)),
    lambda config: np.int64(_count(config)),
    lambda config: torch.tensor(_count(config)),
    lambda config: _count(config, d_ff=config.get("n_inner") or config["n_embd"] * 4),
]
WRONG["7.3"] = [
    ("replaces 4 d", lambda config: _count(config, d_ff=4 * config["n_embd"])),
    ("is null here", lambda config: _count(config, d_ff=config.get("n_inner", 4 * config["n_embd"]) * 1)),
    ("is missing from most files; then the MLP", lambda config: _count(config, d_ff=config["n_inner"] * 1)),
    ("is missing from most files; then the MLP", lambda config: _count(config, d_ff=_absent_raises(config))),
    ("is the MLP's width already", lambda config: _count(config, 4 * (config.get("n_inner") or config["n_embd"]))),
    ("MLP's biases are missing", _with_mlp(lambda d, d_ff: 2 * d * d_ff)),
    ("yours has 4 d", _with_mlp(lambda d, d_ff: 2 * d * d_ff + 4 * d + d)),
    ("not for its two matrices", _with_mlp(lambda d, d_ff: 8 * d * d + d_ff + d)),
    ("first bias is missing", _with_mlp(lambda d, d_ff: 2 * d * d_ff + d)),
    ("each block: the layers back to the stream", _with_mlp(lambda d, d_ff: 2 * d * d_ff + d_ff)),
    ("the second has d numbers", _with_mlp(lambda d, d_ff: 2 * (d * d_ff + d_ff))),
    ("the first has as many", _with_mlp(lambda d, d_ff: 2 * (d * d_ff + d))),
    ("with one matrix", _with_mlp(lambda d, d_ff: d * d_ff + d_ff + d)),
    ("three matrices", _with_mlp(lambda d, d_ff: 3 * d * d_ff + d_ff + d)),
    ("a table of its own is missing", lambda config: _count(config, tied=True)),
    ("counted with V numbers", _head_as_a_column),
    ("counted twice; it is one more", lambda config: 2 * _count(config) - _count(config, tied=True)),
    ("as wide as the stream", lambda config: _count(config, config.get("n_inner") or config["n_embd"])),
    ("has no width", lambda config: _count(config, config.get("n_inner") or 0)),
    ("three times as wide", lambda config: _count(config, config.get("n_inner") or 3 * config["n_embd"])),
    ("a square of the inner width", _with_mlp(lambda d, d_ff: d_ff**2 + d_ff + d)),
    ("says nothing is tied", lambda config: _count(config, tied=bool(config.get("tie_word_embeddings")))),
    ("says nothing is tied", lambda config: _count(config, tied=config.get("tie_word_embeddings", False))),
    ("counted twice in every file", lambda config: _count(config, tied=False)),
    ("true, or a missing key", lambda config: _count(config, tied=not config.get("tie_word_embeddings", True))),
    ("true gives it none", lambda config: _count(config, tied=not config.get("tie_word_embeddings"))),
    ("then the head is tied", lambda config: _count(config, tied=config["tie_word_embeddings"])),
    ("a matrix alone", _head_with_bias),
    ("position table is doubled", _tables_twice),
    ("the course's word", lambda config: _count(config | {"n_positions": config["n_ctx"]})),
    ("the position table is missing", _more(lambda V, n, d, L: -n * d)),
    ("the token table is missing", _more(lambda V, n, d, L: -V * d)),
    ("both tables are missing", _more(lambda V, n, d, L: -V * d - n * d)),
    ("the final layer norm is missing", lambda config: _count(config, final=0)),
    ("and one is counted", lambda config: _count(config, final=config["n_embd"])),
    ("it comes once", lambda config: _count(config, norms=6 * config["n_embd"], final=0)),
    ("4 d numbers are missing", lambda config: _count(config, norms=0)),
    ("4 d numbers are missing", lambda config: _count(config, attention=4 * config["n_embd"] ** 2)),
    ("yours has half", lambda config: _count(config, norms=2 * config["n_embd"])),
    ("with one vector", lambda config: _count(config, norms=2 * config["n_embd"], final=config["n_embd"])),
    ("each block: the layers back to the stream", _more(lambda V, n, d, L: -L * d)),
    ("all biases", _no_bias_at_all),
    ("`c_proj`, is missing", _more(lambda V, n, d, L: -L * (d + 1) * d)),
    ("`c_proj`, is missing", _more(lambda V, n, d, L: -L * d * d)),
    ("there are n_layer", lambda config: _count(config | {"n_layer": 1})),
    ("only the blocks repeat", lambda config: config["n_layer"] * _count(config | {"n_layer": 1})),
    ("blocks alone", lambda config: _count(config | {"vocab_size": 0, "n_positions": 0}, final=0)),
    ("changes its argument 1", lambda config: _count(config, tied=config.setdefault("tie_word_embeddings", True))),
    ("NaN", lambda config: _count(config) * (1 if "n_inner" in config else torch.nan)),
    ("same result in every case", lambda config: 124_439_808),
    ("number is not", lambda config: _count(config) + 1),
    ("a single number", lambda config: (_count(config), config["n_layer"])),
    ("returns a str", lambda config: f"{_count(config):,}"),
    ("KeyError: 'n_head'", lambda config: _count(config) + 0 * config["n_head"]),
]

# 7.4 the odd cards

_ODD = {"A": "n_head", "B": "parameters", "C": "vocab_size", "D": "num_key_value_heads"}

RIGHT["7.4"] = [
    lambda: dict(_ODD),
    lambda: dict(reversed(_ODD.items())),
    lambda: types.MappingProxyType(_ODD),
    lambda: dict(zip(np.array([*"ABCD"]), np.array([*_ODD.values()]), strict=True)),
]
WRONG["7.4"] = [
    ("card A: 'n_embd' can be right: GPT-2 small has this width", lambda: _ODD | {"A": "n_embd"}),
    ("card A: 'n_layer' can be right: any number of blocks", lambda: _ODD | {"A": "n_layer"}),
    ("card A: 'n_positions' can be right: any context", lambda: _ODD | {"A": "n_positions"}),
    ("card A: 'model_type' can be right", lambda: _ODD | {"A": "model_type"}),
    ("card B: 'tied' can be right: GPT-2 small is tied", lambda: _ODD | {"B": "tied"}),
    ("card B: 'n_head' can be right: the sizes are", lambda: _ODD | {"B": "n_head"}),
    ("card C: 'tokenizer' can be right", lambda: _ODD | {"C": "tokenizer"}),
    ("card C: 'n_embd' can be right: 16 heads", lambda: _ODD | {"C": "n_embd"}),
    ("card D: 'hidden_size' can be right: 32 heads", lambda: _ODD | {"D": "hidden_size"}),
    ("card D: 'num_attention_heads' can be right", lambda: _ODD | {"D": "num_attention_heads"}),
    ("card D has no entry 'n_head'", lambda: _ODD | {"D": "n_head"}),
    ("card C has no entry 'Vocab_size'", lambda: _ODD | {"C": "Vocab_size"}),
    ("card A: 10 is the value of an entry", lambda: {"A": 10, "B": 163_037_184, "C": 50_000, "D": 5}),
    ("card B has no entry '163037184'", lambda: _ODD | {"B": "163037184"}),
    ("card B: one key is wanted, in quotes, and yours is a list", lambda: _ODD | {"B": ["parameters"]}),
    ("card B: one key is wanted, in quotes, and yours is a NoneType", lambda: _ODD | {"B": None}),
    ("card D: one key is wanted, in quotes, and yours is a float", lambda: _ODD | {"D": torch.nan}),
    ("card A: one key is wanted, in quotes, and yours is a Tensor", lambda: _ODD | {"A": torch.ones(2)}),
    ("no entry is named for card D", lambda: {card: _ODD[card] for card in "ABC"}),
    ("no entry is named for card A, B, C, D", lambda: {card.lower(): key for card, key in _ODD.items()}),
    ("no entry is named for card A, B, C, D", lambda: {key: card for card, key in _ODD.items()}),
    ("no card 'E'", lambda: _ODD | {"E": "n_head"}),
    ("returns a list", lambda: list(_ODD.values())),
    ("returns a str", lambda: "n_head"),
    ("returns None", lambda: print(end="")),
    ("takes 1 positional", lambda *cards: (lambda: _ODD)(cards)),
    ("raised NameError", lambda: nowhere["A"]),  # noqa: F821
]

# 7.5 names

_TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")


def _ours(name):
    return name.removeprefix("transformer.")


def _to_course(name):
    return _ours(name), name.endswith(_TURNED)


def _by_parts(name):
    *place, layer, kind = _ours(name).split(".")
    return [".".join([*place, layer, kind]), layer[:2] == "c_" and kind == "weight"]


def _by_pattern(name):
    found = re.fullmatch(r"(?:transformer\.)?(.+)", name)
    return found[1], re.search(r"\.c_\w+\.weight$", name) is not None


def _marks(is_turned):
    return lambda name: (_ours(name), is_turned(name))


def _names(ours):
    return lambda name: (ours(name), name.endswith(_TURNED))


RIGHT["7.5"] = [
    _to_course,
    _by_parts,
    _by_pattern,
    lambda name: (name.replace("transformer.", ""), np.bool_(name.endswith(_TURNED))),
    lambda name: (np.str_(_ours(name)), torch.tensor(name.endswith(_TURNED))),
    lambda name: (_ours(name), int(".c_" in name and "bias" not in name)),
    lambda name: (_ours(name), ("attn" in name or "mlp" in name) and name.endswith("weight")),
    lambda name: (name.split("transformer.")[-1], name.endswith(_TURNED)),
]
WRONG["7.5"] = [
    ("the name alone", _ours),
    ("the flag alone", lambda name: name.endswith(_TURNED)),
    ("swapped", lambda name: _to_course(name)[::-1]),
    ("the prefix is kept", lambda name: (name, name.endswith(_TURNED))),
    ("lost its first part", _names(lambda name: ".".join(name.split(".")[1:]))),
    ("lost its beginning", _names(lambda name: name[12:])),
    ("gives an error", _names(lambda name: name[name.index("transformer.") + 12 :])),
    ("nothing is left", _names(lambda name: name.partition("transformer.")[-1])),
    ("single letters", _names(lambda name: name.strip("transformer."))),  # noqa: B005
    (
        "number of the block",
        _names(lambda name: ".".join(part for part in _ours(name).split(".") if not part.isdigit())),
    ),
    ("only the last parts", _names(lambda name: ".".join(name.rsplit(".", 2)[-2:]))),
    ("only the kind", _names(lambda name: name.rsplit(".", 1)[-1])),
    ("called the head", _names(lambda name: "lm_head.weight" if "wte" in name else _ours(name))),
    ("says `.T` now", _names(lambda name: _ours(name) + ".T" * name.endswith(_TURNED))),
    ("the dot of the prefix", _names(lambda name: name.replace("transformer", ""))),
    ("put in front", _names(lambda name: "transformer." + _ours(name))),
    ("says that a block follows", _names(lambda name: _ours(name).replace("h.", "", 1))),
    ("is taken off; it is part", _names(lambda name: _ours(name).removesuffix(".weight").removesuffix(".bias"))),
    ("every weight is marked", _marks(lambda name: "weight" in name)),
    ("the tables are marked", _marks(lambda name: "weight" in name and "ln" not in name)),
    ("of layer norms are marked", _marks(lambda name: "weight" in name and not re.search("w[tp]e", name))),
    ("of layer norms are marked", _marks(lambda name: "weight" in name and _ours(name).startswith("h."))),
    ("biases are marked, by the name of their layer; a", _marks(lambda name: "c_" in name)),
    ("biases are marked, by the name of their layer; a", _marks(lambda name: "attn" in name or "mlp" in name)),
    ("biases are marked, by the name of their layer, and", _marks(lambda name: "attn" in name)),
    ("the biases are marked, and", _marks(lambda name: "bias" in name)),
    ("`c_proj` is not marked, in attention and", _marks(lambda name: name.endswith(("c_attn.weight", "c_fc.weight")))),
    ("being square", _marks(lambda name: name.endswith(("c_attn.weight", "c_fc.weight", "mlp.c_proj.weight")))),
    ("the MLP's `c_proj`", _marks(lambda name: name.endswith(("c_attn.weight", "c_fc.weight", "attn.c_proj.weight")))),
    ("only `c_attn`", _marks(lambda name: name.endswith("c_attn.weight"))),
    ("MLP's two matrices are not", _marks(lambda name: "attn" in name and "weight" in name)),
    ("attention's two matrices are not", _marks(lambda name: "mlp" in name and "weight" in name)),
    ("`c_fc` is not marked", _marks(lambda name: name.endswith(("c_attn.weight", "c_proj.weight")))),
    ("`c_attn` is not marked", _marks(lambda name: name.endswith(("c_fc.weight", "c_proj.weight")))),
    ("wrong way round", _marks(lambda name: not name.endswith(_TURNED))),
    ("nothing is marked; four", _marks(lambda name: False)),
    ("everything is marked", _marks(lambda name: True)),
    ("without the prefix nothing", _marks(lambda name: name[0] == "t" and name.endswith(_TURNED))),
    ("with the prefix nothing", _marks(lambda name: name[0] == "h" and name.endswith(_TURNED))),
    ("neither True nor False", _marks(lambda name: "transposed" if name.endswith(_TURNED) else "")),
    ("neither True nor False", _marks(lambda name: torch.nan)),
    ("neither True nor False", _marks(lambda name: None)),
    ("result 1 of 2: this is not the right name", _names(lambda name: _ours(name).replace("h.", "blocks."))),
    ("this tensor is not marked", _marks(lambda name: name.endswith(_TURNED) and ".0." in name)),
    ("this tensor is marked", _marks(lambda name: name.endswith((*_TURNED, "attn.bias")))),
    ("the prefix is kept", lambda name: (name, "weight" in name)),
    ("swapped", lambda name: [np.bool_(name.endswith(_TURNED)), _ours(name)]),
    ("2 results are wanted", lambda name: (*_to_course(name), name)),
    ("same result in every case", lambda name: ("wte.weight", False)),
    ("returns None", lambda name: print(end="")),
    ("raised", lambda name: (name.remove("transformer."), False)),
]
