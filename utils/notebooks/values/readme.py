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
    "tokens a second": published(BENCH, 3_447, 4_056, 6_803, 1_855, 696, 748, 3_712, 1_211, 17.2, 17.5, 34.3, 34.6),
    "and of SmolLM2": published(BENCH, 15.6, 15.9, 27.3, 25.2),
    "ratios of the last two": lambda: (6_803 / 1_855, 3_712 / 1_211, 34.3 / 34.6, 27.3 / 25.2),
    "what memory allows, and the shares reached": published(BENCH, 35.1, 0.98, 0.88, 31, 0.92e9),
}
