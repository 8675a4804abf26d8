"""Exercises 1.3 and 1.4: what tying saves, and the tie itself."""

import copy

import torch
from torch import nn

from utils.check.compare import same
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge


def _saving_cases():
    return [(10, 2, 100), (200, 64, 114_944), (50_257, 768, 124_439_808)]


def _saving(vocab_size, n_embd, tied_total):
    saved = vocab_size * n_embd
    return saved, saved / tied_total, saved / (tied_total + saved)


def _saving_variant(numbers=lambda saved: saved, tied=None, untied=None):
    def variant(vocab_size, n_embd, tied_total):
        saved = vocab_size * n_embd
        right = _saving(vocab_size, n_embd, tied_total)
        return (
            numbers(saved),
            right[1] if tied is None else tied(saved, tied_total),
            right[2] if untied is None else untied(saved, tied_total),
        )

    return variant


SAVING = Exercise(
    number="1.3",
    target="An example: V = 10, d = 2 in a tied model of 100 numbers give (20, 0.2, 0.1667).",
    probe=by_cases(
        _saving_cases,
        right=_saving,
        mistakes=(
            (
                "the two shares are swapped: the untied model is the larger one, so its share is the smaller.",
                lambda *sizes: tuple(_saving(*sizes)[i] for i in (0, 2, 1)),
            ),
            (
                "the shares are in per cent; give fractions, 0.2 and not 20.",
                lambda *sizes: (_saving(*sizes)[0], 100 * _saving(*sizes)[1], 100 * _saving(*sizes)[2]),
            ),
            (
                "the untied model has one table more than the tied one, so its total is larger, not smaller.",
                _saving_variant(untied=lambda saved, total: saved / (total - saved)),
            ),
            (
                "both shares are of the tied model; the second is of the model that keeps two tables.",
                _saving_variant(untied=lambda saved, total: saved / total),
            ),
            (
                "both shares are of the untied model; the first is of the model as it is, with one table.",
                _saving_variant(tied=lambda saved, total: saved / (total + saved)),
            ),
            (
                "the shares are rounded down to whole numbers: `/` divides, and `//` drops what is behind the point.",
                lambda v, d, total: (v * d, v * d // total, v * d // (total + v * d)),
            ),
            (
                "the fractions stand on their heads: what is saved is the part, and the model the whole.",
                lambda *sizes: (_saving(*sizes)[0], 1 / _saving(*sizes)[1], 1 / _saving(*sizes)[2]),
            ),
            (
                "these are the shares of all the rest; the shares of the saved numbers are wanted.",
                lambda *sizes: (_saving(*sizes)[0], 1 - _saving(*sizes)[1], 1 - _saving(*sizes)[2]),
            ),
            (
                "`tied_total` is taken for the untied model: it counts the table once, and not twice.",
                lambda v, d, total: (v * d, v * d / (total - v * d), v * d / total),
            ),
            (
                "two tables are counted as saved; one of the two stays.",
                lambda v, d, total: _saving(v, 2 * d, total),
            ),
            (
                "only the number is there; the two shares are wanted with it.",
                lambda v, d, total: v * d,
            ),
            (
                "only the two shares are there; the number of what is saved comes before them.",
                lambda *sizes: _saving(*sizes)[1:],
            ),
            (
                "this is the sum of the two sizes; a table of V rows of d numbers holds V times d.",
                lambda v, d, total: (v + d, (v + d) / total, (v + d) / (total + v + d)),
            ),
        ),
    ),
    meaning="one number, two honest percentages: a share means nothing until its base is named.",
    hints=(
        "What is saved is one whole table. How many numbers does it hold?",
        "`tied_total` is the model with one table. How large would it be with a second one?",
        "Each share is the same number of saved parameters, divided by another total.",
    ),
)


class _Pair(nn.Module):
    """A token table and a head and nothing in between, untied: ids (B, T) -> logits (B, T, V)."""

    def __init__(self, vocab_size, n_embd):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, ids):
        """ids (B, T) -> logits (B, T, V)."""
        return self.lm_head(self.wte(ids))


def _tie_probe(tie):
    model = _Pair(6, 4)
    values = [layer.weight.detach().clone() for layer in (model.wte, model.lm_head)]
    result = call(tie, model, in_place=True)
    _require_pair(model, result)
    table, head = model.wte.weight, model.lm_head.weight
    if table is not head:
        raise Wrong(_why_not_shared(table, head))
    if table.shape != (6, 4):
        raise Wrong(f"the shared table has shape {tuple(table.shape)}; it must stay (6, 4), one row for each token.")
    if not table.requires_grad or not any(p is table for p in model.parameters()):
        raise Wrong("the shared tensor no longer learns; it must be an nn.Parameter of the model.")
    if not any(torch.equal(table, before) for before in values):
        raise Wrong("the shared table holds new numbers; a trained model would lose what it has learned.")
    if model.lm_head.bias is not None:
        raise Wrong("the head has a bias now; tie its weight and leave the rest as it was.")
    ids = torch.tensor([[0, 5]])
    if not same(_still("runs", model, ids), model.wte(ids) @ table.T):
        raise Wrong("the model no longer gives x @ table.T; did you change something beside the tie?")
    _require_lasting(model)


def _still(can, work, *args):
    """What work(*args) gives; Wrong if the student's change has broken it."""
    try:
        return work(*args)
    except Exception as error:
        raise Wrong(f"after your change the model no longer {can}: {error}") from None


def _require_pair(model, result):
    if isinstance(result, nn.Module) and result is not model:
        raise Wrong("you return another model; change the one that you were given, so that its owner has the tie.")
    for name, kind in (("wte", nn.Embedding), ("lm_head", nn.Linear)):
        layer = getattr(model, name, None)
        if not isinstance(layer, kind):
            raise Wrong(f"model.{name} is no longer an nn.{kind.__name__}; keep both layers and share their weight.")
        if not isinstance(getattr(layer, "weight", None), torch.Tensor):
            raise Wrong(f"model.{name} has lost its weight; both layers need one, the same.")


def _why_not_shared(table, head):
    if table.shape != head.shape:
        return (
            f"the two weights have the shapes {tuple(table.shape)} and {tuple(head.shape)}, so they are not one tensor."
        )
    if not isinstance(table, nn.Parameter) or not isinstance(head, nn.Parameter):
        return "one of the two weights is a plain tensor now, which does not learn; both must be the same Parameter."
    if table.data_ptr() == head.data_ptr():
        return (
            "the two share their memory, but they are two Parameters: the optimizer steps both, "
            "and a deepcopy parts them. The two names must hold the same Parameter."
        )
    if torch.equal(table, head):
        return "the values are equal, but there are two tables: after one optimizer step they differ."
    return "the table and the head are still two different tensors."


def _require_lasting(model):
    """Identity after an optimizer step, a deepcopy, and a state_dict round trip."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.tensor([[1, 2]])).square().sum().backward()
    optimizer.step()
    twin = _still("can be copied", copy.deepcopy, model)
    twin.load_state_dict(model.state_dict())
    for stage, tied in (("an optimizer step", model), ("a deepcopy and a state_dict round trip", twin)):
        if tied.wte.weight is not tied.lm_head.weight:
            raise Wrong(f"the tie is lost after {stage}.")


TIE = Exercise(
    number="1.4",
    target="An example: after tie(model), `model.lm_head.weight is model.wte.weight` is True.",
    probe=_tie_probe,
    meaning="two names, one Parameter: optimizer, deepcopy and state_dict all see a single tensor.",
    hints=(
        "Both weights have the shape (V, d), so no transpose is needed: nn.Linear multiplies with its weight turned.",
        "Copying values is not enough. Python's `=` on an attribute makes a name hold another object.",
        "Assign the Parameter itself, not its `.data` and not a new Parameter made from it.",
    ),
)


def ex_1_3(answer) -> Verdict:
    """Exercise 1.3: what tying saves. answer(vocab_size, n_embd, tied_total) -> (numbers, of tied, of untied)."""
    return judge(SAVING, answer)


def ex_1_4(answer) -> Verdict:
    """Exercise 1.4: the tie. answer(model) shares model.wte.weight with model.lm_head, in place."""
    return judge(TIE, answer)
