"""The numbers in lesson 05."""

import math

from utils.model import GPT
from utils.notebooks.values.sizes import SMALL, V, loud_loss, saved
from utils.notebooks.values.sources import given
from utils.pretrained import COURSE_MODEL
from utils.text import names
from utils.toy_language import ToyLanguage

VALUES = {
    "spread of a fresh table": lambda: GPT(COURSE_MODEL).wte.weight.std().item(),
    "what tying saves": lambda: (saved(COURSE_MODEL), saved(SMALL)),
    "which of twenty stories it is": lambda: math.log(20) / (ToyLanguage().stories(1, seed=0)[0].shape[1] - 1),
    "first names": lambda: len(names().train) + len(names().valid),
    "a temperature, a friend's loss": given(0.8, 0.4),
    "two probabilities": given(0.5, 0.125),
    "their mean, and their losses": lambda: ((0.5 + 0.125) / 2, math.log(4), math.log(2) + math.log(8)),
    "first losses of GPT-2's shape": lambda: (loud_loss(), math.log(V)),
}
