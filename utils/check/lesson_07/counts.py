"""Exercise 7.3: the parameters of a GPT-2 from its config.json."""

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.pretrained import KNOWN_CONFIGS


def _config_cases():
    smallest = {"vocab_size": 10, "n_positions": 4, "n_embd": 2, "n_layer": 1}
    other = {"vocab_size": 7, "n_positions": 5, "n_embd": 4, "n_layer": 3}
    return [
        (smallest,),
        (other,),
        (smallest | {"n_inner": None},),
        (smallest | {"n_inner": 3},),
        (smallest | {"tie_word_embeddings": False},),
        (smallest | {"tie_word_embeddings": True},),
        (other | {"n_inner": 20, "tie_word_embeddings": False},),
        (KNOWN_CONFIGS["GPT-2 small"],),
    ]


def _sizes(config):
    return tuple(config[key] for key in ("vocab_size", "n_positions", "n_embd", "n_layer"))


def _given_width(config):
    return config.get("n_inner") or 4 * config["n_embd"]


def _given_tie(config):
    return config.get("tie_word_embeddings", True)


def _count(config, width=_given_width, tied=_given_tie, mlp=lambda d, d_ff: 2 * d * d_ff + d_ff + d):
    V, n, d, L = _sizes(config)
    block = 4 * d * d + 4 * d + mlp(d, width(config)) + 4 * d
    return V * d + n * d + L * block + 2 * d + (0 if tied(config) else V * d)


def _with(**changes):
    """The count with something else in place of a part: a function of a configuration."""
    return lambda config: _count(config, **changes)


def _off_by(more):
    """The count with more(V, n, d, L) numbers on top: a function of a configuration."""
    return lambda config: _count(config) + more(*_sizes(config))


def _in_the_courses_words(config):
    return _count(config | {"n_positions": config["n_ctx"]})


def _of_one_block(config):
    return _count(config | {"n_layer": 1})


def _all_times_layers(config):
    return config["n_layer"] * _of_one_block(config)


def _blocks(config):
    V, n, d = _sizes(config)[:3]
    return _count(config, tied=lambda config: True) - V * d - n * d - 2 * d


_WIDTH_MISTAKES = (
    (
        "without `n_inner` the MLP is as wide as the stream here; it is wider.",
        _with(width=lambda config: config.get("n_inner") or config["n_embd"]),
    ),
    (
        "without `n_inner` the MLP has no width here; null, or a missing key, stands for 4 d.",
        _with(width=lambda config: config.get("n_inner") or 0),
    ),
    (
        "without `n_inner` the MLP is three times as wide as the stream here; that is for queries, keys and values.",
        _with(width=lambda config: config.get("n_inner") or 3 * config["n_embd"]),
    ),
    (
        "the MLP's matrices are counted as a square of the inner width; each has d times the inner width.",
        _with(mlp=lambda d, d_ff: d_ff * d_ff + d_ff + d),
    ),
    (
        "`n_inner` is given here and does not count; it replaces 4 d as the MLP's width.",
        _with(width=lambda config: 4 * config["n_embd"]),
    ),
    (
        "`n_inner` is null here, None in Python: then the MLP's width is 4 d, as if the key were missing.",
        _with(width=lambda config: config.get("n_inner", 4 * config["n_embd"])),
    ),
    (
        "`n_inner` is missing from most files; then the MLP's width is 4 d.",
        _with(width=lambda config: config["n_inner"]),
    ),
    (
        "`n_inner` is missing from most files; then the MLP's width is 4 d.",
        _with(width=lambda config: config["n_inner"] or 4 * config["n_embd"]),
    ),
    (
        "`n_inner` is multiplied by 4; it is the MLP's width already.",
        _with(width=lambda config: 4 * (config.get("n_inner") or config["n_embd"])),
    ),
    (
        "the MLP's biases are missing: one number for each of its inner outputs, and one for each of its outer ones.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff),
    ),
    (
        "the MLP's inner bias has as many numbers as the inner width, also where `n_inner` is given; yours has 4 d.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff + 5 * d),
    ),
    (
        "`n_inner` is used for the MLP's bias and not for its two matrices.",
        _with(mlp=lambda d, d_ff: 8 * d * d + d_ff + d),
    ),
    (
        "the MLP's first bias is missing: it has as many numbers as the inner width.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff + d),
    ),
    (
        "d numbers are missing in each block: the layers back to the stream have a bias, in attention and in the MLP.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff + d_ff),
    ),
    (
        "both biases of the MLP are counted with the inner width; the second has d numbers.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff + 2 * d_ff),
    ),
    (
        "both biases of the MLP are counted with d numbers; the first has as many as the inner width.",
        _with(mlp=lambda d, d_ff: 2 * d * d_ff + 2 * d),
    ),
    (
        "the MLP is counted with one matrix; there is one to widen and one to narrow.",
        _with(mlp=lambda d, d_ff: d * d_ff + d_ff + d),
    ),
    (
        "the MLP is counted with three matrices, as in a Llama; GPT-2's has two.",
        _with(mlp=lambda d, d_ff: 3 * d * d_ff + d_ff + d),
    ),
)

_TIE_MISTAKES = (
    (
        "an untied head is counted with V numbers; it is a table of V rows of d.",
        lambda config: _count(config, tied=lambda config: True) + (0 if _given_tie(config) else config["vocab_size"]),
    ),
    (
        "an untied head is counted twice; it is one more table.",
        lambda config: 2 * _count(config) - _count(config, tied=lambda config: True),
    ),
    (
        "`tie_word_embeddings` is false here, and the count is that of a tied head: a table of its own is missing.",
        _with(tied=lambda config: True),
    ),
    (
        "where `tie_word_embeddings` is missing, yours has an untied head; a GPT-2 that says nothing is tied.",
        _with(tied=lambda config: config.get("tie_word_embeddings")),
    ),
    (
        "the token table is counted twice in every file; a head that is tied has no numbers of its own.",
        _with(tied=lambda config: False),
    ),
    (
        "the flag is the wrong way round: false gives the head a table, and true, or a missing key, gives it none.",
        _with(tied=lambda config: not _given_tie(config)),
    ),
    (
        "the flag is the wrong way round: false gives the head a table of its own, and true gives it none.",
        _with(tied=lambda config: not config.get("tie_word_embeddings", False)),
    ),
    (
        "`tie_word_embeddings` is missing from most files; then the head is tied.",
        _with(tied=lambda config: config["tie_word_embeddings"]),
    ),
    (
        "an untied head is counted with a bias; GPT-2's head is a matrix alone.",
        lambda config: _count(config) + (0 if _given_tie(config) else config["vocab_size"]),
    ),
    (
        "for an untied head the position table is doubled too; only the token table has a second one.",
        lambda config: _count(config) + (0 if _given_tie(config) else config["n_positions"] * config["n_embd"]),
    ),
)

_PART_MISTAKES = (
    ("`n_ctx` is the course's word; these files say `n_positions`.", _in_the_courses_words),
    ("the position table is missing: n rows of d numbers.", _off_by(lambda V, n, d, L: -n * d)),
    ("the token table is missing: V rows of d numbers.", _off_by(lambda V, n, d, L: -V * d)),
    ("both tables are missing: V rows and n rows of d numbers.", _off_by(lambda V, n, d, L: -(V + n) * d)),
    ("the final layer norm is missing, after the last block.", _off_by(lambda V, n, d, L: -2 * d)),
    ("the final layer norm has a scale and a shift, and one is counted.", _off_by(lambda V, n, d, L: -d)),
    ("the final layer norm is counted in every block; it comes once.", _off_by(lambda V, n, d, L: 2 * d * (L - 1))),
    (
        "4 d numbers are missing in each block: are the two layer norms counted, and the biases of attention?",
        _off_by(lambda V, n, d, L: -4 * d * L),
    ),
    (
        "a block has two layer norms, each with a scale and a shift; yours has half.",
        _off_by(lambda V, n, d, L: -2 * d * L),
    ),
    (
        "every layer norm is counted with one vector, as in a Llama; GPT-2's has a scale and a shift.",
        _off_by(lambda V, n, d, L: -2 * d * L - d),
    ),
    (
        "all biases of the blocks are missing; GPT-2 has them, in attention and in the MLP.",
        lambda config: _count(config, mlp=lambda d, d_ff: 2 * d * d_ff) - 4 * config["n_embd"] * config["n_layer"],
    ),
    (
        "attention's last matrix, `c_proj`, is missing, with its bias or without.",
        _off_by(lambda V, n, d, L: -L * (d * d + d)),
    ),
    (
        "attention's last matrix, `c_proj`, is missing, with its bias or without.",
        _off_by(lambda V, n, d, L: -L * d * d),
    ),
    ("one block is counted; there are n_layer of them.", _of_one_block),
    ("tables and final layer norm are counted once for each block; only the blocks repeat.", _all_times_layers),
    ("these are the blocks alone; two tables and a final layer norm come with them.", _blocks),
)

COUNT = Exercise(
    number="7.3",
    target='An example: `{"vocab_size": 3, "n_positions": 2, "n_embd": 2, "n_layer": 1}` gives 88 parameters, '
    'and 94 with `"tie_word_embeddings": False`.',
    probe=by_cases(_config_cases, right=_count, mistakes=_WIDTH_MISTAKES + _TIE_MISTAKES + _PART_MISTAKES),
    meaning="a small file of settings is enough to say what a model weighs, before a single weight is fetched.",
    hints=(
        "List the parts: two tables, the blocks, a final layer norm, and perhaps a head. Lesson 03 has most of it.",
        "Find the MLP's width first, as in exercise 7.2. A block is attention, an MLP of that width, two layer norms.",
        "`config.get(key, default)` helps where a missing key means something; ask for the tie in this way.",
    ),
)


def ex_7_3(answer) -> Verdict:
    """Exercise 7.3: the count of a GPT-2. answer(config.json as a dict) -> int."""
    return judge(COUNT, answer)
