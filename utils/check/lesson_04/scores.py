"""Exercise 4.1: the scores after the last token."""

import torch

from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge
from utils.model import GPT, GPTConfig


def _model():
    """A GPT with room for four tokens, whose scores differ enough to be told apart."""
    torch.manual_seed(1)
    model = GPT(GPTConfig(vocab_size=5, n_ctx=4, n_embd=8, n_layer=1, n_head=2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(20 if parameter.ndim == 2 else 1)
    return model


def _model_cases():
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


_by_cases = by_cases(
    _model_cases,
    right=_last,
    mistakes=(
        ("these are the scores after every token; only those after the last are wanted.", _all_scores),
        (
            "these are the scores after the first token; the next one comes after the last.",
            lambda model, ids: _all_scores(model, ids)[:, 0],
        ),
        (
            "these are the scores after the last token but one.",
            lambda model, ids: _all_scores(model, ids)[:, -2],
        ),
        (
            "a text longer than the context stops the model; it has room for `model.config.n_ctx` tokens.",
            lambda model, ids: model(ids)[:, -1],
        ),
        (
            "rows are cut off, not tokens: the tokens of a text run along the second axis.",
            lambda model, ids: model(ids[-model.config.n_ctx :])[:, -1],
        ),
        (
            "of a long text the model is given the start; what comes next hangs on its end.",
            lambda model, ids: model(ids[:, : model.config.n_ctx])[:, -1],
        ),
        (
            "a long text is cut too short: the model has room for one token more.",
            lambda model, ids: model(ids[:, 1 - model.config.n_ctx :])[:, -1],
        ),
        (
            "the model is given the last token only; it needs those before it too.",
            lambda model, ids: model(ids[:, -1:])[:, -1],
        ),
        (
            "only the first row of the batch is there; every row has scores of its own.",
            lambda model, ids: _last(model, ids)[0],
        ),
        (
            "only the first row of the batch is read; every row has scores of its own.",
            lambda model, ids: _last(model, ids[:1]),
        ),
        (
            "a batch of one loses its axis: the shape is (B, V), also with B = 1.",
            lambda model, ids: _last(model, ids).squeeze(0),
        ),
        (
            "this is the last row of the batch, after each of its tokens; tokens run along the second axis.",
            lambda model, ids: _all_scores(model, ids)[-1],
        ),
        (
            "there is one axis too many: a single place is left, so its axis can go.",
            lambda model, ids: _all_scores(model, ids)[:, -1:],
        ),
        (
            "this is the score of the vocabulary's last token, at each place; a text runs along the second axis.",
            lambda model, ids: _all_scores(model, ids)[..., -1],
        ),
        (
            "these are the scores averaged over the places; only the last place knows the whole text.",
            lambda model, ids: _all_scores(model, ids).mean(1),
        ),
        *(
            (
                "the scores of all places are put together; only those of the last place count.",
                lambda model, ids, join=join: join(_all_scores(model, ids), 1),
            )
            for join in (torch.sum, torch.amax)
        ),
        (
            "a softmax has made probabilities of them, along the batch; the scores are wanted as they are.",
            lambda model, ids: _last(model, ids).softmax(0),
        ),
        (
            "a softmax has made probabilities of them; the scores are wanted as they are.",
            lambda model, ids: _last(model, ids).softmax(-1),
        ),
        (
            "these are log-probabilities; the scores are wanted as they are.",
            lambda model, ids: _last(model, ids).log_softmax(-1),
        ),
        (
            "this is the token with the highest score; all the scores are wanted.",
            lambda model, ids: _last(model, ids).argmax(-1),
        ),
    ),
)


def _last_probe(function):
    _by_cases(function)
    result = call(function, *_model_cases()[0])
    if isinstance(result, torch.Tensor) and result.requires_grad:
        raise Wrong(
            "the scores are right and require a gradient, so the graph of the whole pass is kept; "
            "nothing is learned here, so build none."
        )


LAST = Exercise(
    number="4.1",
    target="An example: ids of shape (2, 7), a model with `n_ctx` = 4 and V = 5 give scores of shape (2, 5): "
    "for each row those after its last token, when the model has read the row's last 4.",
    probe=_last_probe,
    meaning="a pass gives scores at every place, and to say what comes next only the last place counts.",
    hints=(
        "A slice with a negative start keeps the last tokens, and all of them if there are fewer. Which axis is it?",
        "The model gives (B, T, V). Which index along its second axis is the last place?",
        "`with torch.no_grad():` around the call, or `@torch.no_grad()` above the function, keeps no graph.",
    ),
)


def ex_4_1(answer) -> Verdict:
    """Exercise 4.1: the last scores. answer(model, ids (B, T)) -> (B, V), with no graph; T may exceed n_ctx."""
    return judge(LAST, answer)
