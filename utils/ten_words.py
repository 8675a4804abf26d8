"""Ten words with rows made by hand, so that the columns have names; a trained table's columns have none.

Every row has length 1, so a row scores highest against itself.
"""

import torch

TOKENS = ("cat", "dog", "bird", "milk", "bread", "garden", "house", "sings", "sleeps", "little")
COLUMNS = ("animal", "food", "place", "action")


def ten_word_table() -> torch.Tensor:
    """The table: one row for each of TOKENS, one column for each of COLUMNS -> (10, 4), float32."""
    return torch.tensor(
        [
            [0.9, -0.3, 0.1, 0.3],  # cat
            [0.9, -0.3, 0.3, 0.1],  # dog
            [0.7, -0.1, -0.1, 0.7],  # bird
            [-0.1, 0.9, -0.3, 0.3],  # milk
            [-0.3, 0.9, 0.1, -0.3],  # bread
            [0.1, 0.3, 0.9, -0.3],  # garden
            [-0.3, -0.1, 0.9, -0.3],  # house
            [0.5, -0.5, 0.1, 0.7],  # sings
            [0.3, -0.3, 0.1, 0.9],  # sleeps
            [0.5, 0.5, -0.5, -0.5],  # little
        ]
    )
