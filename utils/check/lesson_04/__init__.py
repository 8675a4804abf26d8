"""Lesson 04's exercises: the last scores, temperature, greedy as a limit, top-k, top-p, the whole loop."""

from utils.check.lesson_04.greedy import GREEDY, ex_4_3
from utils.check.lesson_04.loop import LOOP, ex_4_6
from utils.check.lesson_04.scores import LAST, ex_4_1
from utils.check.lesson_04.temperature import TEMPERATURE, ex_4_2
from utils.check.lesson_04.top_k import TOP_K, ex_4_4
from utils.check.lesson_04.top_p import TOP_P, ex_4_5

__all__ = ["ex_4_1", "ex_4_2", "ex_4_3", "ex_4_4", "ex_4_5", "ex_4_6"]

EXERCISES = (LAST, TEMPERATURE, GREEDY, TOP_K, TOP_P, LOOP)
