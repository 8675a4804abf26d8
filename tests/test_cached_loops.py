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

LOOPS = {name: getattr(loops, f"cached_loop_{name.lower()}") for name in FAULTS}
LENGTH, NEW = 6, 6
# the line that has each fault, and the line that has not
MENDED = {
    "mask with one query": ("is_causal=True)", "is_causal=new.shape[1] > 1)"),
    "stale cache": ("        new = row\n", "        cache, new = KVCache(model.config), row\n"),
    "wrong position": ("arange(new.shape[1])", "arange(cache.length, cache.length + new.shape[1])"),
}


@pytest.fixture(scope="module")
def outputs():
    """-> a function that runs a loop on two prompts of LENGTH words, and what a loop without a cache writes."""
    model, prompts = load_toy_gpt(), ToyLanguage().stories(2, seed=3)[0][:, :LENGTH]
    return lambda loop: loop(model, prompts, NEW), generate(model, prompts, NEW, temperature=0, use_cache=False)


def mended(loop):
    """The loop with its faulty line replaced."""
    faulty, right = MENDED[FAULTS[loop]]
    source = inspect.getsource(LOOPS[loop])
    assert source.count(faulty) == 1
    names = dict(vars(loops))
    exec(source.replace(faulty, right), names)
    return names[LOOPS[loop].__name__]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_is_right_but_for_one_line_and_wrong_as_the_hints_say(outputs, loop):
    run, wanted = outputs
    assert torch.equal(run(mended(loop)), wanted)
    found = run(LOOPS[loop])
    assert torch.equal(found, run(LOOPS[loop]))
    if loop == "B":
        assert [torch.equal(*rows) for rows in zip(found, wanted, strict=True)] == [True, False]
    else:
        assert torch.equal(found[:, : LENGTH + 1], wanted[:, : LENGTH + 1])  # the first new token is right
        assert (found[:, LENGTH + 1 :] != wanted[:, LENGTH + 1 :]).any(1).all()


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
