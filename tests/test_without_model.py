"""Lesson 09 where its real model was not installed: it says how to get it, and goes on with a stand-in."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import torch
from notebook_files import ROOT, cells

from utils.inspection import attention_weights
from utils.pretrained import smollm

LESSON = "09_from_gpt2_to_llama.ipynb"
ASKS_THE_MODEL = re.compile(r"\b(smol|smollm_or_stand_in|speaker|tokenizer|right_share)\b|measured\(\)")


@pytest.fixture
def without(monkeypatch):
    """A machine on which the file is nowhere."""
    monkeypatch.setattr(smollm, "SMOLLM_FILE", "nowhere.gguf")
    smollm._model_that_is_there.cache_clear()
    yield
    smollm._model_that_is_there.cache_clear()


def test_a_sentence_says_how_to_get_it_and_the_stand_in_has_its_form(without, capsys):
    before = torch.random.get_rng_state()
    model, tokenizer = smollm.smollm_or_stand_in(64)
    said = capsys.readouterr().out
    assert "utils lab" in said
    assert "98 MB" in said
    assert "stands in" in said
    assert said.count("\n") == 1
    assert torch.equal(torch.random.get_rng_state(), before)
    ids = torch.tensor([tokenizer.chat("Who?")])
    assert attention_weights(model, ids).shape[:3] == (30, 1, 9)
    assert tokenizer.decode(ids[0]).endswith("Answer:")
    assert smollm.smollm_or_stand_in(64)[0] is model


@pytest.mark.parametrize("edition", ["lessons", "solutions"])
def test_the_lesson_runs_to_its_end_and_only_what_asks_the_model_says_something_else(tmp_path, edition):
    for folder in ("utils", edition):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "requirements.txt", tmp_path)
    notebook = tmp_path / edition / LESSON
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-p", "utils.start.sanitizer"]
    options += [f"--nbval-sanitize-with={ROOT / 'tests/nbval_sanitize.cfg'}", "-p", "no:cacheprovider", "-q", "-rf"]
    command = [sys.executable, "-m", "pytest", *options, str(notebook)]
    settings = {**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, env=settings)
    failed = {int(number) for number in re.findall(r"Cell (\d+)\b", done.stdout.partition("short test summary")[2])}
    asks = {n for n, cell in enumerate(cells(notebook, "code")) if ASKS_THE_MODEL.search(cell.source)}
    raised = re.findall(r"Traceback \(most recent[\s\S]{,1500}", done.stdout)
    assert raised == []
    assert failed
    assert failed <= asks, done.stdout[-3000:]
