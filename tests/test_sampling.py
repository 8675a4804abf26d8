"""The filters against exact arithmetic, the draw against its frequencies, the loop against a naive one.

The reference does not sort and does not add floats. It asks of each token which others beat it, and adds their shares
with 50 decimal digits.
"""

import itertools
import math
import random
from contextlib import nullcontext
from decimal import Decimal, localcontext

import pytest
import torch
from tiny_runs import random_ids, rng, same, weights

from utils.model import GPT, GPTConfig
from utils.pretrained import load_toy_gpt
from utils.sampling import draw, generate, next_token_probs
from utils.toy_language import ToyLanguage

INF = math.inf
DTYPES = {torch.float32: 1e-7, torch.bfloat16: 1e-7, torch.float64: 1e-13}  # and how exact a probability is
ROWS_A_CASE = 3


# ---- next_token_probs


def beats(one, other):
    """Whether a token (score, id) stands before another: a higher score, or as high a one and a lower id."""
    return one[0] > other[0] or (one[0] == other[0] and one[1] < other[1])


def exact_probs(scores, temperature=1, top_k=None, top_p=None):
    """The filters' rules for one row of floats, as Decimals: a token stays if those that beat it leave it room."""
    tokens = [(score, token) for token, score in enumerate(scores)]
    rivals = {own: [other for other in tokens if beats(other, own)] for own in tokens}
    room = 1 if temperature == 0 else len(scores) if top_k is None else top_k
    kept = [own for own in tokens if len(rivals[own]) < room]
    with localcontext(prec=50):
        best = Decimal(max(scores))
        heat = Decimal(temperature) if temperature else Decimal(1)
        shares = {own: Decimal(0) if own[0] == -INF else ((Decimal(own[0]) - best) / heat).exp() for own in kept}
        if top_p is not None and top_p < 1:
            total, enough = sum(shares.values()), Decimal(top_p) - Decimal("1e-6")
            before = {own: sum(shares[rival] for rival in rivals[own]) / total for own in kept}
            shares = {own: share for own, share in shares.items() if not rivals[own] or before[own] < enough}
        total = sum(shares.values())
        return [shares.get(own, Decimal(0)) / total for own in tokens]


def random_row(pick, size, dtype):
    """Scores of one kind, as the floats that `dtype` can hold; some are forbidden, never all."""
    level = pick.choice([0.0, -3.25, 1e4, -1e4])
    makers = [
        lambda: pick.gauss(0, 2),
        lambda: pick.gauss(0, 40),
        lambda: pick.gauss(0, 1e36),
        lambda: float(pick.randint(-2, 2)),  # many ties
        lambda: level,  # all equal
        lambda: level + pick.random(),
        lambda: pick.choice([-1e30, 0.0, 1e30]),
        lambda: pick.choice([0.0, -0.0]),
    ]
    make = pick.choice(makers)
    row = [make() for _ in range(size)]
    if pick.random() < 0.4:
        for token in pick.sample(range(size), pick.randint(0, size - 1)):
            row[token] = -INF
    return torch.tensor(row, dtype=torch.float64).to(dtype)


TEMPERATURES = {
    "greedy": lambda pick: pick.choice([0, 0.0]),
    "tiny": lambda pick: pick.choice([5e-324, 1e-320, 1e-30, 1e-9]),
    "cold": lambda pick: pick.uniform(0.01, 0.9),
    "one": lambda pick: pick.choice([1, 1.0]),
    "hot": lambda pick: pick.uniform(1.1, 100),
    "huge": lambda pick: pick.choice([1e6, 1e17, 1e300]),
}
TOP_KS = {
    "off": lambda pick, size: None,
    "some": lambda pick, size: pick.randint(1, size),
    "V": lambda pick, size: size,
    "more": lambda pick, size: size + pick.choice([1, 1000, 10**30]),
}
TOP_PS = {
    "off": lambda pick: None,
    "1": lambda pick: pick.choice([1, 1.0]),
    "some": lambda pick: pick.uniform(0.01, 0.999),
    "round": lambda pick: pick.choice([0.25, 0.5, 0.75, 0.9]),
    "tiny": lambda pick: pick.choice([1e-12, 1e-7, 1e-6, 1e-4]),
    "nearly 1": lambda pick: pick.choice([1 - 1e-4, 1 - 5e-7, 1 - 1e-12]),
}
COMBINATIONS = list(itertools.product(TEMPERATURES, TOP_KS, TOP_PS))


def random_case(pick, temperature, top_k, top_p, size, dtype):
    """Rows (B, V), and filters of the kinds that are named."""
    rows = torch.stack([random_row(pick, size, dtype) for _ in range(ROWS_A_CASE)])
    return rows, (TEMPERATURES[temperature](pick), TOP_KS[top_k](pick, size), TOP_PS[top_p](pick))


def check(found, row, filters):
    """Compare one row of probabilities with the exact ones: what stays, and how likely it is."""
    for prob, wanted in zip(found.tolist(), exact_probs(row.double().tolist(), *filters), strict=True):
        assert abs(Decimal(prob) - wanted) <= Decimal(DTYPES[row.dtype]), (row, filters)
        assert (prob == 0) if wanted == 0 else (prob > 0 or wanted < Decimal("1e-37")), (row, filters)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kinds", COMBINATIONS, ids=" ".join)
def test_every_combination_of_filters_is_exact(dtype, kinds):
    pick = random.Random(f"{dtype} {kinds}")
    for _ in range(5):
        size = pick.choice([1, 2, 3, pick.randint(4, 12), pick.randint(13, 60)])
        rows, filters = random_case(pick, *kinds, size, dtype)
        before, version = rows.clone(), rows._version
        found = next_token_probs(rows, *filters)
        assert torch.equal(rows, before)
        assert (rows._version, found.shape) == (version, rows.shape)
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert (found.double().sum(-1) - 1).abs().max() <= 1e-6
        assert torch.equal(next_token_probs(rows[0], *filters), found[0])  # rows do not meet
        for place, row in enumerate(rows):
            check(found[place], row, filters)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("margin", [-1e-4, -1.5e-6, 0.0, 5e-7, 9.9e-7, 1.01e-6, 1.5e-6, 1e-4])
def test_a_set_reaches_p_if_it_comes_within_a_millionth(dtype, margin):
    """p is a set's own mass and a margin: up to a millionth more is reached by the set, anything above is not."""
    pick = random.Random(f"{dtype} {margin}")
    for _ in range(40):
        size = pick.randint(3, 20)
        row = torch.tensor([pick.gauss(0, 1) for _ in range(size)], dtype=torch.float64).to(dtype)
        plain, count = exact_probs(row.double().tolist()), pick.randint(1, size - 1)
        chosen = sorted(range(size), key=lambda token: (-plain[token], token))[:count]
        p = float(sum(plain[token] for token in chosen)) + margin
        if not 0 < p < 1 or min(plain) < Decimal("1e-3"):
            continue  # a smaller share than the margin would let the set shrink or grow by more than one token
        found = next_token_probs(row, top_p=p)
        kept = set(found.nonzero().flatten().tolist())
        assert kept >= set(chosen)  # without its last token it would miss p by far
        assert len(kept) == count + (margin > 1e-6)
        check(found, row, (1, None, p))


RULES = [
    ([0.5, 0.3, 0.1, 0.1], {"top_p": 0.8}, {0, 1}),
    ([0.5, 0.3, 0.1, 0.1], {"top_p": 0.81}, {0, 1, 2}),
    ([0.25] * 4, {"top_p": 0.5}, {0, 1}),
    ([0.1, 0.4, 0.1, 0.4], {"top_k": 3}, {0, 1, 3}),
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
    assert set(found.nonzero().flatten().tolist()) == kept


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7), (0, 7)])
@pytest.mark.parametrize("filters", [(1, None, None), (0, None, None), (1, 3, 0.9)], ids=str)
def test_any_shape_and_layout(shape, filters):
    logits = torch.randn(shape, generator=rng(0))
    found = next_token_probs(logits, *filters)
    assert found.shape == shape
    for index in itertools.product(*map(range, shape[:-1])):
        check(found[index], logits[index], filters)
    strided = torch.stack([logits, logits + 1], -1)[..., 0]
    assert torch.equal(next_token_probs(strided, *filters), found)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("bad", "words"), [(INF, "NaN or +inf"), (math.nan, "NaN or +inf"), (-INF, "-inf only")])
def test_one_bad_score_or_a_row_that_forbids_everything_is_refused(refused, dtype, bad, words):
    pick = random.Random(f"{dtype} {bad}")
    for kinds in COMBINATIONS:
        size = pick.randint(1, 20)
        rows, filters = random_case(pick, *kinds, size, dtype)
        rows[pick.randrange(ROWS_A_CASE), slice(None) if bad == -INF else pick.randrange(size)] = bad
        with refused(ValueError, words):
            next_token_probs(rows, *filters)


# ---- draw


def test_a_million_draws_have_the_right_frequencies():
    logits = torch.tensor([-INF, 0.5, -1.0, 2.0, 0.0, -3.0, 1.0, -INF])
    probs = next_token_probs(logits, top_k=5)
    tokens = draw(probs.expand(1_000_000, -1), rng(0))
    assert tokens.shape == (1_000_000, 1)
    counts = tokens.flatten().bincount(minlength=8)
    assert counts[probs == 0].sum() == 0
    wanted = torch.tensor([float(prob) for prob in exact_probs(logits.tolist(), 1, 5)], dtype=torch.float64)
    assert ((counts / 1e6 - wanted).abs() <= 4 * (wanted * (1 - wanted) / 1e6).sqrt()).all()


@pytest.mark.parametrize("u", [0.0, 0.25, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_random_number_draws_a_forbidden_token(monkeypatch, u, dtype):
    rows = [[0, 0.25, 0, 0.25, 0.5, 0], [0, 0, 1, 0, 0, 0], [0, 0.1, 0.1, 0.1, 0.1, 0], [1, 0, 0, 0, 0, 0]]
    monkeypatch.setattr(torch, "rand", lambda *size, dtype, generator, device: torch.full(size, u, dtype=dtype))
    found = draw(torch.tensor(rows, dtype=dtype))  # the third sums to 0.4, as rounding might have it, but worse
    assert found.dtype == torch.int64
    assert found.flatten().tolist() == {0.0: [1, 2, 1, 0], 0.25: [3, 2, 2, 0], 0.5: [4, 2, 3, 0]}.get(u, [4, 2, 4, 0])


def test_each_row_draws_for_itself_with_one_random_number():
    generator, twin, before = rng(3), rng(3), torch.get_rng_state()
    assert draw(torch.eye(6)[[4, 0, 5, 2]], generator).tolist() == [[4], [0], [5], [2]]
    torch.rand(4, 1, dtype=torch.float64, generator=twin)
    assert torch.equal(generator.get_state(), twin.get_state())
    assert torch.equal(torch.get_rng_state(), before)


# ---- generate


SMALL = GPTConfig(vocab_size=30, n_ctx=8, n_embd=16, n_layer=2, n_head=2)


@torch.no_grad()
def plain_generate(model, ids, new, generator, *filters):
    """The naive loop: crop, predict everything again, take the first token whose cumulative probability exceeds u."""
    rows = ids.tolist()
    for _ in range(new):
        scores = model(torch.tensor([row[-model.config.n_ctx :] for row in rows]))[:, -1]
        chance = torch.rand(len(rows), 1, dtype=torch.float64, generator=generator)
        for row, score, u in zip(rows, scores.double().tolist(), chance.flatten().tolist(), strict=True):
            cumulative = itertools.accumulate(exact_probs(score, *filters))
            row.append(next(token for token, share in enumerate(cumulative) if share > u))
    return torch.tensor(rows)


@pytest.mark.parametrize("length", [*range(1, 11), 20])
@pytest.mark.parametrize("filters", [(1,), (0,), (3.0, 20, 0.95), (1, 1)], ids=str)
def test_generate_is_the_naive_loop_with_and_without_cache(loud, filters, length):
    model, ids = loud(SMALL), random_ids(3, length, 30)
    wanted, before, state = plain_generate(model, ids, 15, rng(7), *filters), ids.clone(), torch.get_rng_state()
    for use_cache in (True, False):
        found = generate(model, ids, 15, *filters, generator=rng(7), use_cache=use_cache)
        assert torch.equal(found, wanted)
    assert torch.equal(ids, before)
    assert torch.equal(torch.get_rng_state(), state)
    assert len(set(map(tuple, wanted[:, length:].tolist()))) == 3


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
    assert torch.equal(torch.stack(texts[:2]), torch.stack(texts[2:]))
    assert not torch.equal(texts[0], generate(model, ids, 20, temperature=5.0, generator=rng(10)))


@pytest.mark.parametrize("seed", range(20))
def test_a_stopped_row_is_filled_up_and_the_others_go_on(loud, seed):
    model, stop, ids = loud(SMALL, seed), seed % 5, random_ids(3, 4, 30, seed)
    ids[1, 2] = stop  # in the prompt it stops nothing
    settings = {"temperature": 20.0, "top_k": 8 + seed, "use_cache": seed % 2 == 0}
    wanted = generate(model, ids, 60, generator=rng(seed), **settings)
    ends = [row.index(stop) if stop in row else 60 for row in wanted[:, 4:].tolist()]
    for row, end in enumerate(ends):
        wanted[row, 4 + end :] = stop
    found = generate(model, ids, 60, generator=rng(seed), stop_token=stop, **settings)
    assert torch.equal(found, wanted[:, : 4 + min(max(ends) + 1, 60)])


class Spy(GPT):
    """A GPT that notes how it is called, and can fail at one of the calls."""

    def __init__(self, fail_at=None):
        super().__init__(SMALL)
        self.calls, self.caches, self.fail_at = [], [], fail_at

    def forward(self, ids, cache=None):
        self.calls.append((ids.shape[1], self.training, torch.is_grad_enabled()))
        self.caches.append(cache)
        if len(self.calls) == self.fail_at:
            raise KeyboardInterrupt
        return super().forward(ids, cache)


@pytest.mark.parametrize(("use_cache", "lengths"), [(True, [6, 1, 1, 8, 8]), (False, [6, 7, 8, 8, 8])])
def test_no_graph_is_built_and_one_cache_is_used(use_cache, lengths):
    model = Spy()
    found = generate(model, random_ids(2, 6, 30), 5, generator=rng(0), use_cache=use_cache)
    assert model.calls == [(length, False, False) for length in lengths]
    assert len(set(map(id, model.caches))) == 1
    assert not use_cache or [part.requires_grad for part in (model.caches[0].k, model.caches[0].v)] == [False, False]
    assert (torch.is_grad_enabled(), found.requires_grad) == (True, False)


@pytest.mark.parametrize(
    ("fail_at", "scale", "error"), [(None, 1, None), (3, 1, KeyboardInterrupt), (None, math.nan, ValueError)]
)
@pytest.mark.parametrize("training", [True, False])
def test_each_part_of_the_model_has_its_own_mode_again(training, fail_at, scale, error):
    model = Spy(fail_at).train(training)
    model.h[0].train(not training)
    model.ln_f.weight.data *= scale
    with pytest.raises(error) if error else nullcontext():
        generate(model, random_ids(2, 4, 30), 4)
    assert len(model.calls) == (fail_at or (1 if error else 4))
    parts = model, model.h[0], model.h[0].attn, model.h[1].mlp
    assert [part.training for part in parts] == [training, not training, not training, training]


def test_no_new_token_gives_a_copy_of_the_prompt():
    model, ids = Spy(), random_ids(2, 40, 30)
    found = generate(model, ids, 0)
    assert torch.equal(found, ids)
    assert found.data_ptr() != ids.data_ptr()
    assert model.calls == []


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


@pytest.mark.parametrize("new", [0, 8])
@pytest.mark.parametrize("use_cache", [True, False])
def test_generated_tokens_are_a_tensor_like_any_other_and_the_model_is_as_it_was(course, use_cache, new):
    model, ids = GPT(course), random_ids(2, 9)
    before = weights(model)
    found = generate(model, ids, new, use_cache=use_cache)
    assert same(before, model.state_dict())
    assert all(p.requires_grad and p.grad is None and not p.is_inference() for p in model.parameters())
    logits = model(found[:, :-1])
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), found[:, 1:].flatten()).backward()  # trained on
    assert model.wpe.weight.grad[: 8 + new].abs().sum(-1).all()
    assert not model.wpe.weight.grad[8 + new :].any()
    found[:, 0] = 7  # changed in place
    assert found[:, 0].tolist() == [7, 7]
    assert torch.equal(ids, random_ids(2, 9))
