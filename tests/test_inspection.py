"""What is read inside the model against what its modules really make, and the heads that look back at copied words."""

import math

import pytest
import torch
from looking_back import looks_back
from tiny_runs import random_ids, same, weights

from utils.inspection import attention_weights, lens, residual_stream
from utils.model import GPT, GPTConfig
from utils.pretrained import load_toy_gpt
from utils.toy_language import ToyLanguage

READERS = [attention_weights, residual_stream, lens]
CONFIGS = [
    GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4),
    GPTConfig(vocab_size=11, n_ctx=9, n_embd=12, n_layer=3, n_head=1),
    GPTConfig(vocab_size=11, n_ctx=9, n_embd=12, n_layer=1, n_head=6, tied=False),
]


@pytest.fixture(scope="module")
def toy():
    return load_toy_gpt()


@pytest.fixture(scope="module")
def stories():
    return ToyLanguage().stories(1_000, seed=2)[0]


def tokens(config):
    return random_ids(3, config.n_ctx, config.vocab_size)


def heard(module, model, ids):
    """What one module makes while the model runs."""
    found = []
    hook = module.register_forward_hook(lambda _, given, made: found.append(made))
    model(ids)
    hook.remove()
    return found[0]


def by_loops(block, x, head):
    """One head's weights for one sequence x (T, d), number by number, from the definition."""
    d, d_head = x.shape[1], x.shape[1] // block.attn.n_head
    weight, bias = block.attn.c_attn.weight, block.attn.c_attn.bias
    x = block.ln_1(x)
    rows = slice(head * d_head, (head + 1) * d_head)
    q, k = (x @ weight[part * d :][rows].T + bias[part * d :][rows] for part in (0, 1))
    found = torch.zeros(len(x), len(x), dtype=x.dtype)
    for t in range(len(x)):
        scores = [math.exp((q[t] @ k[s]).item() / math.sqrt(d_head)) for s in range(t + 1)]
        found[t, : t + 1] = torch.tensor(scores, dtype=x.dtype) / sum(scores)
    return found


@pytest.mark.parametrize("config", CONFIGS)
def test_the_weights_are_those_that_the_definition_gives(config, loud):
    model, ids = loud(config, dtype=torch.float64), tokens(config)
    found, stream = attention_weights(model, ids), residual_stream(model, ids)
    assert found.shape == (config.n_layer, 3, config.n_head, config.n_ctx, config.n_ctx)
    with torch.no_grad():
        for layer, block in enumerate(model.h):
            for head in range(config.n_head):
                wanted = by_loops(block, stream[layer, 1], head)
                assert (found[layer, 1, head] - wanted).abs().max() < 1e-12


@pytest.mark.parametrize("config", CONFIGS)
@torch.no_grad()
def test_the_weights_rebuild_what_the_module_makes(config, loud):
    model, ids = loud(config), tokens(config)
    shares = attention_weights(model, ids)
    assert (shares.sum(-1) - 1).abs().max() < 1e-6
    assert (shares.triu(1) == 0).all()
    for layer, block in enumerate(model.h):
        v = heard(block.attn.c_attn, model, ids).chunk(3, -1)[2].unflatten(-1, (config.n_head, -1)).transpose(1, 2)
        mine, theirs = block.attn.c_proj((shares[layer] @ v).transpose(1, 2).flatten(2)), heard(block.attn, model, ids)
        assert (mine - theirs).abs().max() <= 1e-6 * max(1, theirs.abs().max().item())


@pytest.mark.parametrize("config", CONFIGS)
def test_the_stream_is_what_the_blocks_are_given_and_make(config, loud):
    model, ids = loud(config), tokens(config)
    stream = residual_stream(model, ids)
    assert stream.shape == (config.n_layer + 1, 3, config.n_ctx, config.n_embd)
    with torch.no_grad():
        assert torch.equal(stream[0], model.wte(ids) + model.wpe(torch.arange(config.n_ctx)))
        for layer, block in enumerate(model.h):
            assert torch.equal(block(stream[layer]), stream[layer + 1])


@pytest.mark.parametrize("length", [1, 2, 9])
@pytest.mark.parametrize("config", CONFIGS)
def test_the_last_row_of_the_lens_is_the_models_own_output(config, length, loud):
    model, ids = loud(config), tokens(config)[:, :length]
    read = lens(model, ids)
    assert read.shape == (config.n_layer + 1, 3, length, config.vocab_size)
    assert torch.equal(read[-1], model(ids))
    with torch.no_grad():
        first = model.ln_f(model.wte(ids) + model.wpe(torch.arange(length))) @ model.lm_head.weight.T
    assert (read[0] - first).abs().max() < 1e-5


@pytest.mark.parametrize("read", READERS)
def test_reading_leaves_no_trace_also_after_an_error(read, course, refused):
    model, ids = GPT(course), tokens(course)
    model.h[1].eval()  # the model as a whole trains
    modes = [module.training for module in model.modules()]
    before = weights(model)
    assert not read(model, ids).requires_grad
    with refused(ValueError, "ids holds 200"):
        read(model, torch.tensor([[0, 200]]))
    with refused(TypeError, "model=3", "give a GPT"):
        read(3, ids)
    assert torch.is_grad_enabled()
    assert [module.training for module in model.modules()] == modes
    assert same(before, model.state_dict())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    model(ids).sum().backward()
    assert model.wte.weight.grad is not None


def copied(rows):
    return ToyLanguage().kinds(rows)["copied"]


def test_looking_back_is_counted_as_by_hand(toy, stories):
    rows = stories[:20]
    given, places, shares = attention_weights(toy, rows[:, :-1]), copied(rows), []  # given (L, m, H, T, T)
    for story, place in places.nonzero().tolist():
        earlier = [s for s in range(place + 1) if rows[story, s] == rows[story, place + 1]]
        assert earlier, "a copied word stood there before"
        shares.append(sum(given[:, story, :, place, s] for s in earlier))
    assert torch.allclose(looks_back(toy, rows, places), sum(shares) / len(shares), rtol=0, atol=1e-5)


# per kind of repeated word: what heads 0, 1 and 2 of layer 0 give to its earlier copies, measured once over 4,000
# other stories; friends are names too
MEASURED = {
    "name": (0.84, 0.08, 0.86),
    "adjective": (0.95, 0.96, 0.98),
    "object": (0.97, 0.13, 0.98),
    "place": (0.92, 0.10, 0.96),
    "animal": (0.96, 0.11, 0.02),
}


@pytest.mark.parametrize("kind", MEASURED)
def test_heads_0_and_2_of_layer_0_look_back_at_the_word_that_comes_next(kind, toy, stories):
    words = torch.tensor(ToyLanguage().encode(" ".join(ToyLanguage().categories[kind])))
    shares = looks_back(toy, stories, copied(stories) & torch.isin(stories[:, 1:], words))
    assert shares[0, :3].tolist() == pytest.approx(MEASURED[kind], abs=0.02)
    assert shares[0, 3] < 0.1
    assert shares[1].max() < 0.5


# stage -> the share that heads 0 and 2 of layer 0 give to earlier copies, over all repeated words, and the probability
# of the right word after the tables, after block 0 and after block 1; each measured once over 1,000 other stories
STAGES = {
    "untrained": ((0.06, 0.06), (0.005, 0.005, 0.005)),
    "before_copying": ((0.10, 0.34), (0.00, 0.11, 0.18)),
    "after_copying": ((0.85, 0.94), (0.00, 0.78, 0.98)),
    "trained": ((0.92, 0.91), (0.00, 0.73, 1.00)),
}


@pytest.mark.parametrize("stage", STAGES)
def test_looking_back_is_learned_and_the_prediction_forms_in_block_0(stage, stories):
    model, places, (shares, probs) = load_toy_gpt(stage), copied(stories), STAGES[stage]
    assert looks_back(model, stories, places)[0, [0, 2]].tolist() == pytest.approx(shares, abs=0.02)
    rows = lens(model, stories[:, :-1]).softmax(-1)  # (L + 1, m, T, V)
    right = rows.gather(-1, stories[None, :, 1:, None].expand(3, -1, -1, -1))[..., 0]
    assert right[:, places].mean(-1).tolist() == pytest.approx(probs, abs=0.02)


@pytest.mark.parametrize(("stage", "least", "most"), [("untrained", 0.999, 1.0), ("trained", 0.74, 0.78)])
def test_after_the_two_tables_the_likeliest_next_word_is_most_often_the_word_itself(stage, least, most, stories):
    inputs = stories[:, :-1]
    repeats = (lens(load_toy_gpt(stage), inputs)[0].argmax(-1) == inputs).float().mean()
    assert least <= repeats <= most


def test_copying_stops_without_the_two_heads_and_not_without_two_others(toy, stories):
    """Switch heads off by emptying their part of what c_proj reads."""
    rows, places = stories, copied(stories)

    def right(*heads):
        kept = torch.ones(4, 16).index_fill(0, torch.tensor(heads), 0.0).flatten()
        hook = toy.h[0].attn.c_proj.register_forward_pre_hook(lambda _, given: (given[0] * kept,))
        with torch.no_grad():
            guesses = toy(rows[:, :-1]).argmax(-1)
        hook.remove()
        return (guesses == rows[:, 1:])[places].float().mean().item()

    assert right(1, 3) > 0.99
    assert right(0, 2) < 0.2
