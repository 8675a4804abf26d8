"""Exercise 4.1: the last scores. answer(model, ids (B, T)) -> (B, V), with no graph; T may exceed n_ctx."""

import torch

from utils.check.calling import Nearly, call
from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.model import GPT, GPTConfig


def _model():
    """A GPT with room for four tokens, whose scores differ enough to be told apart."""
    torch.manual_seed(1)
    model = GPT(GPTConfig(vocab_size=5, n_ctx=4, n_embd=8, n_layer=1, n_head=2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(20 if parameter.ndim == 2 else 1)
    return model


def _cases():
    model = _model()
    texts = [
        torch.tensor([[1, 2, 3]]),
        torch.tensor([[4]]),
        torch.tensor([[0, 1, 2, 3], [3, 3, 0, 4]]),
        torch.tensor([[4, 0, 3, 1, 2, 2]]),
        torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]),  # more rows than the model has room for tokens
        torch.tensor([[2, 0, 4, 1, 1, 3, 0], [1, 3, 3, 0, 2, 4, 1]]),
    ]
    return [(model, ids) for ids in texts]


def _all_scores(model, ids):
    return model(ids[:, -model.config.n_ctx :])  # (B, T, V)


def _last(model, ids):
    return _all_scores(model, ids)[:, -1]


def _require_no_graph(function):
    if getattr(call(function, *_cases()[0]), "requires_grad", False):
        raise Nearly(
            "the scores are right and require a gradient, so the graph of the whole pass is kept; "
            "nothing is learned here, so build none."
        )


_COMPARED = Cases(
    _cases,
    right=_last,
    mistakes={
        "these are the scores after every token; only those after the last are wanted.": _all_scores,
        "these are the scores after the first token; the next one comes after the last.": (
            lambda model, ids: _all_scores(model, ids)[:, 0]
        ),
        "a text longer than the context stops the model; it has room for `model.config.n_ctx` tokens.": (
            lambda model, ids: model(ids)[:, -1]
        ),
        "rows are cut off, not tokens: the tokens of a text run along the second dimension.": (
            lambda model, ids: model(ids[-model.config.n_ctx :])[:, -1]
        ),
        "of a long text the model is given the start; what comes next hangs on its end.": (
            lambda model, ids: model(ids[:, : model.config.n_ctx])[:, -1]
        ),
        "the model is given the last token only; it needs those before it too.": (
            lambda model, ids: model(ids[:, -1:])[:, -1]
        ),
        "only the first row of the batch is left; every row has scores of its own.": (
            lambda model, ids: _last(model, ids)[0],
            lambda model, ids: _last(model, ids[:1]),
        ),
        "the scores of all positions are put together; only the last position knows the whole text.": (
            lambda model, ids: _all_scores(model, ids).mean(1),
            lambda model, ids: _all_scores(model, ids).sum(1),
            lambda model, ids: _all_scores(model, ids).amax(1),
        ),
        "a softmax has made probabilities of them; the scores are wanted as they are.": (
            lambda model, ids: _last(model, ids).softmax(-1),
            lambda model, ids: _last(model, ids).softmax(0),
            lambda model, ids: _last(model, ids).log_softmax(-1),
        ),
        "this is the token with the highest score; all the scores are wanted.": (
            lambda model, ids: _last(model, ids).argmax(-1)
        ),
    },
)

EXERCISE = Exercise(
    target="An example: ids of shape (2, 7), a model with `n_ctx` = 4 and V = 5 give scores of shape (2, 5): "
    "for each row those after its last token, when the model has read the row's last 4.",
    probe=InTurn(_COMPARED, _require_no_graph),
    meaning="a pass gives scores at every position, and to say what comes next only the last position counts.",
    hints=(
        "A slice with a negative start keeps the last tokens, and all if there are fewer. Which dimension is it?",
        "The model gives (B, T, V). Which index along its second dimension is the last position?",
        "`with torch.no_grad():` around the call, or `@torch.no_grad()` above the function, keeps no graph.",
    ),
)
