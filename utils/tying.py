"""One table under two names: what keeps `lm_head.weight is wte.weight` while a model is loaded, moved or copied."""

import torch
from torch import nn


class TiedModule(nn.Module):
    """A module with `config`, `wte`, `lm_head` and a `tie` that makes the two tables one if config.tied.

    PyTorch makes a separate Parameter for each name when a state is assigned and when some moves are made; the tie is
    made again after both. A tied state may be given under one of its names or both; two that differ are refused.
    """

    def __init__(self):
        super().__init__()
        self.register_load_state_dict_pre_hook(_share_head)
        self.register_load_state_dict_post_hook(TiedModule._tie_again)

    def _apply(self, fn, recurse=True):
        # `to`, `half`, `to_empty` … all pass here
        super()._apply(fn, recurse)
        self._tie_again()
        return self

    def _tie_again(self, *_):
        if _can_be_tied(self):
            self.tie()


def _can_be_tied(model):
    # pruned, quantised or reparametrised weights are no Parameters of that name, and stay as they are
    return model.config.tied and all("weight" in part._parameters for part in (model.wte, model.lm_head))


def _share_head(model, state, prefix, *_):
    """Before loading: let one entry serve both names of a tied table, and refuse two that differ."""
    if not _can_be_tied(model):
        return
    table, head = prefix + "wte.weight", prefix + "lm_head.weight"
    if table in state and head in state:
        if not _same(state[table], state[head]):
            raise ValueError(
                f"{table} and {head} differ, but this model shares one table for both; "
                "load them into a model with tied=False, or drop one of the two entries."
            )
    elif table in state or head in state:
        state.setdefault(table, state.get(head))
        state.setdefault(head, state[table])


def _same(a, b):
    alike = (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)
    # is_set_to: one tensor under two names is the same, even when it holds NaN
    return alike and (a.is_meta or a.is_set_to(b) or torch.equal(a, b))
