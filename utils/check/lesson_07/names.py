"""Exercise 7.5: from a tensor's name in GPT-2's file to the course's, and whether it is stored transposed."""

import re

from utils.check.compare import as_array, same
from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.pretrained import TRANSPOSED, to_course_name


def _name_cases():
    names = (
        "transformer.wte.weight",
        "wpe.weight",
        "transformer.h.0.ln_1.weight",
        "transformer.h.0.ln_1.bias",
        "transformer.h.0.attn.c_attn.weight",
        "transformer.h.0.attn.c_attn.bias",
        "transformer.h.11.attn.c_proj.weight",
        "transformer.h.11.attn.c_proj.bias",
        "h.3.attn.c_attn.weight",
        "h.3.mlp.c_fc.weight",
        "h.3.mlp.c_fc.bias",
        "transformer.h.3.mlp.c_proj.weight",
        "h.3.mlp.c_proj.bias",
        "h.3.ln_2.weight",
        "transformer.ln_f.weight",
        "ln_f.bias",
    )
    return [(name,) for name in names]


def _is_turned(name):
    return to_course_name(name).endswith(TRANSPOSED)


def _to_course(name):
    return to_course_name(name), _is_turned(name)


def _marking(is_turned):
    """A function that has the names right and marks other tensors."""
    return lambda name: (to_course_name(name), is_turned(name))


def _calling(ours):
    """A function that marks correctly and gives other names."""
    return lambda name: (ours(name), _is_turned(name))


def _is_matrix(name):
    return name.endswith("weight") and "ln_" not in name


def _in_block(name):
    return ".c_" in name


_MARK_MISTAKES = (
    (
        "every weight is marked, those of tables and layer norms too; only four matrices of a block are transposed.",
        _marking(lambda name: name.endswith("weight")),
    ),
    ("the tables are marked; they are stored as the course has them, a row for each token.", _marking(_is_matrix)),
    (
        "the weights of layer norms are marked; a vector has nothing to transpose.",
        _marking(lambda name: name.endswith("weight") and ("ln_" in name or ".c_" in name)),
    ),
    (
        "the weights of layer norms are marked; a vector has nothing to transpose.",
        _marking(lambda name: name.endswith("weight") and "h." in name),
    ),
    ("biases are marked, by the name of their layer; a vector has nothing to transpose.", _marking(_in_block)),
    (
        "biases are marked, by the name of their layer, and only in attention; the MLP's matrices are transposed too.",
        _marking(lambda name: ".attn." in name),
    ),
    (
        "the biases are marked, and it is the matrices that are transposed.",
        _marking(lambda name: name.endswith("bias")),
    ),
    (
        "`c_proj` is not marked, in attention and in the MLP; each has one that is transposed.",
        _marking(lambda name: _is_turned(name) and "c_proj" not in name),
    ),
    (
        "attention's `c_proj` is not marked; being square it hides, and it is transposed all the same.",
        _marking(lambda name: _is_turned(name) and "attn.c_proj" not in name),
    ),
    (
        "the MLP's `c_proj` is not marked; attention has one too, and both are transposed.",
        _marking(lambda name: _is_turned(name) and "mlp.c_proj" not in name),
    ),
    (
        "only `c_attn` is marked; three more matrices of a block are transposed.",
        _marking(lambda name: _is_turned(name) and "c_attn" in name),
    ),
    (
        "the MLP's two matrices are not marked; they are transposed as well.",
        _marking(lambda name: _is_turned(name) and "mlp" not in name),
    ),
    (
        "attention's two matrices are not marked; they are transposed as well.",
        _marking(lambda name: _is_turned(name) and "attn" not in name),
    ),
    ("`c_fc` is not marked; the MLP has two matrices.", _marking(lambda name: _is_turned(name) and "c_fc" not in name)),
    ("`c_attn` is not marked.", _marking(lambda name: _is_turned(name) and "c_attn" not in name)),
    (
        "the flag is the wrong way round: True says that the tensor is transposed.",
        _marking(lambda name: not _is_turned(name)),
    ),
    ("nothing is marked; four matrices of each block are transposed.", _marking(lambda name: False)),
    ("everything is marked; only four matrices of each block are transposed.", _marking(lambda name: True)),
    (
        "without the prefix nothing is marked; the same tensors are transposed in either kind of file.",
        _marking(lambda name: _is_turned(name) and name.startswith("transformer.")),
    ),
    (
        "with the prefix nothing is marked; the same tensors are transposed in either kind of file.",
        _marking(lambda name: _is_turned(name) and not name.startswith("transformer.")),
    ),
)

_CALL_MISTAKES = (
    (
        "right with the prefix; a name without it has lost its first part.",
        _calling(lambda name: name.split(".", 1)[1]),
    ),
    (
        "right with the prefix; a name without it has lost its beginning.",
        _calling(lambda name: name[len("transformer.") :]),
    ),
    (
        "right with the prefix; a name without it gives an error.",
        _calling(lambda name: name.split("transformer.")[1]),
    ),
    (
        "right with the prefix; of a name without it nothing is left.",
        _calling(lambda n: n.partition("transformer.")[2]),
    ),
    (
        "`strip` takes off single letters, at both ends, and not a word; `removeprefix` takes off a word.",
        _calling(lambda name: name.strip("aefmnorst.")),
    ),
    (
        "the number of the block is taken off; it says which block the tensor belongs to.",
        _calling(lambda name: re.sub(r"\.\d+", "", to_course_name(name))),
    ),
    (
        "only the last parts of the name are left; block and layer belong to it.",
        _calling(lambda name: ".".join(name.split(".")[-2:])),
    ),
    (
        "only the kind, `weight` or `bias`, is left; the name is all that follows the prefix.",
        _calling(lambda name: name.split(".")[-1]),
    ),
    (
        "the token table is called the head; it keeps its name `wte`, and the head is tied to it.",
        _calling(lambda name: to_course_name(name).replace("wte", "lm_head")),
    ),
    (
        "the name says `.T` now; names stay, and the second result says that the tensor is transposed.",
        _calling(lambda name: to_course_name(name) + (".T" if _is_turned(name) else "")),
    ),
    (
        "the dot of the prefix is left at the front.",
        _calling(lambda name: name.removeprefix("transformer")),
    ),
    (
        "the prefix is put in front; the course's names go without it.",
        _calling(lambda name: "transformer." + name.removeprefix("transformer.")),
    ),
    (
        "`h.` is taken off as well; it is part of the course's names, and says that a block follows.",
        _calling(lambda name: name.removeprefix("transformer.").removeprefix("h.")),
    ),
    (
        "the kind, `weight` or `bias`, is taken off; it is part of the name.",
        _calling(lambda name: to_course_name(name).rpartition(".")[0]),
    ),
)


def _has_flag(result):
    """Whether the second of two results is true or false, in any form."""
    flag = as_array(result[1])
    return flag is not None and flag.shape == () and flag in (0, 1)


def _of_two(predicate):
    """A predicate of two results, name and flag, and the wanted two; false for anything else."""

    def holds(result, want):
        return isinstance(result, (tuple, list)) and len(result) == 2 and predicate(result, want)

    return holds


_SIGNS = (
    (
        "this is the name alone; whether the tensor is transposed is wanted too: `return name, flag`.",
        lambda result, want: isinstance(result, str),
    ),
    (
        "this is the flag alone; the course's name is wanted too: `return name, flag`.",
        lambda result, want: isinstance(result, bool),
    ),
    ("the two results are swapped: the name comes first.", _of_two(lambda result, want: same(result[1], want[0]))),
    (
        "the prefix is kept; the course's names begin after it.",
        _of_two(lambda result, want: same(result[0], "transformer." + want[0])),
    ),
    ("the second result is neither True nor False.", _of_two(lambda result, want: not _has_flag(result))),
    (
        "this tensor is marked, and the file stores it as the course does.",
        _of_two(lambda result, want: not want[1] and same(result, (want[0], True))),
    ),
    (
        "this tensor is not marked, and the file stores it transposed.",
        _of_two(lambda result, want: want[1] and same(result, (want[0], False))),
    ),
)

NAMES = Exercise(
    number="7.5",
    target='An example: "transformer.h.5.ln_2.bias" gives ("h.5.ln_2.bias", False).',
    probe=by_cases(_name_cases, right=_to_course, mistakes=_MARK_MISTAKES + _CALL_MISTAKES, signs=_SIGNS),
    meaning="weights travel between programs by name, and the name alone says which of them have to be transposed.",
    hints=(
        "Two questions, one after the other: what is left without the prefix, and is it one of the four matrices?",
        "A string has `removeprefix`, which does nothing where the prefix is missing.",
        "`endswith` takes a tuple of endings too. Which endings have the four matrices, and neither biases nor norms?",
    ),
)


def ex_7_5(answer) -> Verdict:
    """Exercise 7.5: a tensor's name. answer(name in GPT-2's file) -> (name in the course, stored transposed?)."""
    return judge(NAMES, answer)
