"""Tensors by name: from Hugging Face's names to the course's, and what to say when they do not match."""

import difflib
from collections.abc import Callable
from typing import NamedTuple

# Conv1D, which GPT-2 was published with, keeps these as (in, out); nn.Linear keeps (out, in)
TRANSPOSED = (".attn.c_attn.weight", ".attn.c_proj.weight", ".mlp.c_fc.weight", ".mlp.c_proj.weight")
MASKS = (".attn.bias", ".attn.masked_bias")  # the triangle of ones and a large negative number, not learned
WRAPPERS = {"transformer", "module", "_orig_mod"}  # GPT2LMHeadModel, DataParallel and torch.compile add them
SHOWN = 8
TABLE_SIZES = {"vocab_size": ("a vocabulary of {:,}", "wte.weight", 0), "n_embd": ("a width of {:,}", "wte.weight", 1)}
# Llama's names of parts, where they are not the course's
LLAMA_PARTS = {
    **{"embed_tokens": "wte", "layers": "h", "self_attn": "attn", "norm": "ln_f"},
    **{"input_layernorm": "ln_1", "post_attention_layernorm": "ln_2"},
}
FREQUENCIES = ".rotary_emb.inv_freq"  # the speeds of rotary positions, which older files hold


def to_course_name(hf_name: str) -> str | None:
    """The course's name of a tensor in a GPT-2 file, "h.0.ln_1.weight" for "transformer.h.0.ln_1.weight".

    The names map one to one once the wrappers' are dropped. None stands for a mask, which holds nothing learned.
    A name that ends with one of TRANSPOSED belongs to a matrix that is stored as (in, out).
    """
    name = ".".join(part for part in hf_name.split(".") if part not in WRAPPERS)
    return None if name.endswith(MASKS) else name


def from_llama(hf_name: str) -> str | None:
    """The course's name of a tensor in a Llama file, "h.0.ln_1.weight" for "model.layers.0.input_layernorm.weight".

    None stands for frequencies, which follow from the configuration.
    """
    parts = [part for part in hf_name.split(".") if part not in WRAPPERS | {"model"}]
    return None if hf_name.endswith(FREQUENCIES) else ".".join(LLAMA_PARTS.get(part, part) for part in parts)


class Layout(NamedTuple):
    """How the files of an architecture store what the course's model holds.

    kind: its name. to_course: a stored name -> the course's, None for what the model makes itself, which is called
    `made`, its names ending with one of `made_names`. transposed: the ends of the names of matrices that are stored
    as (in, out). sizes: for a size of the configuration, how it is said, and the tensor and the axis that have it as
    they are stored. heads: a configuration -> as few heads as give its shapes, for any width.
    """

    kind: str
    to_course: Callable
    made: str
    made_names: tuple
    transposed: tuple
    sizes: dict
    heads: Callable

    def is_transposed(self, name: str) -> bool:
        """Whether the tensor of this course name is stored as (in, out)."""
        return name.endswith(self.transposed)

    def course_shape(self, name: str, stored_shape) -> tuple[int, ...]:
        """The shape in the course's model of a tensor that is stored as `stored_shape`."""
        return tuple(stored_shape)[:: -1 if self.is_transposed(name) else 1]


GPT2_LAYOUT = Layout(
    "GPT-2",
    to_course_name,
    "masks",
    MASKS,
    TRANSPOSED,
    TABLE_SIZES
    | {
        "n_ctx": ("a context of {:,}", "wpe.weight", 0),
        "n_inner": ("an MLP width of {:,}", "h.0.mlp.c_fc.weight", 1),
    },
    lambda config: {"n_head": 1},
)
LLAMA_LAYOUT = Layout(
    "Llama",
    from_llama,
    "frequencies",
    (FREQUENCIES,),
    (),
    TABLE_SIZES | {"n_inner": ("an MLP width of {:,}", "h.0.mlp.gate_proj.weight", 0)},
    lambda config: {"n_head": config.n_head // config.n_kv_head, "n_kv_head": 1},
)


def stored_sizes(found: dict, layout: Layout) -> dict[str, int]:
    """The sizes that stored tensors have, as arguments of the configuration; one that cannot be told is left out.

    found: stored shapes by the course's names. Neither the number of heads nor the tie shows in them.
    """
    sizes = {
        size: found[name][axis]
        for size, (_, name, axis) in layout.sizes.items()
        if len(found.get(name, ())) == 2 and found[name][axis]
    }
    layers = {name.split(".")[1] for name in found if name.startswith("h.")}
    if layers and layers == set(map(str, range(len(layers)))):  # none is left out between the first and the last
        sizes["n_layer"] = len(layers)
    return sizes


def other_sizes(said: dict, found: dict, layout: Layout) -> str:
    """The sizes in which a configuration and its weights differ, in words; "" if they agree.

    said, found: arguments of the configuration, both with n_inner filled in.
    """
    words = {"n_layer": "{:,} layers"} | {size: text for size, (text, *_) in layout.sizes.items()}
    differing = [
        f"config.json says {text.format(said[size])}, the weights have {found[size]:,}"
        for size, text in words.items()
        if said[size] != found.get(size, said[size])
    ]
    return ", and ".join(differing).replace(" 1 layers", " 1 layer")


def mismatches(found: dict, wanted: dict, layout: Layout) -> str:
    """What is missing, unexpected and misshapen, with the closest names; "" if all is well.

    found: stored shapes, wanted: shapes in the course's model, both by the course's names.
    """
    missing = [name for name in wanted if name not in found]
    unexpected = [name for name in found if name not in wanted]
    misshapen = [
        f"{name} is stored as {tuple(found[name])}, wanted {layout.course_shape(name, shape)}"
        for name, shape in wanted.items()
        if name in found and layout.course_shape(name, found[name]) != tuple(shape)
    ]
    parts = {
        "missing": _few(missing, lambda name: _with_closest(name, unexpected, [])),
        "unexpected": _few(unexpected, lambda name: _with_closest(name, missing, wanted)),
        "misshapen": _few(misshapen, str),
    }
    return "; ".join(f"{what}: {names}" for what, names in parts.items() if names)


def _few(names, show):
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(show(name) for name in names[:SHOWN]) + more


def _with_closest(name, likely, others):
    close = difflib.get_close_matches(name, likely, n=1) or difflib.get_close_matches(name, others, n=1, cutoff=0.8)
    return f"{name} (closest: {close[0]})" if close else name
