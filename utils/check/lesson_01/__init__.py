"""Lesson 01's exercises: one-hot look-up, scores, the saving, the tie, the head in NumPy, the two gradients."""

from utils.check.lesson_01.gradients import GRADIENTS, ex_1_6
from utils.check.lesson_01.head import SOFTMAX, ex_1_5
from utils.check.lesson_01.table import ONE_HOT, SCORES, ex_1_1, ex_1_2
from utils.check.lesson_01.tying import SAVING, TIE, ex_1_3, ex_1_4

__all__ = ["ex_1_1", "ex_1_2", "ex_1_3", "ex_1_4", "ex_1_5", "ex_1_6"]

EXERCISES = (ONE_HOT, SCORES, SAVING, TIE, SOFTMAX, GRADIENTS)
