"""Exercise 7.3: the count of a GPT-2. answer(config.json as a dict) -> int."""

from utils.check.cases import Cases
from utils.check.engine import Exercise
from utils.check.terms import Terms
from utils.pretrained import KNOWN_CONFIGS

SMALLEST = {"vocab_size": 10, "n_positions": 4, "n_embd": 2, "n_layer": 1}
OTHER = {"vocab_size": 7, "n_positions": 5, "n_embd": 4, "n_layer": 3}


def _cases():
    return [
        (SMALLEST,),
        (OTHER,),
        (SMALLEST | {"n_inner": None},),
        (SMALLEST | {"n_inner": 3},),
        (SMALLEST | {"tie_word_embeddings": False},),
        (SMALLEST | {"tie_word_embeddings": True},),
        (OTHER | {"n_inner": 20, "tie_word_embeddings": False},),
        (KNOWN_CONFIGS["GPT-2 small"],),
    ]


def _width(config):
    return config.get("n_inner") or 4 * config["n_embd"]


def _tie(config):
    return config.get("tie_word_embeddings", True)


def _parts(config, width=_width, tied=_tie):
    V, n, d, L = (config[key] for key in SMALLEST)
    d_ff = width(config)
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
        "the table of an untied head": 0 if tied(config) else V * d,
    }


_TERMS = Terms(_parts)
_count = _TERMS.count


def _with(**changes):
    """The count with another width of the MLP, or another tie: a function of a configuration."""
    return lambda config: _count(config, **changes)


def _more(numbers):
    """The count with numbers(d, d_ff) on top in each block: a function of a configuration."""
    return lambda config: _count(config) + config["n_layer"] * numbers(config["n_embd"], _width(config))


def _untied(numbers):
    """The count of a tied head, and numbers(V, n, d) on top for one that is not."""

    def count(config):
        V, n, d, _ = (config[key] for key in SMALLEST)
        return _count(config, tied=lambda config: True) + (0 if _tie(config) else numbers(V, n, d))

    return count


EXERCISE = Exercise(
    target='An example: `{"vocab_size": 3, "n_positions": 2, "n_embd": 2, "n_layer": 1}` gives 88 parameters, '
    'and 94 with `"tie_word_embeddings": False`.',
    probe=Cases(
        _cases,
        right=_count,
        mistakes={
            "without `n_inner` the MLP is as wide as the stream here; it is wider.": _with(
                width=lambda config: config.get("n_inner") or config["n_embd"]
            ),
            "without `n_inner` the MLP has no width here; null, or a missing key, stands for 4 d.": _with(
                width=lambda config: config.get("n_inner") or 0
            ),
            "`n_inner` is given here and does not count; it replaces 4 d as the MLP's width.": _with(
                width=lambda config: 4 * config["n_embd"]
            ),
            "`n_inner` is null here, None in Python: then the MLP's width is 4 d, as if the key were missing.": _with(
                width=lambda config: config.get("n_inner", 4 * config["n_embd"])
            ),
            "`n_inner` is missing from most files; then the MLP's width is 4 d.": (
                _with(width=lambda config: config["n_inner"]),
                _with(width=lambda config: config["n_inner"] or 4 * config["n_embd"]),
            ),
            "`n_inner` is multiplied by 4; it is the MLP's width already.": _with(
                width=lambda config: 4 * (config.get("n_inner") or config["n_embd"])
            ),
            "`n_inner` is used for one part of the MLP: its two matrices and its first bias have that width.": (
                _more(lambda d, d_ff: 4 * d - d_ff),
                _more(lambda d, d_ff: 2 * d * (4 * d - d_ff)),
            ),
            "an untied head is counted as V numbers; it is a table of V rows of d.": _untied(lambda V, n, d: V),
            "an untied head is counted with a bias; GPT-2's head is a matrix alone.": _untied(
                lambda V, n, d: V * d + V
            ),
            "for an untied head the position table is doubled too; only the token table has a second one.": _untied(
                lambda V, n, d: (V + n) * d
            ),
            "`tie_word_embeddings` is false here, and the head has no table of its own in your count.": _with(
                tied=lambda config: True
            ),
            "where `tie_word_embeddings` is missing, yours has an untied head; a GPT-2 that says nothing is tied.": (
                _with(tied=lambda config: config.get("tie_word_embeddings"))
            ),
            "the token table is counted twice in every file; a head that is tied has no numbers of its own.": _with(
                tied=lambda config: False
            ),
            "the flag is the wrong way round: false gives the head a table of its own, and true gives it none.": (
                _with(tied=lambda config: not _tie(config)),
                _with(tied=lambda config: not config.get("tie_word_embeddings")),
            ),
            "`tie_word_embeddings` is missing from most files; then the head is tied.": _with(
                tied=lambda config: config["tie_word_embeddings"]
            ),
            "`n_ctx` is the course's word; these files say `n_positions`.": (
                lambda config: _count(config | {"n_positions": config["n_ctx"]})
            ),
            "4 d numbers are missing in each block: are the two layer norms counted, and the biases of attention?": (
                _more(lambda d, d_ff: -4 * d)
            ),
            "tables and final layer norm are counted once for each block; only the blocks repeat.": (
                lambda config: config["n_layer"] * _count(config | {"n_layer": 1})
            ),
            "these are the blocks alone; two tables and a final layer norm come with them.": (
                lambda config: _count(config | {"vocab_size": 0, "n_positions": 0}) - 2 * config["n_embd"]
            ),
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
