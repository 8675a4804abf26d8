"""Exercise 7.5: a tensor's name. answer(name in GPT-2's file) -> (name in the course, stored transposed?)."""

from utils.check.cases import Cases
from utils.check.compare import as_array, same
from utils.check.engine import Exercise
from utils.pretrained import TRANSPOSED, to_course_name

LAYERS = ("h.0.ln_1", "h.0.attn.c_attn", "h.11.attn.c_proj", "h.47.mlp.c_fc", "h.3.mlp.c_proj", "ln_f")
NAMES = ("wte.weight", *(f"{layer}.{kind}" for layer in LAYERS for kind in ("weight", "bias")))


def _is_flag(value):
    flag = as_array(value)
    return flag is not None and flag.shape == () and flag in (0, 1)


def _pair(is_so):
    """A predicate of two results and the wanted two: is_so(name, mark, wanted name, wanted mark); false for others."""
    return lambda result, want: isinstance(result, (tuple, list)) and len(result) == 2 and is_so(*result, *want)


EXERCISE = Exercise(
    target='An example: "transformer.h.5.ln_2.bias" gives ("h.5.ln_2.bias", False).',
    probe=Cases(
        lambda: [(prefix + name,) for name in NAMES for prefix in ("transformer.", "")],
        right=lambda name: (to_course_name(name), to_course_name(name).endswith(TRANSPOSED)),
        results=("the name", "the mark, whether it is stored transposed"),
        signs={  # the name that is wanted says which kind of tensor is marked wrongly
            "the two results are swapped: the name comes first.": _pair(lambda name, mark, ours, _: same(mark, ours)),
            "the prefix is kept, or its dot, or put in front; the course's names go without it.": _pair(
                lambda name, mark, ours, _: str(name) != ours and str(name).endswith(ours)
            ),
            "a part of the name is lost: all that follows the prefix stays, and all of a name without it; `strip` "
            "takes off single letters, at both ends.": _pair(
                lambda name, mark, ours, _: str(name) != ours and str(name) in ours
            ),
            "the second result is neither True nor False.": _pair(lambda name, mark, *_: not _is_flag(mark)),
            "a bias is marked; it has nothing to transpose.": _pair(lambda _, mark, ours, __: mark and "bias" in ours),
            "a table or a layer norm is marked; only four matrices of a block are transposed.": _pair(
                lambda _, mark, __, turned: mark and not turned
            ),
            "a matrix is not marked; four of each block are transposed, attention's square `c_proj` among them.": _pair(
                lambda _, mark, __, turned: turned and not mark
            ),
        },
    ),
    meaning="weights travel between programs by name, and the name alone says which of them have to be transposed.",
    hints=(
        "Two questions, one after the other: what is left without the prefix, and is it one of the four matrices?",
        "A string has `removeprefix`, which does nothing where the prefix is missing.",
        "`endswith` takes a tuple of endings too. Which endings have the four matrices, and neither biases nor norms?",
    ),
)
