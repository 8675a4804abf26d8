"""Lesson 05's exercises: the shift, the loss by hand, perplexity, one training step, four broken loops."""

from utils.check.lesson_05.loss import LOSS, PERPLEXITY, SHIFT, ex_5_1, ex_5_2, ex_5_3
from utils.check.lesson_05.steps import BUGS, STEP, ex_5_4, ex_5_5

__all__ = ["ex_5_1", "ex_5_2", "ex_5_3", "ex_5_4", "ex_5_5"]

EXERCISES = (SHIFT, LOSS, PERPLEXITY, STEP, BUGS)
