"""The numbers in the README."""

import tomllib

from utils.environment import ROOT
from utils.notebooks import counts
from utils.notebooks.values.sources import given, published
from utils.start import install, smollm

BENCH = "tests/benchmarks/generation.py, 2026-11-30"


VALUES = {
    "exercises": lambda: sum(map(counts.exercises, counts.lessons())),
    "oldest Python": lambda: tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ][2:],
    "newest Python": published("PyPI: the wheels of torch 2.13.0", 3.14),
    "space on the disk": lambda: (install.SPACE, install.GPU_SPACE, round(smollm.SIZE, -6)),
    "the second shape": given(65, 128, 4),
    "tokens a second": published(BENCH, 4_230, 4_548, 5_911, 1_830, 849, 876, 3_299, 1_258, 17.9, 18.1, 32.8, 32.9),
    "ratios of the last two": lambda: (5_911 / 1_830, 3_299 / 1_258, 32.8 / 32.9),
    "of the limit that memory sets": published(BENCH, 34, 0.95, 0.99),
}
