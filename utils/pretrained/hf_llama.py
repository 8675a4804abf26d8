"""Weights of Llama and Mistral in Hugging Face layout, into the course's model."""

from collections.abc import Mapping

from utils import validate
from utils.files import not_there
from utils.llama import Llama, LlamaConfig
from utils.pretrained.config_files import read_config
from utils.pretrained.hf_configs import architecture, attention_heads, biases, check_head, given, is_tied, whole_size
from utils.pretrained.hf_loading import filled, folder_at
from utils.pretrained.hf_names import LLAMA_LAYOUT

KINDS = ("llama", "mistral")
SILU = ("silu", "swish")  # two names of one function
WINDOW = 4096  # what an absent sliding_window means to transformers 5; null is none


def load_llama(folder, n_ctx: int | None = None) -> Llama:
    """A Llama or a Mistral from a folder in Hugging Face layout, in eval mode and in float32, whatever is stored.

    folder: with config.json and model.safetensors, or its parts and their index. n_ctx: the longest sequence, that of
    the configuration if None; a KV cache reserves memory for all of it. Every weight comes from the files, a tied
    head as in load_gpt2.
    Raises FileNotFoundError for a missing file, and ValueError for a damaged one, for another architecture or a
    setting that the course's Llama has not (named), for missing, unexpected and misshapen tensors (listed), and for a
    model larger than this machine's memory.
    """
    found = folder_at(folder, "folder", "a folder's path")
    if found is None:
        raise not_there(folder, "folder")
    return filled(_config(read_config(found), n_ctx), found, LLAMA_LAYOUT)


def _config(config, n_ctx):
    """The course's configuration for a Llama's or a Mistral's."""
    kind = architecture(config)
    if kind not in KINDS:
        raise ValueError(
            f"model_type={kind!r} is not built like Llama in every part; load_llama takes "
            f"{' and '.join(map(repr, KINDS))}, and load_gpt2 'gpt2'."
        )
    tied, context = is_tied(kind, config), whole_size(config, "max_position_embeddings")
    n_ctx = context if n_ctx is None else validate.whole_number("n_ctx", n_ctx, high=context)
    check_head(config, tied)
    _check_settings(kind, config)
    _check_window(kind, config, n_ctx)
    heads, kept, d_head = attention_heads(kind, config)
    width = whole_size(config, "hidden_size")
    if heads * d_head != width:
        raise ValueError(
            f"head_dim={d_head} makes {heads} heads of {heads * d_head} numbers in all, and hidden_size={width}; "
            "in the course's Llama the two are equal."
        )
    return LlamaConfig(
        vocab_size=whole_size(config, "vocab_size"),
        n_ctx=n_ctx,
        n_embd=width,
        n_layer=whole_size(config, "num_hidden_layers"),
        n_head=heads,
        n_kv_head=kept,
        n_inner=whole_size(config, "intermediate_size"),
        tied=tied,
        rope_theta=_theta(config),
        rms_norm_eps=given(config, "rms_norm_eps", 1e-6),
    )


def _check_settings(kind, config):
    attention, _, mlp = biases(kind, config)
    for key, found in {"attention_bias": attention, "mlp_bias": mlp}.items():
        if found:
            raise ValueError(f"{key}=True adds biases to each block; the course's Llama has none.")
    activation = given(config, "hidden_act", SILU[0])
    if activation not in SILU:
        raise ValueError(f"hidden_act={activation!r} is not what the course's Llama computes, which is 'silu'.")


def _check_window(kind, config, n_ctx):
    """Mistral may look at the last tokens only; that is the same where the window is no shorter than the context."""
    if kind != "mistral":
        return
    if "sliding_window" not in config or config["sliding_window"] is not None:
        window = whole_size({"sliding_window": WINDOW} | dict(config), "sliding_window")
        if window < n_ctx:
            raise ValueError(
                f"sliding_window={window} is smaller than the context of {n_ctx}, and the course's Llama looks at all "
                f"tokens; give n_ctx={window} or less."
            )


def _theta(config):
    """The base of the rotation's speeds; refuses those that are changed in another way."""
    rope = {}
    for key in ("rope_scaling", "rope_parameters"):  # its name before transformers 5, and since
        part = {} if config.get(key) is None else config[key]
        if not isinstance(part, Mapping):
            raise validate.wrong_type(key, part, "give an object with rope_type, or null")
        rope |= part
    kind = given(rope, "rope_type", given(rope, "type", "default"))
    if kind != "default":
        raise ValueError(
            f"rope_type={kind!r} in rope_scaling or rope_parameters changes how positions turn; the course's Llama has "
            "'default' only."
        )
    share = given(rope, "partial_rotary_factor", given(config, "partial_rotary_factor", 1))
    if share != 1:
        raise ValueError(f"partial_rotary_factor={share} turns a part of each head; the course's Llama turns it whole.")
    return given(rope, "rope_theta", given(config, "rope_theta", 10_000.0))
