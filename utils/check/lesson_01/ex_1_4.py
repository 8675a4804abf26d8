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
    table, head = (layer.weight.detach().clone() for layer in (model.wte, model.lm_head))
    result = call(tie, model, in_place=True)
    _require_pair(model, result)
    shared = model.wte.weight
    if shared is not model.lm_head.weight:
        raise _why_not_shared(shared, model.lm_head.weight)
    _require_numbers(model, shared, table, head)
    if not same(_still("runs", model, torch.tensor([[0, 5]])), model.wte(torch.tensor([[0, 5]])) @ shared.T):
        raise Wrong("the model no longer gives x @ table.T; did you change something beside the tie?")
    _require_lasting(model)


def _require_pair(model, result):
    """Wrong if the two layers are no longer there, each with a weight."""
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
        shapes = f"{tuple(table.shape)} and {tuple(head.shape)}"
        return Wrong(f"the two weights have the shapes {shapes}, so they are not one tensor.")
    if not isinstance(table, nn.Parameter) or not isinstance(head, nn.Parameter):
        return Wrong(
            "one of the two weights is a plain tensor now, which does not learn; both must be the same Parameter."
        )
    if table.data_ptr() == head.data_ptr():
        return Wrong(
            "the two share their memory, but they are two Parameters: the optimizer steps both, "
            "and a deepcopy parts them. The two names must hold the same Parameter."
        )
    if torch.equal(table, head):
        return Wrong("the values are equal, but there are two tables: after one optimizer step they differ.")
    return Unclear("the table and the head are still two different tensors.")


def _require_numbers(model, shared, table, head):
    """Wrong if the shared tensor is no longer the token table, or has stopped learning."""
    if not shared.requires_grad or not any(part is shared for part in model.parameters()):
        raise Wrong("the shared tensor no longer learns; it must be an nn.Parameter of the model.")
    if torch.equal(shared, head):
        raise Wrong("the tie is made backwards: both hold the head's numbers, and those of the token table are lost.")
    if not torch.equal(shared, table):
        raise Wrong("the shared table holds new numbers; a trained model would lose what it has learned.")
    if model.lm_head.bias is not None:
        raise Wrong("the head has a bias now; tie its weight and leave the rest as it was.")


def _require_lasting(model):
    """Identity after a step downhill, a deepcopy, and a state_dict round trip."""
    model(torch.tensor([[1, 2]])).square().sum().backward()
    with torch.no_grad():  # by hand: the first of PyTorch's optimizers takes seconds to import
        for part in model.parameters():
            part -= 0.1 * (0 if part.grad is None else part.grad)
    twin = _still("can be copied", copy.deepcopy, model)
    twin.load_state_dict(model.state_dict())
    for stage, tied in (("an optimizer step", model), ("a deepcopy and a state_dict round trip", twin)):
        if tied.wte.weight is not tied.lm_head.weight:
            raise Wrong(f"the tie is lost after {stage}.")


def _still(can, work, *args):
    """What work(*args) gives; Wrong if the student's change has broken it."""
    try:
        return work(*args)
    except Exception as error:
        raise Wrong(f"after your change the model no longer {can}: {reason(error)}") from None


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
