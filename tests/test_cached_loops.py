"""The three loops of exercise 6.5: what they share is right, and each has the one fault that the check names."""

import inspect

import pytest
import torch

from utils import check
from utils.check.lesson_06 import loops
from utils.check.lesson_06.ex_6_5 import FAULTS
from utils.model import GPT, GPTConfig, KVCache
from utils.pretrained import load_toy_gpt
from utils.sampling import generate
from utils.toy_language import ToyLanguage

LOOPS = {"A": loops.cached_loop_a, "B": loops.cached_loop_b, "C": loops.cached_loop_c}
NEW = 6
# the line that has each fault, and the line that has not
MENDED = {
    "mask with one query": ("is_causal=True)", "is_causal=new.shape[1] > 1)"),
    "stale cache": ("        new = row\n", "        cache, new = KVCache(model.config), row\n"),
    "wrong position": ("arange(new.shape[1])", "arange(cache.length, cache.length + new.shape[1])"),
}


@pytest.fixture(scope="module")
def model():
    return load_toy_gpt()


@pytest.fixture(scope="module")
def prompts():
    return ToyLanguage().stories(2, seed=3)[0][:, :6]


def without_cache(model, ids, n=NEW):
    return generate(model, ids, n, temperature=0, use_cache=False)


def mended(loop):
    """The loop with its faulty line replaced."""
    faulty, right = MENDED[FAULTS[loop]]
    source = inspect.getsource(LOOPS[loop])
    assert source.count(faulty) == 1
    names = dict(vars(loops))
    exec(source.replace(faulty, right), names)
    return names[LOOPS[loop].__name__]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_is_right_but_for_one_line(model, prompts, loop):
    wanted = without_cache(model, prompts)
    assert not torch.equal(LOOPS[loop](model, prompts, NEW), wanted)
    assert torch.equal(mended(loop)(model, prompts, NEW), wanted)


def test_what_the_hints_and_diagnoses_say_of_the_loops_is_so(model, prompts):
    wanted, length = without_cache(model, prompts), prompts.shape[1]
    for loop in "AC":
        found = LOOPS[loop](model, prompts, NEW)
        assert torch.equal(found[:, : length + 1], wanted[:, : length + 1])  # the first new token is right
        assert (found[:, length + 1 :] != wanted[:, length + 1 :]).any(1).all()
    found = loops.cached_loop_b(model, prompts, NEW)
    assert torch.equal(found[0], wanted[0])
    assert not torch.equal(found[1], wanted[1])


def test_the_loops_run_the_same_each_time(model, prompts):
    for loop in LOOPS.values():
        assert torch.equal(loop(model, prompts, NEW), loop(model, prompts, NEW))


def test_the_plain_step_gives_the_models_scores():
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=11, n_ctx=8, n_embd=12, n_layer=2, n_head=3))
    ids, cache = torch.randint(11, (3, 8)), KVCache(model.config, batch_size=3)
    first = loops.plain_step(model, ids[:, :5], cache, torch.arange(5), is_causal=True)
    torch.testing.assert_close(first, model(ids[:, :5])[:, -1].detach(), atol=1e-5, rtol=0)
    for t in range(5, 8):
        scores = loops.plain_step(model, ids[:, t : t + 1], cache, torch.tensor([t]), is_causal=False)
        torch.testing.assert_close(scores, model(ids[:, : t + 1])[:, -1].detach(), atol=1e-5, rtol=0)
    assert cache.length == 8
    assert not first.requires_grad


def test_a_cell_can_show_each_loop():
    for shown in (*LOOPS.values(), loops.plain_step):
        lines = inspect.getsource(shown).splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 98


def test_the_check_names_the_faults():
    assert check.ex_6_5(lambda: dict(FAULTS)).status == "passed"
    assert set(MENDED) == set(FAULTS.values())
