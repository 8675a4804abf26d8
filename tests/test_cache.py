"""The cache against the full pass: every split, length and type, what is refused, a full context, and `generate`."""

import copy
import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F

from utils.counting import GPT2_FAMILY
from utils.model import GPT, CausalSelfAttention, GPTConfig, KVCache
from utils.sampling import generate

V, N_CTX, B = 200, 32, 3
EXACT = torch.float64, 1e-12  # of the largest logit
BOUNDS = [(torch.float32, 1e-5), EXACT]


def random_ids(batch=B, length=N_CTX, seed=1):
    return torch.randint(V, (batch, length), generator=torch.Generator().manual_seed(seed))


def in_pieces(model, ids, lengths, cache=None):
    """Logits of ids read piece by piece, all positions."""
    cache = cache or KVCache(model.config, len(ids), model.wte.weight.dtype)
    pieces = [model(piece, cache=cache) for piece in ids.split(lengths, dim=1)]
    assert cache.length == sum(lengths)
    return torch.cat(pieces, dim=1)


def far(found, wanted):
    """The largest difference, in units of the largest number."""
    return ((found - wanted).abs().max() / wanted.abs().max()).item()


# ---- one attention layer, against a loop in plain Python


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


# ---- the whole model


@pytest.mark.parametrize(("dtype", "bound"), BOUNDS, ids=str)
@torch.no_grad()
def test_every_length_and_every_split_in_two(course, loud, dtype, bound):
    model = loud(course, dtype=dtype)
    for length in range(1, N_CTX + 1):
        ids = random_ids(length=length)
        wanted = model(ids)
        for cut in range(1, length + 1):
            found = in_pieces(model, ids, [cut, length - cut] if cut < length else [length])
            assert far(found, wanted) <= bound
            assert torch.equal(found.argmax(-1), wanted.argmax(-1))


@pytest.mark.parametrize("seed", range(30))
@torch.no_grad()
def test_random_splits(course, loud, seed):
    generator = torch.Generator().manual_seed(seed)
    cuts = torch.randperm(N_CTX - 1, generator=generator)[: 2 + seed].add(1).sort().values.tolist()
    lengths = [end - start for start, end in zip([0, *cuts], [*cuts, N_CTX], strict=True)]
    model, ids = loud(course, seed, torch.float64), random_ids(seed=seed)
    assert far(in_pieces(model, ids, lengths), model(ids)) <= EXACT[1]


@pytest.mark.parametrize("batch", [1, 4])
@torch.no_grad()
def test_the_fresh_course_model_to_1e_5(course, batch):
    torch.manual_seed(0)
    model, ids = GPT(course), random_ids(batch)
    for lengths in ([1] * N_CTX, [31, 1], [8] * 4):
        assert (in_pieces(model, ids, lengths) - model(ids)).abs().max() <= 1e-5


@torch.no_grad()
def test_bfloat16_differs_in_bits_and_keeps_clear_choices(course, loud):
    model, ids = loud(course, dtype=torch.bfloat16), random_ids(8)
    found, wanted = in_pieces(model, ids, [1] * N_CTX).float(), model(ids).float()
    exact = loud(course)(ids)
    assert far(found, wanted) < 0.05  # 8 bits of mantissa, two layers
    assert far(found, exact) < 2 * far(wanted, exact)  # no worse than the rounding of a full pass
    first, second = wanted.topk(2).values.unbind(-1)
    clear = first - second > 2 * (found - wanted).abs().max()
    assert clear.float().mean() > 0.25
    assert torch.equal(found.argmax(-1)[clear], wanted.argmax(-1)[clear])


@torch.no_grad()
def test_an_empty_cache_changes_nothing(course, loud):
    model, ids = loud(course), random_ids(length=8)
    assert torch.equal(model(ids, cache=KVCache(course, B)), model(ids))
    assert torch.equal(model(ids, cache=None), model(ids))


@torch.no_grad()
def test_a_token_gets_the_position_after_the_last_one(course):
    model, ids, lengths, seen = GPT(course), random_ids(), [5, 1, 1, 9, 16], []
    model.h[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    in_pieces(model, ids, lengths)
    assert [x.shape[1] for x in seen] == lengths
    assert torch.equal(torch.cat(seen, dim=1), model.wte(ids) + model.wpe(torch.arange(N_CTX)))


@torch.no_grad()
def test_one_prompt_continued_in_two_ways(course, loud):
    model, prompt, endings = loud(course, dtype=torch.float64), random_ids(length=9), random_ids(length=23, seed=2)
    cache = KVCache(course, B, torch.float64)
    model(prompt, cache=cache)
    twins = cache.copy(), copy.deepcopy(cache), cache
    orders = endings, endings.flip(1), endings.roll(3, 1)
    found = [[] for _ in twins]
    for t in range(23):  # by turns, so that a shared number would be overwritten
        for twin, ending, logits in zip(twins, orders, found, strict=True):
            logits.append(model(ending[:, t : t + 1], cache=twin))
    for twin, ending, logits in zip(twins, orders, found, strict=True):
        assert twin.length == N_CTX
        assert far(torch.cat(logits, 1), model(torch.cat([prompt, ending], 1))[:, 9:]) <= EXACT[1]


@torch.no_grad()
def test_a_reset_cache_is_as_new(course, loud):
    model, cache = loud(course), KVCache(course, B)
    allocated = cache.k.data_ptr(), cache.v.data_ptr(), cache.nbytes
    in_pieces(model, random_ids(seed=2), [20, 12], cache)
    cache.reset()
    assert cache.length == 0
    assert torch.equal(model(random_ids(length=7), cache=cache), model(random_ids(length=7)))
    assert (cache.k.data_ptr(), cache.v.data_ptr(), cache.nbytes) == allocated


def test_length_and_bytes_after_each_step(course):
    model, cache = GPT(course), KVCache(course, B)
    assert (cache.length, cache.nbytes) == (0, 2 * 2 * B * 32 * 64 * 4)
    for t in range(N_CTX):
        model(random_ids(length=1), cache=cache)
        assert (cache.length, cache.nbytes) == (t + 1, 2 * 2 * B * 32 * 64 * 4)
        assert repr(cache) == f"KVCache({t + 1} of 32 tokens, batch 3, 2 layers, 98,304 bytes)"


def test_published_sizes():
    small = KVCache(GPT2_FAMILY["GPT-2 small"], device="meta")
    assert small.nbytes == 73_728 * 1024  # bytes per token, tokens
    large = KVCache(GPTConfig(50_257, 2048, 12_288, 96, 96), 5, torch.bfloat16, "meta")
    assert large.nbytes == 2 * 96 * 5 * 2048 * 12_288 * 2  # 4.7 MB per token and sequence


@pytest.mark.parametrize("grad", [True, False])
def test_no_graph_is_kept(course, grad):
    model, cache = GPT(course), KVCache(course, B)
    with torch.set_grad_enabled(grad):
        logits = model(random_ids(length=4), cache=cache)
        assert torch.is_grad_enabled() == grad
        assert model(random_ids(length=4)).requires_grad == grad
    assert [tensor.requires_grad for tensor in (logits, cache.k, cache.v)] == [False] * 3
    twin = copy.deepcopy(cache)
    assert twin.length == 4
    assert torch.equal(twin.k[:, :, :, :4], cache.k[:, :, :, :4])
    assert twin.k.data_ptr() != cache.k.data_ptr()


# ---- refusals leave the cache as it was


def wrong(course, **changes):
    return KVCache(dataclasses.replace(course, **changes), B)


REFUSALS = {
    "overflow by one": (lambda c: None, 23, ValueError, ["holds 10 tokens", "adds 23", "n_ctx=32", "reset"]),
    "the whole text again": (lambda c: None, 32, ValueError, ["holds 10 tokens", "adds 32", "has not seen"]),
    "batch": (lambda c: KVCache(c, 2), 1, ValueError, ["3 sequences", "made for 2", "batch_size=3"]),
    "dtype": (lambda c: KVCache(c, B, torch.bfloat16), 1, ValueError, ["bfloat16", "float32", "dtype="]),
    "layers": (lambda c: wrong(c, n_layer=3), 1, ValueError, ["L=3", "has 2, 4, 32, 16"]),
    "heads": (lambda c: wrong(c, n_head=8), 1, ValueError, ["H=8", "d_head=8", "has 2, 4, 32, 16"]),
    "context": (lambda c: wrong(c, n_ctx=64), 1, ValueError, ["n_ctx=64", "has 2, 4, 32, 16"]),
    "width": (lambda c: wrong(c, n_embd=32), 1, ValueError, ["d_head=8", "has 2, 4, 32, 16"]),
    "tuple": (lambda c: ((torch.zeros(1), torch.zeros(1)),), 1, TypeError, ["cache is a tuple", "KVCache"]),
    "True": (lambda c: True, 1, TypeError, ["cache is a bool", "KVCache"]),
}


@pytest.mark.parametrize("name", REFUSALS)
@torch.no_grad()
def test_what_is_refused_leaves_the_cache_as_it_was(course, refused, name):
    make, new, kind, words = REFUSALS[name]
    cache = make(course) or KVCache(course, B)
    if isinstance(cache, KVCache):
        cache.length = 10
        cache.k.normal_()
        cache.v.normal_()
    before = copy.deepcopy(cache)
    with refused(kind, *words):
        GPT(course)(random_ids(length=new), cache=cache)
    if isinstance(cache, KVCache):
        assert cache.length == 10
        assert torch.equal(cache.k, before.k)
        assert torch.equal(cache.v, before.v)


@pytest.mark.parametrize("layer", [0, 1])
@torch.no_grad()
def test_a_pass_that_breaks_off_can_be_repeated(course, loud, layer):
    model, ids, cache = loud(course, dtype=torch.float64), random_ids(), KVCache(course, B, torch.float64)
    model(ids[:, :9], cache=cache)

    def stop(*_):
        raise KeyboardInterrupt

    hook = model.h[layer].mlp.register_forward_hook(stop)
    with pytest.raises(KeyboardInterrupt):
        model(ids[:, 9:20] * 0, cache=cache)
    hook.remove()
    assert cache.length == 9
    assert far(model(ids[:, 9:], cache=cache), model(ids)[:, 9:]) <= EXACT[1]


@pytest.mark.parametrize(
    ("batch_size", "kind"), [(0, ValueError), (-1, ValueError), (1.0, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_bad_batch_sizes(course, refused, batch_size, kind):
    with refused(kind, f"batch_size={batch_size!r}", "from 1 up"):
        KVCache(course, batch_size)


def test_bad_dtype(course, refused):
    with refused(TypeError, "dtype='float32'", "str"):
        KVCache(course, dtype="float32")


# ---- at the edges: a full context, and generation on either side of it


def rng(seed):
    return torch.Generator().manual_seed(seed)


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
    model, ids, cache = loud(course), random_ids(2), KVCache(course, 2)
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
    model, ids, cache = loud(course), random_ids(2), KVCache(course, 2)
    cache.k.fill_(torch.nan)
    cache.v.fill_(torch.nan)
    found = torch.cat([model(piece, cache=cache) for piece in ids.split([5, 1, 10, 16], dim=1)], dim=1)
    wanted = model(ids)
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()


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
