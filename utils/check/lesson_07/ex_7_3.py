"""Exercise 7.3: the count of a GPT-2. answer(config.json as a dict) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.lesson_03.ex_3_2 import LARGE
from utils.check.terms import Terms
from utils.pretrained import KNOWN_CONFIGS

_SMALLEST = {"vocab_size": 10, "n_positions": 4, "n_embd": 2, "n_layer": 1}


def _cases():
    other, untied = {"vocab_size": 7, "n_positions": 5, "n_embd": 4, "n_layer": 3}, {"tie_word_embeddings": False}
    more = {"n_inner": None}, {"n_inner": 3}, untied, {"tie_word_embeddings": True}
    whole = other | {"n_inner": 20} | untied, KNOWN_CONFIGS["GPT-2 small"], dict(zip(_SMALLEST, LARGE, strict=True))
    return [(config,) for config in (_SMALLEST, other, *(_SMALLEST | setting for setting in more), *whole)]


def _parts(config):
    V, n, d, L = (config[key] for key in _SMALLEST)
    d_ff = config.get("n_inner") or 4 * config["n_embd"]
    return {
        "the token table": V * d,
        "the position table": n * d,
        "the matrix of `c_attn`": (L, 3 * d * d),
        "the bias of `c_attn`": (L, 3 * d),
        "the matrix of attention's `c_proj`": (L, d * d),
        "the bias of attention's `c_proj`": (L, d),
        "the matrix of `c_fc`": (L, d * d_ff),
        "the bias of `c_fc`": (L, d_ff),
        "the matrix of the MLP's `c_proj`": (L, d_ff * d),
        "the bias of the MLP's `c_proj`": (L, d),
        "`ln_1`": (L, 2 * d),
        "`ln_2`": (L, 2 * d),
        "the final layer norm": 2 * d,
        "the table of an untied head": 0 if config.get("tie_word_embeddings", True) else V * d,
    }


_TERMS = Terms(_parts)
_count = _TERMS.count


EXERCISE = Exercise(
    target='An example: `{"vocab_size": 3, "n_positions": 2, "n_embd": 2, "n_layer": 1}` gives 88 parameters, '
    'and 94 with `"tie_word_embeddings": False`.',
    probe=Cases(
        _cases,
        right=_count,
        mistakes={
            "a layer norm is counted as d numbers; it has a scale and a shift, d of each.": (
                lambda c: _count(c) - (2 * c["n_layer"] + 1) * c["n_embd"]
            )
        },
        terms=_TERMS,
    ),
    meaning="a small file of settings is enough to say what a model weighs, before a single weight is fetched.",
    hints=(
        "List the parts: two tables, the blocks, a final layer norm, and perhaps a head. Lesson 03 has most of it.",
        "Find the MLP's width first, as in exercise 7.2. A block is attention, an MLP of that width, two layer norms.",
        "`config.get(key, default)` helps where a missing key means something; ask for the tie in this way.",
    ),
)
