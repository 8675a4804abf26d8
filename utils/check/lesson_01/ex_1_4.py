"""Exercise 1.4: the tie. answer(model) shares model.wte.weight with model.lm_head, in place."""

import copy

import torch
from torch import nn

from utils.check.calling import Unclear, Wrong, call, reason
from utils.check.compare import same
from utils.check.engine import Exercise


class Pair(nn.Module):
    """A token table and a head and nothing in between, untied: ids (B, T) -> logits (B, T, V)."""

    def __init__(self, vocab_size, n_embd):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)

    def forward(self, ids):
        """ids (B, T) -> logits (B, T, V)."""
        return self.lm_head(self.wte(ids))


def _probe(tie):
    model = Pair(6, 4)
    before = [layer.weight.detach().clone() for layer in (model.wte, model.lm_head)]
    result = call(tie, model, in_place=True)
    if isinstance(result, nn.Module) and result is not model:
        raise Wrong("you return another model; change the one that you were given, so that its owner has the tie.")
    _require_one(*(_weight(model, name, kind) for name, kind in (("wte", nn.Embedding), ("lm_head", nn.Linear))))
    table, head = before
    if torch.equal(model.wte.weight, head):
        raise Wrong("the tie is made backwards: both hold the head's numbers, and those of the token table are lost.")
    if not torch.equal(model.wte.weight, table):
        raise Wrong("the shared table holds new numbers; a trained model would lose what it has learned.")
    _require_working(model, torch.tensor([[0, 5]]))


def _require_working(model, ids):
    """Wrong if the model has lost something beside its second tensor."""
    try:
        logits, twin = model(ids), copy.deepcopy(model)
    except Exception as error:
        raise Wrong(f"after your change the model no longer runs, or cannot be copied: {reason(error)}") from None
    if not same(logits, model.wte(ids) @ model.wte.weight.T):
        raise Wrong("the model no longer gives x @ table.T; tie the head's weight and leave the rest as it was.")
    if twin.wte.weight is not twin.lm_head.weight:
        raise Wrong("the tie is lost after a deepcopy.")


def _weight(model, name, kind):
    """The weight of a layer; Wrong if layer or weight is no longer of its kind."""
    layer = getattr(model, name, None)
    if not isinstance(layer, kind):
        raise Wrong(f"model.{name} is no longer an nn.{kind.__name__}; keep both layers and share their weight.")
    weight = layer._parameters.get("weight")
    if weight is None or not weight.requires_grad:
        raise Wrong(f"model.{name} has no weight that learns; both layers must hold the same nn.Parameter.")
    return weight


def _require_one(table, head):
    """Wrong, with the likely cause, for two tensors."""
    if table is head:
        return
    if table.data_ptr() == head.data_ptr():
        raise Wrong("they share their memory, but are two Parameters: the optimizer steps both, a deepcopy parts them.")
    if torch.equal(table, head):
        raise Wrong("the values are equal, but there are two tables: after one optimizer step they differ.")
    raise Unclear("the table and the head are still two different tensors.")


EXERCISE = Exercise(
    target="An example: after tie(model), `model.lm_head.weight is model.wte.weight` is True.",
    probe=_probe,
    meaning="two names, one Parameter: optimizer, deepcopy and state_dict all see a single tensor.",
    hints=(
        "Both weights have the shape (V, d), so no transpose is needed: nn.Linear multiplies with its weight turned.",
        "Copying values is not enough. Python's `=` on an attribute makes a name hold another object.",
        "Assign the Parameter itself, not its `.data` and not a new Parameter made from it.",
    ),
)
