"""Lesson 08's exercises: the work of one token, days of training, its price, the best size for a budget."""

from utils.check.lesson_08.budgets import BEST, ex_8_4
from utils.check.lesson_08.training import DAYS, PRICE, ex_8_2, ex_8_3
from utils.check.lesson_08.work import FLOPS, ex_8_1

__all__ = ["ex_8_1", "ex_8_2", "ex_8_3", "ex_8_4"]

EXERCISES = (FLOPS, DAYS, PRICE, BEST)
