"""Llama against another implementation, against closed forms, and under everything that takes a GPT."""

import copy
import math
import random

import pytest
import torch
from llama_twin import twin

from utils.checkpoint import load_model, save_model
from utils.counting import ROWS, conventions, ledger, meta_model
from utils.inspection import attention_weights, lens, residual_stream
from utils.llama import Llama, LlamaConfig, rotate, rotation
from utils.model import GPT, GPTConfig, KVCache
from utils.plots import model_map
from utils.pretrained import TINY_LLAMA as TINY
from utils.pretrained import save_gpt2
from utils.sampling import generate
from utils.scaling import matmul_flops
from utils.training import train

# SmolLM2-135M's config.json
SMOL = LlamaConfig(49_152, 8_192, 576, 30, 9, 3, 1_536, rope_theta=100_000.0)


def random_config(seed):
    draw = random.Random(seed)
    head = draw.choice([1, 2, 4, 6, 9])
    kept = draw.choice([g for g in range(1, head + 1) if head % g == 0])
    return LlamaConfig(
        vocab_size=draw.randint(11, 90), n_ctx=24, n_embd=head * draw.choice([2, 4, 8]), n_layer=draw.randint(1, 3),
        n_head=head, n_kv_head=kept, n_inner=draw.randint(3, 40), tied=draw.random() < 0.5,
        rope_theta=draw.choice([100.0, 10_000.0, 500_000.0]), rms_norm_eps=draw.choice([1e-6, 1e-5, 1e-2]),
    )  # fmt: skip


def loud(config, seed=0):
    """A model whose every number matters: no weight is near zero, no norm is one."""
    torch.manual_seed(seed)
    model = config.build().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(1.0 if parameter.ndim == 1 else 0.0, 0.4)
    return model


@pytest.mark.parametrize("seed", range(30))
def test_logits_and_greedy_text_are_those_of_transformers(seed):
    config = random_config(seed)
    model = loud(config, seed)
    other = twin(model)
    ids = torch.randint(config.vocab_size, (2, 9), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        wanted = other(ids).logits
        assert (model(ids) - wanted).abs().max() <= 1e-5 * wanted.abs().max()
    greedy = other.generate(ids, max_new_tokens=8, do_sample=False, attention_mask=torch.ones_like(ids))
    for use_cache in (True, False):
        assert torch.equal(generate(model, ids, 8, temperature=0, use_cache=use_cache), greedy)


def test_every_split_of_a_prompt_through_the_cache_gives_the_whole_pass():
    model = loud(TINY)
    ids = torch.randint(200, (2, 10), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        whole = model(ids)
    for cut in range(1, 10):
        for parts in ([cut, 10 - cut], [cut] + [1] * (10 - cut)):
            cache = KVCache(TINY, batch_size=2)
            with torch.no_grad():
                pieces = [model(part, cache=cache) for part in ids.split(parts, dim=1)]
            assert (torch.cat(pieces, 1) - whole).abs().max() <= 1e-5 * whole.abs().max()


@pytest.mark.parametrize("config", [TINY, SMOL, *map(random_config, range(8))])
def test_the_ledger_of_a_configuration_is_that_of_its_tensors(config):
    assert ledger(config) == ledger(meta_model(config))


def test_published_counts():
    table, attention, mlp, norms, final = 28_311_552, 26_542_080, 79_626_240, 34_560, 576
    assert ledger(SMOL) == dict(zip(ROWS, (table, 0, attention, mlp, norms, final, 0), strict=True))
    assert sum(ledger(SMOL).values()) == 134_515_008
    assert sum(ledger(TINY).values()) == 103_744
    llama_3_8b = LlamaConfig(128_256, 8_192, 4_096, 32, 32, 8, 14_336, tied=False, rope_theta=500_000.0)
    assert sum(ledger(llama_3_8b).values()) == 8_030_261_248
    assert KVCache(SMOL).nbytes == 46_080 * 8_192


def test_a_rotation_multiplies_complex_numbers():
    x = torch.randn(3, 7, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    turned = rotate(x, *rotation(5, 7, 8, 100.0, dtype=x.dtype))
    number = torch.complex(x[..., :4], x[..., 4:])
    speeds = torch.tensor([100.0 ** (-2 * i / 8) for i in range(4)], dtype=torch.float64)
    angle = torch.outer(torch.arange(5, 12, dtype=torch.float64), speeds)
    wanted = number * torch.polar(torch.ones_like(angle), angle)
    torch.testing.assert_close(turned, torch.cat([wanted.real, wanted.imag], -1), rtol=0, atol=2e-6)


def test_only_the_distance_counts():
    model = loud(TINY)
    ids = torch.randint(200, (1, 20), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        here = model(ids)
        far = model.lm_head(model.hidden(ids, 1_000, [None] * 2))
        near = model.lm_head(model.hidden(ids.flip(1), 0, [None] * 2))
    assert (here - far).abs().max() < 1e-3 * here.abs().max() < (here - near).abs().max()


def test_what_takes_a_gpt_takes_a_llama(tmp_path):
    model = loud(TINY)
    ids = torch.randint(200, (2, 12), generator=torch.Generator().manual_seed(3))
    weights = attention_weights(model, ids)
    assert weights.shape == (2, 2, 4, 12, 12)
    theirs = twin(model)(ids, output_attentions=True).attentions
    torch.testing.assert_close(weights, torch.stack(theirs), rtol=0, atol=1e-5)
    assert residual_stream(model, ids).shape == (3, 2, 12, 64)
    with torch.no_grad():
        assert torch.equal(lens(model, ids)[-1], model(ids))
    save_model(model, tmp_path / "llama.safetensors")
    again = load_model(tmp_path / "llama.safetensors")
    assert type(again) is Llama
    assert again.config == TINY
    assert again.lm_head.weight is again.wte.weight
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), model.parameters(), strict=True))
    copied = copy.deepcopy(model)
    assert copied.lm_head.weight is copied.wte.weight is not model.wte.weight


def test_a_fresh_one_guesses_and_learns():
    torch.manual_seed(0)
    model = Llama(TINY)
    rows = torch.randint(200, (8, 12), generator=torch.Generator().manual_seed(4))
    history = train(model, rows, steps=60, batch_size=8)
    assert abs(history.train_loss[0] - math.log(200)) < 0.1
    assert history.train_loss[-1] < 1.0
    stds = {name: p.std().item() for name, p in Llama(TINY).named_parameters() if p.ndim == 2}
    residual = {name for name in stds if "o_proj" in name or "down_proj" in name}
    assert all(abs(std / (0.01 if name in residual else 0.02) - 1) < 0.06 for name, std in stds.items())


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n_kv_head": 3}, ValueError, ["n_kv_head=3", "n_head=4", "divisors"]),
        ({"n_embd": 60}, ValueError, ["width 15", "odd"]),
        ({"n_embd": 62}, ValueError, ["n_embd=62", "n_head=4"]),
        ({"n_inner": None}, TypeError, ["n_inner", "whole number"]),
        ({"n_kv_head": 0}, ValueError, ["n_kv_head=0"]),
        ({"rope_theta": 0}, ValueError, ["rope_theta=0"]),
        ({"rms_norm_eps": math.inf}, ValueError, ["rms_norm_eps=inf"]),
        ({"tied": 1}, TypeError, ["tied=1"]),
        ({"n_layer": 10**9}, ValueError, ["GB"]),
    ],
)
def test_bad_sizes_are_one_sentence(change, error, words):
    with pytest.raises(error) as caught:
        Llama(LlamaConfig(**{**vars(TINY), **change}))
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


def test_a_configuration_of_the_other_kind_is_refused():
    gpt = GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)
    for model, config in ((Llama, gpt), (GPT, TINY)):
        with pytest.raises(TypeError, match="config"):
            model(config)
    with pytest.raises(ValueError, match="made for"):
        Llama(TINY)(torch.zeros(1, 3, dtype=torch.int64), cache=KVCache(gpt))


def test_what_is_gpt_2s_alone_is_refused_by_name(tmp_path):
    refused = {
        "model_map of a model": lambda: model_map(meta_model(TINY)),
        "model_map": lambda: model_map(TINY),
        "save_gpt2": lambda: save_gpt2(meta_model(TINY), tmp_path / "new"),
        "conventions": lambda: conventions(TINY),
        "matmul_flops": lambda: matmul_flops(TINY, 4),
    }
    for name, call in refused.items():
        with pytest.raises(TypeError, match="LlamaConfig") as caught:
            call()
        assert "GPT" in str(caught.value), name
    assert not (tmp_path / "new").exists()


def test_a_run_that_was_stopped_goes_on_to_the_last_bit(tmp_path):
    rows = torch.randint(200, (16, 9), generator=torch.Generator().manual_seed(5))
    whole, stopped = (copy.deepcopy(loud(TINY)) for _ in range(2))

    def stop(history):
        if len(history.train_loss) == 5:
            raise KeyboardInterrupt

    options = {"steps": 8, "batch_size": 4, "valid_rows": rows, "valid_every": 4, "progress": False}
    train(whole, rows, **options)
    first = train(stopped, rows, watch=stop, checkpoint=tmp_path / "run", **options)
    assert first.stopped
    again = loud(TINY, seed=9)
    train(again, rows, checkpoint=tmp_path / "run", **options)
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), again.parameters(), strict=True))


def test_a_rotation_is_float32_whatever_pytorchs_default():
    usual = rotation(900, 200, 8, 100.0)
    torch.set_default_dtype(torch.float16)
    try:
        assert all(map(torch.equal, rotation(900, 200, 8, 100.0, dtype=torch.float32), usual))
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("config", [TINY, GPTConfig(61, 8, 32, 1, 4)])
def test_a_model_with_a_configuration_of_a_students_own_kind_is_saved_to_be_loaded(tmp_path, config):
    class Mine(type(config)):
        pass

    model = Mine(**vars(config)).build()
    save_model(model, tmp_path / "mine.safetensors")
    assert load_model(tmp_path / "mine.safetensors").config == config
