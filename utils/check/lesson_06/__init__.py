"""Lesson 06's exercises: append to a cache, positions, attention for one query, bytes, three broken loops."""

from utils.check.lesson_06.append import APPEND, ex_6_1
from utils.check.lesson_06.attention import ATTEND, ex_6_3
from utils.check.lesson_06.faults import BUGS, ex_6_5
from utils.check.lesson_06.sizes import BYTES, POSITIONS, ex_6_2, ex_6_4

__all__ = ["ex_6_1", "ex_6_2", "ex_6_3", "ex_6_4", "ex_6_5"]

EXERCISES = (APPEND, POSITIONS, ATTEND, BYTES, BUGS)
