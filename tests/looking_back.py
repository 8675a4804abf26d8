"""What a head looks at before a word is repeated: a measure that several test files share."""

from utils.inspection import attention_weights


def looks_back(model, rows, places):
    """The attention that each head gives, before a word is repeated, to where that word stood -> (L, H), from 0 to 1.

    rows (m, T + 1). places (m, T) bool: for which of the targets rows[:, 1:] to measure, such as
    `ToyLanguage.kinds(rows)["copied"]`. At each, the weights on all earlier copies of the target are added up.
    """
    inputs, targets = rows[:, :-1], rows[:, 1:]  # (m, T) twice
    copies = inputs[:, None, :] == targets[:, :, None]  # (m, T, T)
    weights = attention_weights(model, inputs) * copies[:, None]  # (L, m, H, T, T)
    return weights.sum(-1).transpose(1, 2)[:, :, places].mean(-1)  # (L, H)
