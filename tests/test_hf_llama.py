"""Folders with a Llama or a Mistral against transformers: the same logits and text, and what is refused by name."""

import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

from utils.environment import ROOT
from utils.llama import Llama
from utils.pretrained import load_llama
from utils.sampling import generate

TINY = {
    **{"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4},
    **{"num_key_value_heads": 2, "max_position_embeddings": 24, "head_dim": None, "bos_token_id": None},
    **{"eos_token_id": None, "pad_token_id": None},
}
SHAPES = [
    {},
    {"tie_word_embeddings": True},
    {"num_key_value_heads": 4, "rms_norm_eps": 1e-3},
    {"num_key_value_heads": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    {"intermediate_size": 32, "vocab_size": 32},  # with this nearly every matrix is square
    {"hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 3, "num_hidden_layers": 1, "head_dim": 8},
]
WHOLE, SHARDS = "5GB", "9KB"  # a file at most
SINGLE, HEAD, TABLE = "model.safetensors", "lm_head.weight", "model.embed_tokens.weight"
K_PROJ = "model.layers.1.self_attn.k_proj.weight"


@torch.no_grad()
def oracle(kind="llama", seed=0, **changes):
    """transformers' model with weights so large that a wrong rotation, epsilon or order of heads shows."""
    torch.manual_seed(seed)
    settings = TINY | changes
    if kind == "llama":
        twin = LlamaForCausalLM(LlamaConfig(**settings, attn_implementation="eager"))
    else:
        settings = {"sliding_window": None} | settings
        twin = MistralForCausalLM(MistralConfig(**settings, attn_implementation="eager"))
    for name, parameter in twin.named_parameters():
        # a small table keeps the first norm's square so small that epsilon counts
        parameter.normal_(std=0.05 if "embed" in name else 0.3)
        if "norm" in name:
            parameter.add_(1)
    return twin.eval()


@torch.no_grad()
def compare(model, twin):
    generator = torch.Generator().manual_seed(1)
    length = twin.config.max_position_embeddings
    ids = torch.randint(twin.config.vocab_size, (3, length), generator=generator)
    wanted = twin(ids).logits
    assert (model(ids) - wanted).abs().max() <= 1e-5 * wanted.abs().max()
    start = ids[:1, : length // 3]
    text = twin.generate(start, attention_mask=torch.ones_like(start), max_new_tokens=8, do_sample=False)
    assert torch.equal(generate(model, start, 8, temperature=0), text)


@pytest.fixture
def folder(tmp_path):
    """What transformers itself writes for TINY."""
    oracle().save_pretrained(tmp_path)
    return tmp_path


def change_config(folder, drop=(), **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if key not in drop}), encoding="utf-8")


def rewrite(folder, change):
    """Put `change(tensors)` in place of the tensors of the file."""
    tensors = {name: tensor.clone().contiguous() for name, tensor in change(load_file(folder / SINGLE)).items()}
    (folder / SINGLE).unlink()
    save_file(tensors, folder / SINGLE, {"format": "pt"})


@pytest.mark.parametrize("most", [WHOLE, SHARDS])
@pytest.mark.parametrize("changes", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["llama", "mistral"])
def test_logits_and_greedy_text_are_those_of_transformers(tmp_path, kind, changes, most):
    twin = oracle(kind, **changes)
    twin.save_pretrained(tmp_path, max_shard_size=most)
    assert (tmp_path / SINGLE).exists() == (most == WHOLE)
    model = load_llama(tmp_path)
    assert type(model) is Llama
    assert not model.training
    assert (model.lm_head.weight is model.wte.weight) == twin.config.tie_word_embeddings
    assert all(parameter.requires_grad for parameter in model.parameters())
    compare(model, twin)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_whatever_floats_are_stored_the_model_is_float32(tmp_path, dtype):
    oracle(num_hidden_layers=1).to(dtype).save_pretrained(tmp_path)
    twin = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager")
    model = load_llama(str(tmp_path))
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    compare(model, twin)


def test_the_random_numbers_are_left_alone(folder):
    torch.manual_seed(0)
    wanted = torch.rand(2)
    torch.manual_seed(0)
    load_llama(folder)
    assert torch.equal(torch.rand(2), wanted)


# how older files say it, and what transformers' own defaults are


def test_an_older_card(folder):
    twin = oracle(rope_parameters={"rope_type": "default", "rope_theta": 700.0})
    twin.save_pretrained(folder)
    change_config(folder, drop=["rope_parameters"], rope_theta=700.0, rope_scaling=None)
    compare(load_llama(folder), twin)
    change_config(folder, rope_scaling={"type": "default"})
    compare(load_llama(folder), twin)


def test_what_a_card_does_not_say_is_as_in_transformers(tmp_path):
    twin = oracle(num_key_value_heads=4, tie_word_embeddings=False)
    twin.save_pretrained(tmp_path)
    absent = ["rope_parameters", "rms_norm_eps", "hidden_act", "tie_word_embeddings", "num_key_value_heads", "head_dim"]
    change_config(tmp_path, drop=[*absent, "attention_bias", "mlp_bias"])
    assert LlamaForCausalLM.from_pretrained(tmp_path).config.rms_norm_eps == load_llama(tmp_path).config.rms_norm_eps
    compare(load_llama(tmp_path), twin)


def test_stored_frequencies_are_passed_over(folder, capsys):
    speeds = {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4) for i in range(3)}
    rewrite(folder, lambda tensors: tensors | speeds)
    compare(load_llama(folder), oracle())
    assert "Ignored 3 stored frequencies (h.*.rotary_emb.inv_freq)" in capsys.readouterr().out


@pytest.mark.parametrize("tied", [True, False])
def test_names_without_or_with_more_in_front(tmp_path, tied):
    twin = oracle(tie_word_embeddings=tied)
    twin.save_pretrained(tmp_path)
    names = {name: name.removeprefix("model.") for name in load_file(tmp_path / SINGLE)}
    rewrite(tmp_path, lambda tensors: {names[name]: tensor for name, tensor in tensors.items()})
    compare(load_llama(tmp_path), twin)
    rewrite(tmp_path, lambda tensors: {f"module.{name}": tensor for name, tensor in tensors.items()})
    compare(load_llama(tmp_path), twin)


def test_a_shorter_context(folder):
    assert load_llama(folder, n_ctx=5).config.n_ctx == 5


def test_a_window_that_changes_nothing(tmp_path):
    twin = oracle("mistral", sliding_window=24)
    twin.save_pretrained(tmp_path)
    compare(load_llama(tmp_path), twin)
    change_config(tmp_path, sliding_window=8)
    assert load_llama(tmp_path, n_ctx=8).config.n_ctx == 8


# what is refused

SCALED = {"rope_type": "linear", "factor": 2.0, "rope_theta": 10_000.0}
CARDS = [
    ({"model_type": "qwen2"}, "model_type='qwen2' | 'llama' and 'mistral'"),
    ({"model_type": "gpt2"}, "model_type='gpt2' | load_gpt2 'gpt2'"),
    ({"model_type": "gemma"}, "'gemma'"),
    ({"architectures": ["LlamaForSequenceClassification"]}, "LlamaForSequenceClassification | score for every token"),
    ({"architectures": ["LlamaModel"]}, "LlamaModel | score for every token"),
    ({"rope_parameters": SCALED}, "rope_type='linear' | 'default'"),
    ({"rope_scaling": {"type": "dynamic", "factor": 2.0}, "drop": ["rope_parameters"]}, "rope_type='dynamic'"),
    ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor=0.5"),
    ({"partial_rotary_factor": 0.5}, "partial_rotary_factor=0.5"),
    ({"attention_bias": True}, "attention_bias=True | biases"),
    ({"mlp_bias": True}, "mlp_bias=True | biases"),
    ({"hidden_act": "gelu"}, "hidden_act='gelu' | 'silu'"),
    ({"head_dim": 16}, "head_dim=16 | 64 numbers | hidden_size=32"),
    ({"num_attention_heads": 3, "num_key_value_heads": 3, "head_dim": None}, "hidden_size=32 | num_attention_heads=3"),
    ({"num_key_value_heads": 3}, "num_key_value_heads=3"),
    ({"drop": ["max_position_embeddings"]}, "max_position_embeddings is missing"),
    ({"model_type": "mistral", "sliding_window": 8}, "sliding_window=8 | context of 24 | n_ctx=8 or less"),
    ({"model_type": "mistral", "max_position_embeddings": 9000, "architectures": []}, "sliding_window=4096 | of 9000"),
    ({"hidden_size": 1_000_000, "head_dim": None}, "GB"),
    ({"rms_norm_eps": 0.0}, "rms_norm_eps=0.0"),
]


@pytest.mark.parametrize(("changes", "words"), CARDS, ids=str)
def test_a_model_that_is_no_llama_is_told_by_what_is_different(folder, refused, changes, words):
    change_config(folder, **changes)
    with refused(ValueError, *words.split(" | ")):
        load_llama(folder)


SAYS, HAVE = "does not hold the Llama that its config.json describes: config.json says", "the weights have"
SIZES = [
    ({"vocab_size": 32_000}, f"{SAYS} a vocabulary of 32,000, {HAVE} 61."),
    ({"hidden_size": 64, "head_dim": None}, f"{SAYS} a width of 64, {HAVE} 32."),
    ({"intermediate_size": 64}, f"{SAYS} an MLP width of 64, {HAVE} 48."),
    ({"num_hidden_layers": 2}, f"{SAYS} 2 layers, {HAVE} 3."),
    ({"num_key_value_heads": 4}, "misshapen: h.0.attn.k_proj.weight is stored as (16, 32), wanted (32, 32)"),
]


@pytest.mark.parametrize(("changes", "words"), SIZES, ids=str)
def test_a_card_of_other_sizes(folder, refused, changes, words):
    change_config(folder, **changes)
    with refused(ValueError, str(folder), words):
        load_llama(folder)


def test_where_other_sizes_leave_nothing_to_compare_the_sizes_are_all_that_is_said(folder, refused):
    change_config(folder, hidden_size=90, num_attention_heads=5, num_key_value_heads=1, head_dim=18)  # 32 / 5
    with refused(ValueError, f"{SAYS} a width of 90, {HAVE} 32."):
        load_llama(folder)


WRONG = [
    (lambda t: {name: tensor for name, tensor in t.items() if name != K_PROJ}, "missing: h.1.attn.k_proj.weight"),
    (lambda t: t | {"score.weight": torch.ones(2, 16)}, "unexpected: score.weight"),
    (lambda t: t | {K_PROJ: t[K_PROJ].T}, "h.1.attn.k_proj.weight is stored as (32, 16), wanted (16, 32)"),
    (lambda t: t | {K_PROJ: t[K_PROJ].to(torch.int8)}, f"{K_PROJ} as I8"),
    (lambda t: {name: tensor for name, tensor in t.items() if name != HEAD}, "tie_word_embeddings=False asks"),
    (lambda t: t | {"embed_tokens.weight": t[TABLE]}, f"embed_tokens.weight and {TABLE}, one tensor twice"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=range(len(WRONG)))
def test_what_does_not_match_is_listed(folder, refused, change, words):
    rewrite(folder, change)
    with refused(ValueError, str(folder), words):
        load_llama(folder)


def test_a_head_that_differs_from_a_tied_table(folder, refused):
    change_config(folder, tie_word_embeddings=True)
    with refused(ValueError, TABLE, HEAD, "differ"):
        load_llama(folder)


def test_folders_that_are_none(tmp_path, refused):
    with refused(FileNotFoundError, "There is no folder", "absent"):
        load_llama(tmp_path / "absent")
    with refused(TypeError, "folder is a int"):
        load_llama(3)
    with refused(FileNotFoundError, "config.json"):
        load_llama(tmp_path)
    (tmp_path / "file").touch()
    with refused(ValueError, "file is a file"):
        load_llama(tmp_path / "file")
    GPT2LMHeadModel(GPT2Config(vocab_size=61, n_positions=24, n_embd=16, n_layer=1, n_head=2)).save_pretrained(tmp_path)
    with refused(ValueError, "model_type='gpt2'"):
        load_llama(tmp_path)
    oracle().save_pretrained(tmp_path)
    (tmp_path / SINGLE).write_bytes((tmp_path / SINGLE).read_bytes()[:-1])
    with refused(ValueError, "cut short"):
        load_llama(tmp_path)


@pytest.mark.parametrize(("n_ctx", "kind"), [(0, ValueError), (25, ValueError), (2.5, TypeError)])
def test_wrong_context(folder, refused, n_ctx, kind):
    with refused(kind, f"n_ctx={n_ctx}", "24"):
        load_llama(folder, n_ctx)


def test_wrong_types_of_settings(folder, refused):
    for setting in ({"rope_parameters": 3}, {"attention_bias": "no"}, {"rms_norm_eps": "small"}):
        oracle().save_pretrained(folder)
        change_config(folder, **setting)
        with refused(TypeError, next(iter(setting))):
            load_llama(folder)


def test_a_model_without_numbers_is_made_without_torchs_compiler():
    code = (
        "import sys; from utils.llama import LlamaConfig; from utils.model import GPTConfig\n"
        "from utils.counting import meta_model\n"
        "for config in (LlamaConfig(61, 24, 32, 3, 4, 2, 48), GPTConfig(61, 24, 32, 3, 4)):\n"
        "    model = meta_model(config)\n"
        "    assert all(parameter.is_meta for parameter in model.parameters())\n"
        "    assert model.lm_head.weight is model.wte.weight\n"
        "assert 'torch._dynamo' not in sys.modules, 'its import takes longer than SmolLM2 takes to load'\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
