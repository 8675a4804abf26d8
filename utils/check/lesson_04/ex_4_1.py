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
        [[1, 2, 3]],
        [[4]],
        [[0, 1, 2, 3], [3, 3, 0, 4]],
        [[4, 0, 3, 1, 2, 2]],
        [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],  # more rows than the model has room for tokens
        [[2, 0, 4, 1, 1, 3, 0], [1, 3, 3, 0, 2, 4, 1]],
    ]
    return [(model, torch.tensor(ids)) for ids in texts]


def _scores(see=lambda ids, n_ctx: ids[:, -n_ctx:], pick=lambda scores: scores[:, -1]):
    """The scores (B, T, V) of the tokens that the model sees, and what is picked of them."""
    return lambda model, ids: pick(model(see(ids, model.config.n_ctx)))


def _require_no_graph(function):
    if getattr(call(function, *_cases()[0]), "requires_grad", False):
        raise Nearly(
            "the scores are right and require a gradient, so the graph of the whole pass is kept; "
            "nothing is learned here, so build none."
        )


_COMPARED = Cases(
    _cases,
    right=_scores(),
    mistakes={
        "these are the scores after every token; only those after the last are wanted.": _scores(pick=lambda s: s),
        "these are the scores after the first token; the next one comes after the last.": (
            _scores(pick=lambda s: s[:, 0])
        ),
        "a text longer than the context stops the model; it has room for `model.config.n_ctx` tokens.": (
            _scores(see=lambda ids, n_ctx: ids)
        ),
        "rows are cut off, not tokens: the tokens of a text run along the second dimension.": (
            _scores(see=lambda ids, n_ctx: ids[-n_ctx:])
        ),
        "of a long text the model is given the start; what comes next hangs on its end.": (
            _scores(see=lambda ids, n_ctx: ids[:, :n_ctx])
        ),
        "the model is given the last token only; it needs those before it too.": (
            _scores(see=lambda ids, n_ctx: ids[:, -1:])
        ),
        "only the first row of the batch is left; every row has scores of its own.": (
            _scores(pick=lambda s: s[0, -1]),
            _scores(pick=lambda s: s[:1, -1]),
        ),
        "the scores of all positions are put together; only the last position knows the whole text.": (
            *(_scores(pick=lambda s, join=join: join(s, 1)) for join in (torch.mean, torch.sum, torch.amax)),
        ),
        "a softmax has made probabilities of them; the scores are wanted as they are.": (
            *(_scores(pick=lambda s, to=to: to(s[:, -1], -1)) for to in (torch.softmax, torch.log_softmax)),
        ),
        "this is the token with the highest score; all the scores are wanted.": (
            _scores(pick=lambda s: s[:, -1].argmax(-1))
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
