"""Reading a config.json in Hugging Face layout: the course's configuration, exact counts, the cache per token."""

from collections.abc import Mapping
from numbers import Integral

from utils import validate
from utils.counting import ROWS, ledger
from utils.model import GPTConfig
from utils.pretrained.config_files import read_config

# what an absent key means, as in transformers 5; None in place of key-value heads: as many as attention heads
ARCHITECTURES = {
    "gpt2": {"tie_word_embeddings": True},
    "llama": {"tie_word_embeddings": False, "num_key_value_heads": None},
    "mistral": {"tie_word_embeddings": False, "num_key_value_heads": 8},
    "qwen2": {"tie_word_embeddings": False, "num_key_value_heads": 32},
}
# how a class's name goes on behind the architecture's: whether its head has a bias, and its outputs or who counts them
LANGUAGE = ("ForCausalLM", "LMHeadModel")
HEADS = {
    "Model": (False, 0),
    "ForSequenceClassification": (False, "num_labels"),
    "ForTokenClassification": (True, "num_labels"),
    "ForQuestionAnswering": (True, 2),  # where an answer starts and ends
}
BEGINS = {"gpt2": "GPT2", "llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2"}
CLASSES = {begin + end: kind for kind, begin in BEGINS.items() for end in (*LANGUAGE, *HEADS)}
# Hugging Face's names, several for one function; the first of each is written
ACTIVATION = {
    **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_python_tanh", "gelu_accurate"), "gelu_tanh"),
    **dict.fromkeys(("gelu", "gelu_python"), "gelu"),
    "relu": "relu",
}
# settings that change what a GPT-2 computes, and the one value that the course's model has
FIXED = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}
# about 100 times the longest context, and more than 100 times the most parameters, of a published model
MOST_DIGITS, MOST_LETTERS = 9, 60  # of a value that matters
MOST_PARAMETERS, MOST_BYTES = 10**15, 10**12  # the bytes are those of one token in the cache


def config_from_hf(dict_or_path) -> GPTConfig:
    """The course's configuration for a GPT-2 in Hugging Face layout.

    dict_or_path: a config.json as a dict, its path, or the folder that holds it. n_inner may be null or absent (4d);
    activation_function is "gelu_new" (the tanh form), "gelu", "relu" or another name of these; absent settings have
    GPT-2's values.
    Raises ValueError for another architecture or head, a missing key (named), a value that is too long or a setting
    that the course's model has not, TypeError for a value of the wrong type and FileNotFoundError for a missing file.
    """
    config = read_config(dict_or_path)
    kind = architecture(config)
    if kind != "gpt2":
        raise ValueError(
            f"model_type={kind!r} is not GPT-2, and the course's model can hold model_type='gpt2' only; "
            f"count_from_hf counts {_listed(ARCHITECTURES)}."
        )
    sizes = _gpt2_sizes(config)
    check_head(config, sizes["tied"])
    for key, value in FIXED.items():
        if flag(config, key, value) != value:
            raise ValueError(f"{key}={config[key]} changes what GPT-2 computes; the course's model has {key}={value}.")
    activation = given(config, "activation_function", "gelu_new")
    validate.one_of("activation_function", activation, ACTIVATION)
    epsilon = given(config, "layer_norm_epsilon", 1e-5)
    return GPTConfig(**sizes, activation=ACTIVATION[activation], layer_norm_epsilon=epsilon)


def count_from_hf(dict_or_path) -> dict[str, int]:
    """Where the parameters of a model sit, from its config.json alone: ints for utils.counting.ROWS.

    dict_or_path: as for config_from_hf; of GPT-2, Llama, Mistral or Qwen2. The values sum to the exact total. The
    last three have no position table (rotary positions: 0), layer norms with d numbers instead of 2d (RMSNorm), three
    matrices in the MLP (SwiGLU), and no biases unless attention_bias or mlp_bias says so (Llama) or q, k and v always
    have them (Qwen2). The head is that of the class in architectures, a language model's if none is named; one that is
    tied, and that of a bare LlamaModel, counts 0. Keys that do not matter are ignored.
    Raises ValueError for an unknown architecture, an unknown head or a missing key (each named), a value that is too
    long or a total of 10^15 or more, TypeError for a value of the wrong type and FileNotFoundError for a missing file.
    """
    config = read_config(dict_or_path)
    kind = architecture(config)
    rows = ledger(GPTConfig(**_gpt2_sizes(config))) if kind == "gpt2" else _llama_ledger(kind, config)
    if head_from_hf(config) != "language":
        width = whole_size(config, "n_embd" if kind == "gpt2" else "hidden_size")
        rows["head"] = _other_head(_class(config).removeprefix(BEGINS[kind]), config, width)
    if sum(rows.values()) >= MOST_PARAMETERS:
        raise ValueError("These sizes make 1,000 trillion parameters or more; look for a size with too many digits.")
    return rows


def head_from_hf(config) -> str:
    """What a model ends in, by the class in architectures: "language" (also if none is named), "none" or "other".

    Raises ValueError for a class that is not known.
    """
    kind, name = architecture(config), _class(config)
    if name is None or name.endswith(LANGUAGE):
        return "language"
    if CLASSES.get(name) != kind:
        raise ValueError(f"architectures names {name!r}, whose head is not known; remove the key for a language model.")
    return "none" if name.endswith("Model") else "other"


def check_head(config, tied):
    """The class in architectures must end in a score for every token, as the course's models do.

    tied: whether such a head follows from the table. Raises ValueError for another class.
    """
    head = head_from_hf(config)
    if head == "other" or (head == "none" and not tied):
        raise ValueError(
            f"architectures names {_class(config)!r}, and the course's models end in a score for every token; "
            "count_from_hf counts the other ends."
        )


def _other_head(end, config, width):
    """The parameters of a head that is no language model's."""
    bias, outputs = HEADS[end]
    labels = config.get("id2label")
    if outputs == "num_labels":  # which transformers writes as the names of the labels, unless they are two
        outputs = whole_size(config, "num_labels") if config.get("num_labels") is not None else 2
        outputs = len(labels) if isinstance(labels, Mapping) else outputs
    return outputs * (width + bias)


def _class(config):
    """The first class that architectures names; None where it is no list of class names."""
    classes = config.get("architectures")
    first = classes[0] if isinstance(classes, (list, tuple)) and classes else classes
    return _plain("architectures", first) if isinstance(first, str) and first[:1].isupper() else None


def _llama_ledger(kind, config):
    """The ledger of Llama and those built like it."""
    V, d, d_ff, L = (
        whole_size(config, key) for key in ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers")
    )
    heads, kv_heads, d_head = attention_heads(kind, config)
    bias_qkv, bias_out, bias_mlp = biases(kind, config)
    out, qkv = heads * d_head, (heads + 2 * kv_heads) * d_head
    counts = (
        V * d,
        0,
        L * (d * qkv + bias_qkv * qkv + out * d + bias_out * d),
        L * (3 * d * d_ff + bias_mlp * (2 * d_ff + d)),
        L * 2 * d,
        d,
        0 if is_tied(kind, config) else V * d,
    )
    return dict(zip(ROWS, counts, strict=True))


def cache_bytes_from_hf(dict_or_path, bytes_per_number=2) -> int:
    """Bytes of KV cache that one token of one sequence takes: 2 * L * key-value heads * d_head * bytes_per_number.

    dict_or_path: as for count_from_hf. bytes_per_number: 2 for 16 bits, 4 for float32. A sliding window bounds the
    number of tokens that are kept, not the bytes of one. Raises as count_from_hf does, and ValueError from 1 TB on.
    """
    config = read_config(dict_or_path)
    size = validate.whole_number("bytes_per_number", bytes_per_number)
    kind = architecture(config)
    if kind == "gpt2":
        sizes = GPTConfig(**_gpt2_sizes(config))
        numbers = 2 * sizes.n_layer * sizes.n_embd
    else:
        _, kv_heads, d_head = attention_heads(kind, config)
        numbers = 2 * whole_size(config, "num_hidden_layers") * kv_heads * d_head
    if numbers * size >= MOST_BYTES:
        raise ValueError("These sizes make a cache of 1 TB or more a token; look for a size with too many digits.")
    return numbers * size


def whole_size(config, key) -> int:
    """The whole number, from 1 up and of at most 9 digits, under a key that must be there.

    Raises ValueError for a missing key, which is named, or another number, TypeError for what is no whole number.
    """
    value = _value(config, key)
    if value is None:
        section = _section_with(config, key)
        where = f"; it stands inside {section}: give that part" if section else "; give it, a whole number from 1 up"
        raise ValueError(f"{key} is missing from the configuration{where}.")
    return validate.whole_number(key, value)


def architecture(config):
    """One of ARCHITECTURES, by model_type or else by the first class in architectures."""
    kind, classes = _value(config, "model_type"), config.get("architectures")
    if kind is None and not classes:
        raise ValueError(f"model_type is missing from the configuration; give one of {_listed(ARCHITECTURES)}.")
    if kind is None:
        if not isinstance(classes, (list, tuple)) or not isinstance(classes[0], str):
            raise TypeError("architectures is no list of names; give one, as ['LlamaForCausalLM'], or give model_type.")
        kind = CLASSES.get(classes[0], _plain("architectures", classes[0]))
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        raise ValueError(f"The architecture {kind!r} is not known here; the known ones are {_listed(ARCHITECTURES)}.")
    return kind


def _gpt2_sizes(config):
    """What decides how many numbers a GPT-2 has, as arguments of GPTConfig."""
    if flag(config, "add_cross_attention", False):
        raise ValueError("add_cross_attention=True adds a second attention to each block; the course's model has none.")
    context = "n_ctx" if _value(config, "n_positions") is None and "n_ctx" in config else "n_positions"
    sizes = {name: whole_size(config, name) for name in ("vocab_size", "n_embd", "n_layer", "n_head")}
    inner = {"n_inner": _value(config, "n_inner"), "tied": is_tied("gpt2", config)}
    return {**sizes, **inner, "n_ctx": whole_size(config, context)}


def attention_heads(kind, config):
    """Heads that ask, heads that are kept (grouped-query attention: fewer), and the width of one."""
    heads, width = whole_size(config, "num_attention_heads"), whole_size(config, "hidden_size")
    stated = "num_key_value_heads" in config
    kept = _value(config, "num_key_value_heads") if stated else ARCHITECTURES[kind]["num_key_value_heads"]
    kept = heads if kept is None else validate.whole_number("num_key_value_heads", kept)
    if heads % kept:
        absent = "" if stated else f" (what {kind} means when the key is absent)"
        raise ValueError(
            f"num_key_value_heads={kept}{absent} does not divide num_attention_heads={heads}; give one of its divisors."
        )
    if _value(config, "head_dim") is not None:
        return heads, kept, whole_size(config, "head_dim")
    if width % heads:
        raise ValueError(
            f"hidden_size={width} does not divide by num_attention_heads={heads}; give head_dim, or other sizes."
        )
    return heads, kept, width // heads


def biases(kind, config):
    """Whether there are biases on q, k and v, on attention's output, and in the MLP."""
    if kind != "llama":
        return kind == "qwen2", False, False
    attention = flag(config, "attention_bias", False)
    return attention, attention, flag(config, "mlp_bias", False)


def is_tied(kind, config):
    """Whether the head is the token table."""
    section = _section_with(config, "tie_word_embeddings")
    if section and "tie_word_embeddings" not in config:
        raise ValueError(
            f"tie_word_embeddings stands inside {section}, where it says nothing about this model; "
            "give it beside model_type, or remove it."
        )
    return flag(config, "tie_word_embeddings", ARCHITECTURES[kind]["tie_word_embeddings"])


def flag(config, key, default):
    """True or False under a key, `default` for an absent one. Raises TypeError for anything else."""
    value = given(config, key, default)
    validate.flag(key, value)
    return value


def given(config, key, default):
    """What stands under a key, `default` for an absent one and for null. Raises ValueError where it is too long."""
    value = _value(config, key)
    return default if value is None else value


def _value(config, key):
    """What stands under a key that matters; None for null, which says as much as nothing, and for an absent key."""
    return _plain(key, config.get(key))


def _plain(key, value):
    """The value, if it is short enough for a sentence that names it, and no larger than a size can be."""
    if isinstance(value, Integral) and not -(10**MOST_DIGITS) < value < 10**MOST_DIGITS:
        raise ValueError(f"{key} has more than {MOST_DIGITS} digits; give a smaller number.")
    try:
        length = len(repr(value))
    except (RecursionError, ValueError):  # lists in lists in lists, or a number with thousands of digits in one
        length = MOST_LETTERS + 1
    if length > MOST_LETTERS:
        raise ValueError(f"{key} holds more than {MOST_LETTERS} characters; give one number, word or flag.")
    return value


def _section_with(config, key):
    """The name, in quotes, of the first part of a nested configuration that holds this key, or None."""
    parts = (name for name, part in config.items() if isinstance(part, Mapping) and key in part)
    return next((repr(str(name)[:MOST_LETTERS]) for name in parts), None)


def _listed(names):
    return ", ".join(map(repr, names))
