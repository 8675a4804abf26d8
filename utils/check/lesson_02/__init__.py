"""Lesson 02's exercises: embeddings, the causal mask, attention, heads, a block, the forward pass; and all together."""

from utils.check.lesson_02.assembly import your_gpt
from utils.check.lesson_02.attention import ATTENTION, ex_2_3
from utils.check.lesson_02.blocks import BLOCK, ex_2_5
from utils.check.lesson_02.ends import EMBEDDING, FORWARD, ex_2_1, ex_2_6
from utils.check.lesson_02.heads import HEADS, ex_2_4
from utils.check.lesson_02.mask import MASK, ex_2_2

__all__ = ["ex_2_1", "ex_2_2", "ex_2_3", "ex_2_4", "ex_2_5", "ex_2_6", "your_gpt"]

EXERCISES = (EMBEDDING, MASK, ATTENTION, HEADS, BLOCK, FORWARD)
