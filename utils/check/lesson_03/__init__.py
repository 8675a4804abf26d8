"""Lesson 03's exercises: a block's count, the total, the table's share, the widest model, bytes, conventions."""

from utils.check.lesson_03.block import BLOCK, ex_3_1
from utils.check.lesson_03.budgets import BYTES, WIDEST, ex_3_4, ex_3_5
from utils.check.lesson_03.counts import SHARE, TOTAL, ex_3_2, ex_3_3
from utils.check.lesson_03.sources import CONVENTION, ex_3_6

__all__ = ["ex_3_1", "ex_3_2", "ex_3_3", "ex_3_4", "ex_3_5", "ex_3_6"]

EXERCISES = (BLOCK, TOTAL, SHARE, WIDEST, BYTES, CONVENTION)
