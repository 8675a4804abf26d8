"""Exercise 7.5: a tensor's name. answer(name in GPT-2's file) -> (name in the course, stored transposed?)."""

import re

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise
from utils.pretrained import TRANSPOSED, to_course_name

LAYERS = ("h.0.ln_1", "h.0.attn.c_attn", "h.11.attn.c_proj", "h.3.mlp.c_fc", "h.3.mlp.c_proj", "ln_f")
NAMES = ("wte.weight", *(f"{layer}.{kind}" for layer in LAYERS for kind in ("weight", "bias")))


def _is_turned(name):
    return to_course_name(name).endswith(TRANSPOSED)


def _marking(*rules):
    """Functions that have the names right and mark other tensors."""
    return tuple(lambda name, is_turned=is_turned: (to_course_name(name), is_turned(name)) for is_turned in rules)


def _calling(*rules):
    """Functions that give other names, and mark correctly, or as the other name says."""
    return (
        *(lambda name, ours=ours: (ours(name), _is_turned(name)) for ours in rules),
        *(lambda name, ours=ours: (ours(name), ours(name).endswith(TRANSPOSED)) for ours in rules),
    )


def _but(part):
    """The right rule, without the tensors whose name has `part` in it."""
    return lambda name: _is_turned(name) and part not in name


def _of_two(predicate):
    """A predicate of two results, name and flag, and the wanted two; false for anything else."""
    return lambda result, want: isinstance(result, (tuple, list)) and len(result) == 2 and predicate(result, want)


def _is_flag(value):
    flag = as_array(value)
    return flag is not None and flag.shape == () and flag in (0, 1)


EXERCISE = Exercise(
    target='An example: "transformer.h.5.ln_2.bias" gives ("h.5.ln_2.bias", False).',
    probe=Cases(
        lambda: [(prefix + name,) for name in NAMES for prefix in ("transformer.", "")],
        right=lambda name: (to_course_name(name), _is_turned(name)),
        mistakes={
            "nothing is marked; four matrices of each block are transposed.": _marking(lambda name: False),
            "every weight is marked, those of tables and layer norms too; only four matrices of a block are "
            "transposed.": _marking(lambda name: name.endswith("weight"), lambda name: True),
            "the weights of tables or layer norms are marked; only four matrices of a block are transposed.": _marking(
                lambda name: name.endswith("weight") and "ln_" not in name,
                lambda name: name.endswith("weight") and ("ln_" in name or ".c_" in name),
                lambda name: name.endswith("weight") and "h." in name,
            ),
            "biases are marked, by the name of their layer; a vector has nothing to transpose.": _marking(
                lambda name: ".c_" in name, lambda name: ".attn." in name
            ),
            "attention's `c_proj` is not marked; being square it hides, and it is transposed all the same.": _marking(
                _but("attn.c_proj")
            ),
            "four matrices of a block are transposed; yours leaves some of them out.": _marking(
                *map(_but, ("mlp.c_proj", "c_proj", "mlp", "attn.", "c_fc", "c_attn")),
                lambda name: "c_attn.weight" in name,
            ),
            "the same tensors are transposed with the prefix and without it; yours marks those of one kind of file.": (
                _marking(
                    lambda name: _is_turned(name) and name.startswith("transformer."),
                    lambda name: _is_turned(name) and not name.startswith("transformer."),
                )
            ),
            "right with the prefix; of a name without it the beginning is lost, or there is an error.": _calling(
                lambda name: name.split(".", 1)[1],
                lambda name: name[len("transformer.") :],
                lambda name: name.split("transformer.")[1],
                lambda name: name.partition("transformer.")[2],
            ),
            "`strip` takes off single letters, at both ends, and not a word; `removeprefix` does.": _calling(
                lambda name: name.strip("aefmnorst."), lambda name: name.strip("aefmnorst")
            ),
            "parts of the name are taken off; it is all that follows the prefix: block, layer and kind.": _calling(
                lambda name: re.sub(r"\.\d+", "", to_course_name(name)),
                lambda name: ".".join(name.split(".")[-2:]),
                lambda name: name.split(".")[-1],
                lambda name: to_course_name(name).removeprefix("h."),
                lambda name: to_course_name(name).rpartition(".")[0],
            ),
            "the dot of the prefix is left at the front.": _calling(lambda name: name.removeprefix("transformer")),
        },
        results=("the name", "the mark, whether it is stored transposed"),
        signs={
            "this is the name alone; whether the tensor is transposed is wanted too: `return name, flag`.": (
                lambda result, want: isinstance(result, str)
            ),
            "this is the flag alone; the course's name is wanted too: `return name, flag`.": (
                lambda result, want: _is_flag(result)
            ),
            "the two results are swapped: the name comes first.": _of_two(
                lambda result, want: same(result[1], want[0])
            ),
            "the prefix is kept, or put in front; the course's names go without it.": _of_two(
                lambda result, want: same(result[0], "transformer." + want[0])
            ),
            "the second result is neither True nor False.": _of_two(lambda result, want: not _is_flag(result[1])),
        },
    ),
    meaning="weights travel between programs by name, and the name alone says which of them have to be transposed.",
    hints=(
        "Two questions, one after the other: what is left without the prefix, and is it one of the four matrices?",
        "A string has `removeprefix`, which does nothing where the prefix is missing.",
        "`endswith` takes a tuple of endings too. Which endings have the four matrices, and neither biases nor norms?",
    ),
)
