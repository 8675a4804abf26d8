"""The probabilities against a plain float64 reference, the draw against its frequencies, and the loop."""

import itertools
import math
import random
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from utils.model import GPT, GPTConfig
from utils.pretrained import load_toy_gpt
from utils.sampling import draw, generate, next_token_probs
from utils.toy_language import ToyLanguage

INF = math.inf


def rng(seed):
    return torch.Generator().manual_seed(seed)


def random_ids(batch, length, vocab_size=200, seed=1):
    return torch.randint(vocab_size, (batch, length), generator=rng(seed))


# ---- next_token_probs


def plain_probs(scores, temperature=1.0, top_k=None, top_p=None):
    """The rules as they are written in the docstring, for one row, in plain Python."""
    order = sorted(range(len(scores)), key=lambda token: (-scores[token], token))[:top_k]
    if temperature == 0:
        order = order[:1]
    best = scores[order[0]]
    weights = [math.exp((scores[token] - best) / temperature) if temperature else 1.0 for token in order]
    total = math.fsum(weights)
    ranked = [(weight / total, token) for weight, token in zip(weights, order, strict=True)]  # by score, then by id
    if top_p is not None and top_p < 1:
        size = 1
        while math.fsum(prob for prob, _ in ranked[:size]) < top_p - 1e-6:
            size += 1
        ranked = ranked[:size]
    total, probs = math.fsum(prob for prob, _ in ranked), np.zeros(len(scores))
    for prob, token in ranked:
        probs[token] = prob / total
    return probs


def random_scores(pick, size, dtype):
    """One row of scores as they come, or built to be awkward."""
    kind = pick.choice(["normal", "wide", "ties", "equal", "huge", "negative", "one stands out"])
    row = {
        "normal": lambda: [pick.gauss(0, 1) for _ in range(size)],
        "wide": lambda: [pick.gauss(0, 30) for _ in range(size)],
        "ties": lambda: [float(pick.randint(-2, 2)) for _ in range(size)],
        "equal": lambda: [pick.choice([0.0, -7.5, 1e4])] * size,
        "huge": lambda: [pick.gauss(0, 1e36) for _ in range(size)],
        "negative": lambda: [-1e4 - pick.random() for _ in range(size)],
        "one stands out": lambda: [1e3 * (i == size // 2) for i in range(size)],
    }[kind]()
    if pick.random() < 0.4:  # forbid some tokens, never all
        for token in pick.sample(range(size), pick.randint(0, size - 1)):
            row[token] = -INF
    return torch.tensor(row).to(dtype)


def random_filters(pick, size):
    return {
        "temperature": pick.choice([0, 0.0, 1e-320, 1e-9, 0.1, 0.7, 1, 1.0, 2.5, 1e6, 1e300]),
        "top_k": pick.choice([None, None, 1, 2, size // 2 + 1, size - 1 or 1, size, size + 1, 10**9]),
        "top_p": pick.choice([None, 1, 1.0, 1e-9, 1e-4, 0.25, 0.5, 0.75, 0.9, pick.uniform(0.001, 0.999), 1 - 1e-9]),
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_probabilities_are_those_of_the_rules(dtype, seed):
    pick = random.Random(f"{dtype} {seed}")
    result, exactness = (torch.float64, 1e-13) if dtype == torch.float64 else (torch.float32, 1e-7)
    for _ in range(200):
        size = pick.choice([1, 2, *range(1, 61)])
        logits = torch.stack([random_scores(pick, size, dtype) for _ in range(pick.randint(1, 3))])
        filters, before, version = random_filters(pick, size), logits.clone(), logits._version
        found = next_token_probs(logits, **filters)
        wanted = np.stack([plain_probs(row, **filters) for row in logits.double().tolist()])
        assert found.dtype == result
        assert np.abs(found.double().numpy() - wanted).max() <= exactness, (logits, filters)
        assert (found.numpy()[wanted == 0] == 0).all(), (logits, filters)
        assert (found.numpy()[wanted > 1e-37] > 0).all(), (logits, filters)
        assert (found.double().sum(-1) - 1).abs().max() <= 1e-6
        assert torch.equal(logits, before)
        assert logits._version == version
        assert torch.equal(next_token_probs(logits[0], **filters), found[0])  # rows do not meet


RULES = [
    ([0.5, 0.3, 0.1, 0.1], {"top_p": 0.8}, {0, 1}),
    ([0.5, 0.3, 0.1, 0.1], {"top_p": 0.81}, {0, 1, 2}),
    ([0.1, 0.3, 0.1, 0.5], {"top_p": 0.5}, {3}),
    ([0.1, 0.3, 0.1, 0.5], {"top_p": 1e-9}, {3}),
    ([0.1, 0.3, 0.1, 0.5], {"top_p": 1.0}, {0, 1, 2, 3}),
    ([0.25] * 4, {"top_p": 0.5}, {0, 1}),
    ([0.25] * 4, {"top_k": 3}, {0, 1, 2}),
    ([0.1, 0.4, 0.1, 0.4], {"top_k": 1}, {1}),
    ([0.1, 0.4, 0.1, 0.4], {"top_k": 3}, {0, 1, 3}),
    ([0.1, 0.4, 0.1, 0.4], {"top_k": 4}, {0, 1, 2, 3}),
    ([0.1, 0.4, 0.1, 0.4], {"top_k": 10**30}, {0, 1, 2, 3}),
    ([0.1, 0.4, 0.1, 0.4], {"temperature": 0}, {1}),
    ([0.4, 0.3, 0.2, 0.1], {"top_k": 2, "top_p": 0.57}, {0}),  # 0.4 is 0.571 of what top-k left
    ([0.4, 0.3, 0.2, 0.1], {"top_k": 2, "top_p": 0.58}, {0, 1}),
    ([0.5, 0.3, 0.2], {"temperature": 0.5, "top_p": 0.6}, {0}),  # 0.5 has become 0.658
    ([0.5, 0.3, 0.2], {"temperature": 2.0, "top_p": 0.75}, {0, 1, 2}),  # 0.415 and 0.322
    ([0.0, 0.5, 0.0, 0.5], {"top_k": 3, "top_p": 0.999999}, {1, 3}),  # 0 is forbidden and never comes back
]


@pytest.mark.parametrize(("probs", "filters", "kept"), RULES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_what_is_kept(probs, filters, kept, dtype, shift):
    found = next_token_probs(torch.tensor(probs, dtype=torch.float64).log().add(shift).to(dtype), **filters)
    assert {token for token, prob in enumerate(found.tolist()) if prob != 0} == kept


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7), (0, 7)])
@pytest.mark.parametrize("filters", [{}, {"temperature": 0}, {"top_k": 3, "top_p": 0.9}], ids=str)
def test_any_shape_and_layout(shape, filters):
    logits = torch.randn(shape, generator=rng(0))
    found = next_token_probs(logits, **filters)
    assert found.shape == shape
    for index in itertools.product(*map(range, shape[:-1])):
        assert found[index].tolist() == pytest.approx(plain_probs(logits[index].tolist(), **filters), abs=1e-7)
    strided = torch.stack([logits, logits + 1], -1)[..., 0]
    assert torch.equal(next_token_probs(strided, **filters), found)


def test_temperature_goes_from_greedy_to_uniform():
    logits = torch.randn(50, 40, generator=rng(0))
    logits[:, 5] = -INF
    greedy = torch.nn.functional.one_hot(logits.argmax(-1), 40).float()
    for tiny in (0, 5e-324, 1e-30, 1e-9):
        assert torch.equal(next_token_probs(logits, tiny), greedy)
    allowed = (torch.arange(40) != 5).float() / 39
    for huge in (1e8, 1e300):
        assert (next_token_probs(logits, huge) - allowed).abs().max() < 1e-7


# ---- draw


def test_a_million_draws_have_the_right_frequencies():
    logits = torch.tensor([-INF, 0.5, -1.0, 2.0, 0.0, -3.0, 1.0, -INF])
    probs = next_token_probs(logits, top_k=5)
    tokens = draw(probs.expand(1_000_000, -1), rng(0))
    assert tokens.shape == (1_000_000, 1)
    counts = tokens.flatten().bincount(minlength=8)
    assert counts[probs == 0].sum() == 0
    wanted = torch.from_numpy(plain_probs(logits.tolist(), top_k=5))
    error = (wanted * (1 - wanted) / 1e6).sqrt()
    assert ((counts / 1e6 - wanted).abs() <= 4 * error).all()


@pytest.mark.parametrize("u", [0.0, 0.25, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_random_number_draws_a_forbidden_token(monkeypatch, u, dtype):
    rows = [[0, 0.25, 0, 0.25, 0.5, 0], [0, 0, 1, 0, 0, 0], [0, 0.1, 0.1, 0.1, 0.1, 0], [1, 0, 0, 0, 0, 0]]
    monkeypatch.setattr(torch, "rand", lambda *size, dtype, generator, device: torch.full(size, u, dtype=dtype))
    found = draw(torch.tensor(rows, dtype=dtype))  # the third sums to 0.4, as rounding might have it, but worse
    assert found.dtype == torch.int64
    assert found.flatten().tolist() == {0.0: [1, 2, 1, 0], 0.25: [3, 2, 2, 0], 0.5: [4, 2, 3, 0]}.get(u, [4, 2, 4, 0])


def test_each_row_draws_for_itself_with_one_random_number():
    one_hot = torch.eye(6)[[4, 0, 5, 2]]
    generator, twin, before = rng(3), rng(3), torch.get_rng_state()
    assert draw(one_hot, generator).tolist() == [[4], [0], [5], [2]]
    torch.rand(4, 1, dtype=torch.float64, generator=twin)
    assert torch.equal(generator.get_state(), twin.get_state())
    assert torch.equal(torch.get_rng_state(), before)


# ---- generate


def plain_generate(model, ids, new, generator, **filters):
    """The naive loop: crop, predict everything again, take the first token whose cumulative probability exceeds u."""
    rows = ids.tolist()
    for _ in range(new):
        with torch.no_grad():
            scores = model(torch.tensor([row[-model.config.n_ctx :] for row in rows]))[:, -1]
        chance = torch.rand(len(rows), 1, dtype=torch.float64, generator=generator)
        for row, score, u in zip(rows, scores.double().tolist(), chance.flatten().tolist(), strict=True):
            probs = plain_probs(score, **filters)
            row.append(int(np.argmax(np.cumsum(probs) / probs.sum() > u)))
    return torch.tensor(rows)


SMALL = GPTConfig(vocab_size=30, n_ctx=8, n_embd=16, n_layer=2, n_head=2)


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("length", [1, 5, 7, 8, 9, 20])
@pytest.mark.parametrize(
    "filters", [{}, {"temperature": 0}, {"temperature": 3.0, "top_k": 20, "top_p": 0.95}, {"top_k": 1}], ids=str
)
def test_generate_is_the_naive_loop_with_and_without_cache(loud, filters, length, use_cache):
    model, ids = loud(SMALL), random_ids(3, length, 30)
    before, state = ids.clone(), torch.get_rng_state()
    found = generate(model, ids, 15, generator=rng(7), use_cache=use_cache, **filters)
    assert torch.equal(found, plain_generate(model, ids, 15, rng(7), **filters))
    assert torch.equal(found[:, :length], ids)
    assert torch.equal(ids, before)
    assert torch.equal(torch.get_rng_state(), state)
    assert len(set(map(tuple, found[:, length:].tolist()))) == 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_other_types(loud, dtype):
    model, ids = loud(SMALL, dtype=dtype), random_ids(2, 5, 30)
    found = generate(model, ids.int(), 12, generator=rng(0))
    assert found.dtype == torch.int64
    assert torch.equal(found[:, :5], ids)
    if dtype == torch.float64:  # bfloat16 rounds so much that a cache may change a draw
        assert torch.equal(found, plain_generate(model, ids, 12, rng(0)))


def test_a_seed_gives_one_text_whatever_the_global_generator_holds(loud):
    model, ids, texts = loud(SMALL), random_ids(2, 4, 30), []
    for seed in (0, 1):
        torch.manual_seed(seed)
        texts.append(generate(model, ids, 20, temperature=5.0, generator=rng(9)))
        torch.manual_seed(42)
        texts.append(generate(model, ids, 20, temperature=5.0))
    assert torch.equal(texts[0], texts[2])
    assert torch.equal(texts[1], texts[3])
    other = generate(model, ids, 20, temperature=5.0, generator=rng(10))
    assert not torch.equal(texts[0], other)


@pytest.mark.parametrize("seed", range(20))
def test_a_stopped_row_is_filled_up_and_the_others_go_on(loud, seed):
    model, stop = loud(SMALL, seed), seed % 5
    ids = random_ids(3, 4, 30, seed)
    ids[1, 2] = stop  # in the prompt it stops nothing
    settings = {"temperature": 20.0, "top_k": 8 + seed, "use_cache": seed % 2 == 0}
    free = generate(model, ids, 60, generator=rng(seed), **settings)
    ends = [row.index(stop) if stop in row else 60 for row in free[:, 4:].tolist()]
    wanted = free.clone()
    for row, end in enumerate(ends):
        wanted[row, 4 + end :] = stop
    found = generate(model, ids, 60, generator=rng(seed), stop_token=stop, **settings)
    assert torch.equal(found, wanted[:, : 4 + min(max(ends) + 1, 60)])


class Spy(GPT):
    """A GPT that notes how it is called, and can fail at one of the calls."""

    def __init__(self, fail_at=None):
        super().__init__(SMALL)
        self.calls, self.fail_at = [], fail_at

    def forward(self, ids, cache=None):
        self.calls.append((ids.shape[1], self.training, torch.is_grad_enabled()))
        if len(self.calls) == self.fail_at:
            raise KeyboardInterrupt
        return super().forward(ids, cache)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("use_cache", "lengths"), [(True, [6, 1, 1, 8, 8]), (False, [6, 7, 8, 8, 8])])
def test_no_graph_is_built_and_the_mode_comes_back(training, use_cache, lengths):
    model = Spy().train(training)
    found = generate(model, random_ids(2, 6, 30), 5, generator=rng(0), use_cache=use_cache)
    assert model.calls == [(length, False, False) for length in lengths]
    assert (model.training, model.h[1].mlp.training) == (training, training)
    assert torch.is_grad_enabled()
    assert not found.requires_grad
    for broken in (Spy(fail_at=3), Spy()):
        broken.train(training).ln_f.weight.data.fill_(1 if broken.fail_at else math.nan)
        with pytest.raises((KeyboardInterrupt, ValueError)):
            generate(broken, random_ids(2, 6, 30), 5, generator=rng(0), use_cache=use_cache)
        assert len(broken.calls) == (broken.fail_at or 1)
        assert (broken.training, broken.h[1].mlp.training) == (training, training)


def test_no_new_token_gives_a_copy_of_the_prompt():
    model, ids = Spy(), random_ids(2, 40, 30)
    found = generate(model, ids, 0)
    assert torch.equal(found, ids)
    assert found.data_ptr() != ids.data_ptr()
    assert model.calls == []


class Keeper(GPT):
    """A GPT that keeps every cache that it is given."""

    def __init__(self):
        super().__init__(SMALL)
        self.caches = []

    def forward(self, ids, cache=None):
        self.caches.append(cache)
        return super().forward(ids, cache)


def test_all_tokens_share_one_cache_that_holds_no_graph():
    model = Keeper()
    generate(model, random_ids(2, 3, 30), 30, generator=rng(0))
    assert len(model.caches) == 30
    assert len(set(map(id, model.caches))) == 1
    assert [part.requires_grad for part in (model.caches[0].k, model.caches[0].v)] == [False, False]


@pytest.mark.parametrize("use_cache", [True, False])
def test_memory_stays_flat_over_two_hundred_tokens(loud, course, memory_growth, use_cache):
    model, ids = loud(course), random_ids(16, 32)
    generate(model, ids, 5, generator=rng(0), use_cache=use_cache)
    warm = memory_growth()
    generate(model, ids, 200, generator=rng(0), use_cache=use_cache)
    assert memory_growth() - warm < 20  # MB; the graphs of 200 steps would hold hundreds


def test_whatever_is_drawn_has_a_word():
    lang, start = ToyLanguage(), torch.zeros(20, 1, dtype=torch.int64)
    drawn = generate(load_toy_gpt(), start, 60, temperature=5.0, generator=rng(0))
    assert len(drawn.unique()) > 190
    assert all(len(lang.decode(row).replace(".", " .").split()) == 60 for row in drawn)


def test_top_p_ranks_by_score_where_rounding_makes_probabilities_equal():
    # at this temperature both are 0.5 to the last bit
    assert next_token_probs(torch.tensor([0.0, 1.0]), temperature=1e17, top_p=0.5).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("fails", [False, True])
def test_each_part_of_the_model_has_its_own_mode_again(fails, loud):
    model = loud(SMALL).train()
    model.h[0].eval()
    if fails:
        model.ln_f.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        generate(model, random_ids(1, 4, 30), 2)
    assert (model.training, model.h[0].training, model.h[0].attn.training, model.h[1].training) == (
        True,
        False,
        False,
        True,
    )
