"""Lesson 07's exercises: a head's width, the MLP's width, the count from a file, odd cards, names of weights."""

from utils.check.lesson_07.cards import CARDS, ODD, ex_7_4
from utils.check.lesson_07.counts import COUNT, ex_7_3
from utils.check.lesson_07.names import NAMES, ex_7_5
from utils.check.lesson_07.widths import HEAD, MLP, ex_7_1, ex_7_2

__all__ = ["CARDS", "ex_7_1", "ex_7_2", "ex_7_3", "ex_7_4", "ex_7_5"]

EXERCISES = (HEAD, MLP, COUNT, ODD, NAMES)
