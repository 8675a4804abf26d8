"""The cache at its edges: a full context, generation on either side of it, and what comes out of `generate`."""

import pytest
import torch
import torch.nn.functional as F

from utils.model import GPT, KVCache, LayerNorm
from utils.sampling import generate

V, N_CTX = 200, 32


def rng(seed):
    return torch.Generator().manual_seed(seed)


def random_ids(batch, length, seed=1):
    return torch.randint(V, (batch, length), generator=rng(seed))


def greedy(model, cache, ids, new):
    """The likeliest tokens after ids, one at a time through a cache that has not seen ids."""
    found, last = [], ids
    for _ in range(new):
        last = model(last, cache=cache)[:, -1:].argmax(-1)  # (B, 1)
        found.append(last)
    return torch.cat(found, dim=1)


# ---- a full context


@torch.no_grad()
def test_a_full_cache_takes_nothing_more_until_it_is_reset(course, loud, refused):
    model, ids, cache = loud(course), random_ids(2, N_CTX), KVCache(course, 2)
    wanted = model(ids, cache=cache)
    with refused(ValueError, "holds 32 tokens", "adds 1", "n_ctx=32", "reset"):
        model(ids[:, :1], cache=cache)
    assert cache.length == N_CTX
    cache.reset()
    assert torch.equal(model(ids, cache=cache), wanted)


@torch.no_grad()
def test_a_prompt_given_twice_shows_in_the_length(course, loud):
    model, ids, cache = loud(course), random_ids(2, 10), KVCache(course, 2)
    for length in (10, 20, 30):
        logits = model(ids, cache=cache)
        assert cache.length == length
    wanted = model(ids.repeat(1, 3))[:, 20:]  # read as a longer text
    assert (logits - wanted).abs().max() <= 1e-5 * wanted.abs().max()


@pytest.mark.parametrize("filters", [{"temperature": 0}, {"temperature": 2.0, "top_k": 50, "top_p": 0.9}], ids=str)
@pytest.mark.parametrize("batch", [1, 4])
def test_from_every_prompt_length_into_a_full_context(course, loud, batch, filters):
    model = loud(course)
    for length in range(1, N_CTX + 3):
        ids, new = random_ids(batch, length, seed=length), N_CTX + 3 - length  # ends two tokens after n_ctx at least
        found = [generate(model, ids, new, generator=rng(5), use_cache=kept, **filters) for kept in (True, False)]
        assert torch.equal(*found)
        assert found[0].shape == (batch, N_CTX + 3)


def test_after_a_full_context_each_token_follows_from_the_last_n_ctx(course, loud):
    model, ids = loud(course, dtype=torch.float64), random_ids(2, 30)
    found = generate(model, ids, 12, temperature=0)
    for end in range(30, 42):  # each alone, in a cache of its own
        window = found[:, max(0, end - N_CTX) : end]
        cache = KVCache(course, 2, torch.float64)
        assert torch.equal(greedy(model, cache, window, 1), found[:, end : end + 1])


@torch.no_grad()
def test_what_lies_past_the_length_is_never_read(course, loud):
    model, ids, cache = loud(course), random_ids(2, N_CTX), KVCache(course, 2)
    cache.k.fill_(torch.nan)
    cache.v.fill_(torch.nan)
    found = torch.cat([model(piece, cache=cache) for piece in ids.split([5, 1, 10, 16], dim=1)], dim=1)
    wanted = model(ids)
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


# ---- one token alone


# ---- the layer norm that goes a shorter way


def same_as(layer, wanted, shape):
    """A layer against its plain formula, forward and backward, in float64."""
    x = torch.randn(shape, dtype=torch.float64, generator=rng(0)).requires_grad_()
    inputs = x, layer.weight, layer.bias
    found, plain = layer(x), wanted(x)
    torch.testing.assert_close(found, plain)
    for ours, theirs in zip(
        torch.autograd.grad(found.square().sum(), inputs),
        torch.autograd.grad(plain.square().sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


SHAPES = [(1, 1, 6), (1, 3, 6), (2, 1, 6), (1, 6), (6,), (0, 1, 6)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_layer_norm_is_its_formula(shape):
    layer = LayerNorm(6, eps=0.1).double()
    torch.nn.init.normal_(layer.weight, generator=rng(1))
    torch.nn.init.normal_(layer.bias, generator=rng(2))

    def formula(x):
        centred = x - x.mean(-1, keepdim=True)
        return layer.weight * centred / (centred.square().mean(-1, keepdim=True) + 0.1).sqrt() + layer.bias

    same_as(layer, formula, shape)


# ---- one prompt, several continuations


@torch.no_grad()
def test_two_continuations_of_one_prompt_are_two_fresh_runs(course, loud):
    model, prompt = loud(course), random_ids(2, 9)
    cache = KVCache(course, 2)
    model(prompt, cache=cache)
    for first in (random_ids(2, 1, seed=2), random_ids(2, 1, seed=3)):
        found = greedy(model, cache.copy(), first, 22)
        fresh = generate(model, torch.cat([prompt, first], dim=1), 22, temperature=0)
        assert torch.equal(found, fresh[:, 10:])
    assert cache.length == 9


# ---- what generate hands back


@pytest.mark.parametrize("new", [0, 8])
@pytest.mark.parametrize("use_cache", [True, False])
def test_generated_tokens_are_a_tensor_like_any_other(course, use_cache, new):
    model, ids = GPT(course), random_ids(2, 9)
    found = generate(model, ids, new, use_cache=use_cache)
    F.cross_entropy(model(found[:, :-1]).flatten(0, 1), found[:, 1:].flatten()).backward()  # trained on
    assert model.wpe.weight.grad[: 8 + new].abs().sum(-1).all()
    assert not model.wpe.weight.grad[8 + new :].any()
    found[:, 0] = 7  # changed in place
    assert found[:, 0].tolist() == [7, 7]
    assert torch.equal(ids, random_ids(2, 9))


def test_generation_leaves_no_trace_in_the_model(course, loud):
    model, ids = loud(course), random_ids(2, 9)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    generate(model, ids, 30, generator=rng(0))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(p.requires_grad and p.grad is None and not p.is_inference() for p in model.parameters())
    model(ids).sum().backward()
    assert model.wte.weight.grad.any()
