"""Exercise 4.1: the last scores. answer(model, ids (B, T)) -> (B, V), with no graph; T may exceed n_ctx."""

import torch
from torch import nn

from utils.check.calling import Nearly, call
from utils.check.cases import Cases, InTurn
from utils.check.engine import Exercise
from utils.check.lesson_04.ex_4_2 import random_scores
from utils.check.lesson_04.ex_4_6 import ScriptedModel


def _cases():
    table, places = (nn.Parameter(random_scores(5, 5, seed=seed)) for seed in (1, 2))
    rule = lambda ids: (table[ids] * places[: ids.shape[1]]).cumsum(1)  # noqa: E731
    model = ScriptedModel(5, rule, "a model with `n_ctx` = 4")
    texts = [
        [[1, 2, 1]],
        [[4]],
        [[0, 1, 2, 3], [3, 3, 0, 4]],
        [[4, 0, 3, 1, 2, 2]],
        [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],  # more rows than the model has room for tokens
        [[2, 0, 4, 1, 1, 3, 0], [1, 3, 3, 0, 2, 4, 1]],
    ]
    return [(model, torch.tensor(ids)) for ids in texts]


def _require_no_graph(function):
    if getattr(call(function, *_cases()[0]), "requires_grad", False):
        raise Nearly(
            "the scores are right and require a gradient, so the graph of the whole pass is kept; "
            "nothing is learned here, so build none."
        )


EXERCISE = Exercise(
    target="An example: ids of shape (2, 7), a model with `n_ctx` = 4 and V = 5 give scores of shape (2, 5): "
    "for each row those after its last token, when the model has read the row's last 4.",
    probe=InTurn(
        Cases(
            _cases,
            right=lambda model, ids: model(ids[:, -4:])[:, -1],
            mistakes={
                "a text longer than the context stops the model; it has room for `model.config.n_ctx`.": (
                    lambda model, ids: model(ids)[:, -1]
                )
            },
        ),
        _require_no_graph,
    ),
    meaning="a pass gives scores at every position, and to say what comes next only the last position counts.",
    hints=(
        "A slice with a negative start keeps the last tokens, and all if there are fewer. Which dimension is it?",
        "The model gives (B, T, V). Which index along its second dimension is the last position?",
        "`with torch.no_grad():` around the call, or `@torch.no_grad()` above the function, keeps no graph.",
    ),
)
