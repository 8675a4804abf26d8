"""The cache against the full pass: every split, length and type, a full context, copies, and what is refused."""

import copy
import dataclasses
import math

import pytest
import torch
from tiny_runs import far, interrupt, rng
from tiny_runs import random_ids as ids_of

from utils.counting import GPT2_FAMILY
from utils.model import GPT, CausalSelfAttention, GPTConfig, KVCache

N_CTX, B = 32, 3
EXACT = 1e-12  # of the largest logit, in float64


def random_ids(length=N_CTX, batch=B, seed=1):
    return ids_of(batch, length, seed=seed)


def in_pieces(model, ids, lengths):
    """Logits of ids read piece by piece, all positions; the cache's memory holds NaN, none of which may be read."""
    cache = KVCache(model.config, len(ids), model.wte.weight.dtype)
    cache.kv.fill_(torch.nan)
    pieces = [model(piece, cache=cache) for piece in ids.split(lengths, dim=1)]
    assert cache.length == sum(lengths)
    return torch.cat(pieces, dim=1)


def plain_attention(attention, x):
    """Row by row, head by head: softmax(q k / sqrt(d_head)) v over the tokens up to this one."""
    d, n_head = x.shape[-1], attention.n_head
    width, out = d // n_head, torch.zeros_like(x)
    for b, t, head in [(b, t, head) for b in range(len(x)) for t in range(x.shape[1]) for head in range(n_head)]:
        columns = slice(head * width, (head + 1) * width)
        qkv = x[b, : t + 1] @ attention.c_attn.weight.T + attention.c_attn.bias
        q, k, v = qkv[t, :d][columns], qkv[:, d : 2 * d][:, columns], qkv[:, 2 * d :][:, columns]
        weights = [math.exp(float(q @ row) / math.sqrt(width)) for row in k]
        out[b, t, columns] = sum(w / sum(weights) * row for w, row in zip(weights, v, strict=True))
    return out @ attention.c_proj.weight.T + attention.c_proj.bias


@pytest.mark.parametrize("lengths", [[5], [4, 1], [1, 4], [2, 3], [1, 1, 1, 1, 1], [1, 3, 1]], ids=str)
@torch.no_grad()
def test_attention_is_the_formula(lengths):
    torch.manual_seed(0)
    config = GPTConfig(vocab_size=1, n_ctx=7, n_embd=12, n_layer=1, n_head=3)
    attention, x = CausalSelfAttention(config).double(), torch.randn(2, 5, 12, dtype=torch.float64)
    cache, found = KVCache(config, 2, torch.float64), []
    for piece in x.split(lengths, dim=1):
        found.append(attention(piece, *cache.layers(piece.shape[1])))
        cache.length += piece.shape[1]
    wanted = plain_attention(attention, x)
    assert far(torch.cat(found, dim=1), wanted) < 1e-14
    assert far(attention(x), wanted) < 1e-14


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float64, EXACT)], ids=str)
@torch.no_grad()
def test_every_length_and_every_split_in_two(course, loud, dtype, bound):
    model = loud(course, dtype=dtype)
    for length in range(1, N_CTX + 1):
        ids = random_ids(length)
        wanted = model(ids)
        for cut in range(1, length + 1):
            found = in_pieces(model, ids, [cut, length - cut] if cut < length else [length])
            assert far(found, wanted) <= bound
            assert torch.equal(found.argmax(-1), wanted.argmax(-1))


@pytest.mark.parametrize("seed", range(30))
@torch.no_grad()
def test_random_splits(course, loud, seed):
    cuts = torch.randperm(N_CTX - 1, generator=rng(seed))[: 2 + seed].add(1).sort().values.tolist()
    lengths = [end - start for start, end in zip([0, *cuts], [*cuts, N_CTX], strict=True)]
    model, ids = loud(course, seed, torch.float64), random_ids(seed=seed)
    assert far(in_pieces(model, ids, lengths), model(ids)) <= EXACT


@pytest.mark.parametrize("lengths", [[1] * N_CTX, [31, 1], [8] * 4, [5, 1, 1, 9, 16]], ids=str)
@torch.no_grad()
def test_a_token_gets_the_position_after_the_last_one_and_the_course_models_logits_to_1e_5(course, lengths):
    torch.manual_seed(0)
    (model, ids), seen = (GPT(course), random_ids()), []
    wanted = model(ids)
    model.h[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    assert (in_pieces(model, ids, lengths) - wanted).abs().max() <= 1e-5
    assert [x.shape[1] for x in seen] == lengths
    assert torch.equal(torch.cat(seen, dim=1), model.wte(ids) + model.wpe(torch.arange(N_CTX)))


@torch.no_grad()
def test_bfloat16_differs_in_bits_and_keeps_clear_choices(course, loud):
    model, ids = loud(course, dtype=torch.bfloat16), random_ids(batch=8)
    found, wanted = in_pieces(model, ids, [1] * N_CTX).float(), model(ids).float()
    exact = loud(course)(ids)
    assert far(found, wanted) < 0.05  # 8 bits of mantissa, two layers
    assert far(found, exact) < 2 * far(wanted, exact)  # no worse than the rounding of a full pass
    first, second = wanted.topk(2).values.unbind(-1)
    clear = first - second > 2 * (found - wanted).abs().max()
    assert clear.float().mean() > 0.25
    assert torch.equal(found.argmax(-1)[clear], wanted.argmax(-1)[clear])


@torch.no_grad()
def test_one_prompt_continued_in_three_ways(course, loud):
    model, prompt, endings = loud(course, dtype=torch.float64), random_ids(9), random_ids(23, seed=2)
    cache = KVCache(course, B, torch.float64)
    model(prompt, cache=cache)
    twins, orders = (cache.copy(), copy.deepcopy(cache), cache), (endings, endings.flip(1), endings.roll(3, 1))
    found = [[] for _ in twins]
    for t in range(23):  # by turns, so that a shared number would be overwritten
        for twin, ending, logits in zip(twins, orders, found, strict=True):
            logits.append(model(ending[:, t : t + 1], cache=twin))
            assert twin.length == 9 + t + 1
    for ending, logits in zip(orders, found, strict=True):
        assert far(torch.cat(logits, 1), model(torch.cat([prompt, ending], 1))[:, 9:]) <= EXACT


@torch.no_grad()
def test_a_full_cache_takes_nothing_more_until_it_is_reset_and_is_then_as_new(course, loud, refused):
    model, ids, cache = loud(course), random_ids(), KVCache(course, B)
    allocated = cache.k.data_ptr(), cache.v.data_ptr(), cache.nbytes
    assert torch.equal(model(ids, cache=cache), model(ids))  # an empty cache changes nothing
    with refused(ValueError, "holds 32 tokens", "adds 1", "n_ctx=32", "reset"):
        model(ids[:, :1], cache=cache)
    assert cache.length == N_CTX
    cache.reset()
    assert (cache.length, cache.k.data_ptr(), cache.v.data_ptr(), cache.nbytes) == (0, *allocated)
    other = random_ids(7, seed=2)
    assert torch.equal(model(other, cache=cache), model(other))


def test_length_and_bytes_after_each_step(course):
    model, cache = GPT(course), KVCache(course, B)
    for t in range(N_CTX):
        assert (cache.length, cache.nbytes) == (t, 2 * 2 * B * 32 * 64 * 4)
        assert repr(cache) == f"KVCache({t} of 32 tokens, batch 3, 2 layers, 98,304 bytes)"
        model(random_ids(1), cache=cache)


def test_published_sizes():
    small = KVCache(GPT2_FAMILY["GPT-2 small"], device="meta")
    assert small.nbytes == 73_728 * 1024  # bytes per token, tokens
    large = KVCache(GPTConfig(50_257, 2048, 12_288, 96, 96), 5, torch.bfloat16, "meta")
    assert large.nbytes == 2 * 96 * 5 * 2048 * 12_288 * 2  # 4.7 MB per token and sequence


@pytest.mark.parametrize("grad", [True, False])
def test_no_graph_is_kept(course, grad):
    model, cache = GPT(course), KVCache(course, B)
    with torch.set_grad_enabled(grad):
        logits = model(random_ids(4), cache=cache)
        assert torch.is_grad_enabled() == grad
        assert model(random_ids(4)).requires_grad == grad
    assert [tensor.requires_grad for tensor in (logits, cache.k, cache.v)] == [False] * 3


# ---- what is refused


def made_for(batch=B, dtype=torch.float32, **changes):
    return lambda config: KVCache(dataclasses.replace(config, **changes), batch, dtype)


REFUSALS = {
    "overflow by one": (made_for(), 23, ValueError, ["holds 10 tokens", "adds 23", "n_ctx=32", "reset"]),
    "the whole text again": (made_for(), 32, ValueError, ["holds 10 tokens", "adds 32", "has not seen"]),
    "batch": (made_for(2), 1, ValueError, ["3 sequences", "made for 2", "batch_size=3"]),
    "dtype": (made_for(B, torch.bfloat16), 1, ValueError, ["bfloat16", "float32", "dtype="]),
    "layers": (made_for(n_layer=3), 1, ValueError, ["L=3", "has 2, 4, 32, 16"]),
    "heads": (made_for(n_head=8), 1, ValueError, ["H=8", "d_head=8", "has 2, 4, 32, 16"]),
    "context": (made_for(n_ctx=64), 1, ValueError, ["n_ctx=64", "has 2, 4, 32, 16"]),
    "width": (made_for(n_embd=32), 1, ValueError, ["d_head=8", "has 2, 4, 32, 16"]),
    "tuple": (lambda config: (torch.zeros(1), torch.zeros(1)), 1, TypeError, ["cache is a tuple", "KVCache"]),
    "True": (lambda config: True, 1, TypeError, ["cache is a bool", "KVCache"]),
}


@pytest.mark.parametrize(("make", "new", "kind", "words"), REFUSALS.values(), ids=REFUSALS)
@torch.no_grad()
def test_what_is_refused_leaves_the_cache_as_it_was(course, refused, make, new, kind, words):
    cache = make(course)
    if isinstance(cache, KVCache):
        cache.length = 10
        cache.kv.normal_()
    before = copy.deepcopy(cache)
    with refused(kind, *words):
        GPT(course)(random_ids(new), cache=cache)
    if isinstance(cache, KVCache):
        assert cache.length == 10
        assert torch.equal(cache.kv, before.kv)


@pytest.mark.parametrize("layer", [0, 1])
@torch.no_grad()
def test_a_pass_that_breaks_off_can_be_repeated(course, loud, layer):
    model, ids, cache = loud(course, dtype=torch.float64), random_ids(), KVCache(course, B, torch.float64)
    model(ids[:, :9], cache=cache)
    hook = model.h[layer].mlp.register_forward_hook(lambda *_: interrupt())
    with pytest.raises(KeyboardInterrupt):
        model(ids[:, 9:20] * 0, cache=cache)
    hook.remove()
    assert cache.length == 9
    assert far(model(ids[:, 9:], cache=cache), model(ids)[:, 9:]) <= EXACT


@pytest.mark.parametrize(
    ("name", "value", "kind", "words"),
    [
        *[("batch_size", value, ValueError, "from 1 up") for value in (0, -1)],
        *[("batch_size", value, TypeError, "from 1 up") for value in (1.0, "1", True)],
        ("dtype", "float32", TypeError, "str"),
    ],
)
def test_bad_sizes_and_types(course, refused, name, value, kind, words):
    with refused(kind, f"{name}={value!r}", words):
        KVCache(course, **{name: value})
