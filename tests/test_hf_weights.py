"""GPT-2's weights against transformers: the same logits and tokens, every naming, every tie, every kind of damage."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file, save_model
from transformers import GPT2Config, GPT2LMHeadModel

from utils.model import GPT, GPTConfig
from utils.pretrained import TRANSPOSED, load_gpt2, save_gpt2, stored_shapes, to_course_name
from utils.sampling import generate

TINY = {"vocab_size": 61, "n_positions": 24, "n_embd": 16, "n_layer": 3, "n_head": 4}
SHAPES = [
    {},
    {"n_inner": 16},  # with this every matrix but c_attn is square
    {"n_inner": 40, "activation_function": "relu", "tie_word_embeddings": False},
    {"activation_function": "gelu", "layer_norm_epsilon": 1e-3},
    {"n_embd": 48, "n_head": 3, "n_layer": 1, "n_positions": 7, "vocab_size": 11},
    {"n_embd": 24, "n_head": 24, "vocab_size": 24, "n_positions": 24, "tie_word_embeddings": False},
]
WHOLE, SHARDS = "5GB", "9KB"  # a file at most
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
TABLE, HEAD, C_ATTN = "transformer.wte.weight", "lm_head.weight", "transformer.h.1.attn.c_attn.weight"


@torch.no_grad()
def oracle(seed=0, **changes):
    """transformers' GPT-2 with weights so large that a wrong activation, epsilon or transpose shows."""
    torch.manual_seed(seed)
    ends = {"bos_token_id": None, "eos_token_id": None}
    twin = GPT2LMHeadModel(GPT2Config(**TINY | ends | changes, attn_implementation="eager")).eval()
    for name, parameter in twin.named_parameters():
        # small tables keep the first layer norm's variance so small that epsilon counts
        parameter.normal_(std=0.05 if "wte" in name or "wpe" in name else 0.3)
        if "ln_" in name and name.endswith("weight"):
            parameter.add_(1)
    return twin


def random_ids(config, batch=3, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(config.vocab_size, (batch, config.n_positions), generator=generator)


@torch.no_grad()
def distance(model, twin):
    """The largest difference of logits, as a share of the largest logit."""
    ids = random_ids(twin.config)
    wanted = twin(ids).logits
    return ((model(ids) - wanted).abs().max() / wanted.abs().max()).item()


@pytest.fixture
def folder(tmp_path):
    """What transformers itself writes for TINY."""
    oracle().save_pretrained(tmp_path)
    return tmp_path


def change_config(folder, drop=None, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if key != drop}), encoding="utf-8")


def rewrite(folder, change, file=SINGLE):
    """Put `change(tensors)` in place of the tensors of a file."""
    path = folder / file
    tensors = {name: tensor.clone().contiguous() for name, tensor in change(load_file(path)).items()}
    path.unlink()
    save_file(tensors, path, {"format": "pt"})


def same(one, other):
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("most", [WHOLE, SHARDS])
@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_logits_and_greedy_tokens_are_those_of_transformers(tmp_path, changes, most):
    twin = oracle(**changes)
    twin.save_pretrained(tmp_path, max_shard_size=most)
    assert (len(list(tmp_path.glob("*.safetensors"))) == 1) == (most == WHOLE)
    state = torch.get_rng_state()
    model = load_gpt2(tmp_path)
    assert torch.equal(state, torch.get_rng_state())
    assert distance(model, twin) <= 1e-5
    ids = wanted = random_ids(twin.config, batch=4)[:, :2]
    while wanted.shape[1] < twin.config.n_positions:
        wanted = torch.cat([wanted, twin(wanted).logits[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(generate(model, ids, wanted.shape[1] - 2, temperature=0), wanted)
    assert not model.training
    assert (model.lm_head.weight is model.wte.weight) == twin.config.tie_word_embeddings


@torch.no_grad()
def test_that_comparison_notices_a_small_fault(tmp_path):
    twin = oracle(n_inner=16)  # a square matrix fits either way, so that only the logits can tell
    twin.save_pretrained(tmp_path)
    for part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
        model = load_gpt2(tmp_path)
        for block in model.h:
            square = block.get_submodule(part).weight[:16]  # of the three squares in c_attn the queries' is enough
            square.copy_(square.T.clone())
        assert distance(model, twin) > 1e-2
    for changes in ({"activation_function": "gelu"}, {"layer_norm_epsilon": 1e-6}, {"n_head": 2}):
        twin.config.save_pretrained(tmp_path)
        change_config(tmp_path, **changes)
        assert distance(load_gpt2(tmp_path), twin) > 1e-4


def test_the_stored_matrices_are_in_by_out(folder):
    wanted = {"attn.c_attn": (16, 48), "attn.c_proj": (16, 16), "mlp.c_fc": (16, 64), "mlp.c_proj": (64, 16)}
    found = {name: shape for name, shape in stored_shapes(folder).items() if name.endswith(TRANSPOSED)}
    assert found == {f"transformer.h.{i}.{part}.weight": shape for i in range(3) for part, shape in wanted.items()}


def test_the_names_of_transformers_become_those_of_the_course():
    names = [to_course_name(name) for name in oracle(tie_word_embeddings=False).state_dict()]
    assert names == list(GPT(GPTConfig(61, 24, 16, 3, 4, tied=False)).state_dict())
    assert to_course_name("module.transformer.h.0.attn.masked_bias") is None


NAMING = {
    "without": lambda name: name.removeprefix("transformer."),
    "compiled": lambda name: f"_orig_mod.{name}",
    "parallel": lambda name: f"module.{name}",
    "compiled and parallel": lambda name: f"module._orig_mod.{name.removeprefix('transformer.')}",
    "compiled block by block": lambda name: name.replace(".h.0.", ".h.0._orig_mod."),
}


@pytest.mark.parametrize("naming", NAMING.values(), ids=NAMING)
def test_every_naming_gives_the_same_model(folder, naming):
    wanted, names = load_gpt2(folder), stored_shapes(folder).keys()
    rewrite(folder, lambda tensors: {naming(name): tensor for name, tensor in tensors.items()})
    assert stored_shapes(folder).keys() != names
    assert same(load_gpt2(folder), wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool], ids=str)
@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_masks_are_ignored_and_told(folder, capsys, prefix, dtype):
    wanted = load_gpt2(folder)
    assert capsys.readouterr().out == ""
    masks = {f"{prefix}h.{layer}.attn.bias": torch.ones(1, 1, 24, 24).tril().to(dtype) for layer in range(3)}
    masks |= {f"{prefix}h.{layer}.attn.masked_bias": torch.tensor(-1e4) for layer in range(2)}
    rewrite(folder, lambda tensors: masks | {f"{prefix}{to_course_name(name)}": t for name, t in tensors.items()})
    assert same(load_gpt2(folder), wanted)
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert all(word in told for word in ("5 stored masks", ".attn.bias", ".attn.masked_bias"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("head", ["missing", "equal", "different"])
@pytest.mark.parametrize("flag", ["absent", True, False])
def test_every_flag_with_every_head_has_its_outcome(folder, refused, flag, head, dtype):
    change_config(folder, **{"drop": "tie_word_embeddings"} if flag == "absent" else {"tie_word_embeddings": flag})
    table = load_file(folder / SINGLE)[TABLE].to(dtype)
    last = table + (head == "different")
    rewrite(folder, lambda tensors: tensors | {TABLE: table} | ({} if head == "missing" else {HEAD: last}))
    if flag and head == "different":
        with refused(ValueError, str(folder), "wte.weight", "lm_head.weight", "differ", "tie_word_embeddings"):
            load_gpt2(folder)
    elif not flag and head == "missing":
        with refused(ValueError, str(folder), "missing: lm_head.weight", "tie_word_embeddings=False"):
            load_gpt2(folder)
    else:
        model = load_gpt2(folder)
        assert (model.lm_head.weight is model.wte.weight) == model.config.tied == bool(flag)
        assert torch.equal(model.wte.weight, table.float())
        assert torch.equal(model.lm_head.weight, last.float())


def test_a_tied_table_under_the_heads_name_alone_is_taken(tmp_path):
    """What safetensors' own save_model leaves of a tie."""
    twin = oracle()
    twin.save_pretrained(tmp_path)
    save_model(twin, tmp_path / SINGLE)
    assert (HEAD in stored_shapes(tmp_path)) != (TABLE in stored_shapes(tmp_path))
    assert distance(load_gpt2(tmp_path), twin) <= 1e-5
    rewrite(tmp_path, lambda t: {name.replace("transformer.wte", "lm_head"): tensor for name, tensor in t.items()})
    assert TABLE not in stored_shapes(tmp_path)
    assert distance(load_gpt2(tmp_path), twin) <= 1e-5


@pytest.mark.parametrize("default", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_whatever_floats_are_stored_or_usual_the_model_is_float32(folder, request, dtype, default):
    rewrite(folder, lambda tensors: {name: tensor.to(dtype) for name, tensor in tensors.items()})
    change_config(folder, dtype=str(dtype).removeprefix("torch."))
    twin = oracle().to(dtype).float()
    request.addfinalizer(lambda: torch.set_default_dtype(torch.float32))
    torch.set_default_dtype(default)
    model = load_gpt2(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.lm_head.weight is model.wte.weight
    assert distance(model, twin) <= 1e-5


def test_half_precision_is_kept_in_the_file(folder):
    model = load_gpt2(folder).to(torch.bfloat16)
    save_gpt2(model, folder / "half")
    with safe_open(folder / "half" / SINGLE, "pt") as file:
        assert {file.get_slice(name).get_dtype() for name in file.keys()} == {"BF16"}  # noqa: SIM118
    assert same(load_gpt2(folder / "half"), model.float())
    assert GPT2LMHeadModel.from_pretrained(folder / "half").dtype == torch.bfloat16


def without(*parts):
    return lambda tensors: {name: t for name, t in tensors.items() if not any(part in name for part in parts)}


def renamed(change):
    return lambda tensors: {change(name, place): tensor for place, (name, tensor) in enumerate(tensors.items())}


BIAS, SCORE = "h.1.mlp.c_fc.bias", {"score.weight": torch.ones(2, 16)}
PAIRS = [("weight", "gamma"), ("gamma", "weight")]
CLOSEST = " | ".join(f"h.{i}.ln_1.{one} (closest: h.{i}.ln_1.{other})" for i in range(3) for one, other in PAIRS)
SHORT = {TABLE: torch.ones(60, 16), "transformer.h.0.x": torch.ones(1)}
SHORT_SAID = "says a vocabulary of 61, the weights have 60 | missing: wpe.weight | unexpected: h.0.x"
FEWER = f"describes: config.json says 3 layers, the weights have 2; missing: {BIAS}; unexpected: score.weight."
WRONG = [
    (without(BIAS), f"missing: {BIAS}"),
    (without("h.2.attn.c_attn.bias"), "missing: h.2.attn.c_attn.bias"),  # named nearly as a mask
    (without("h.1."), "describes: missing: h.1.ln_1.weight, "),  # a gap between the layers is no size
    (without(""), "missing: wte.weight"),
    (lambda t: t | SCORE, "unexpected: score.weight"),
    (lambda t: t | {"ln_f.bias": torch.zeros(16)}, "transformer.ln_f.bias |  ln_f.bias"),
    (lambda t: t | {C_ATTN: t[C_ATTN].to(torch.int8)}, f"{SINGLE} | {C_ATTN} | I8 | F16"),
    (lambda t: t | {C_ATTN: t[C_ATTN].T}, "misshapen: h.1.attn.c_attn.weight | as (48, 16) | wanted (16, 48)"),
    (lambda t: t | {HEAD: torch.zeros(60, 16)}, "differ"),
    (lambda t: t | {HEAD: torch.zeros(62, 16)}, "differ"),
    (lambda t: without("wpe")(t) | SHORT, SHORT_SAID),
    (lambda t: without("h.2.", BIAS)(t) | SCORE, FEWER),
    (renamed(lambda name, _: name.replace("ln_1.weight", "ln_1.gamma")), CLOSEST),
    (renamed(lambda _, i: f"layers.{i}.q"), "missing: wte.weight | and 32 more | unexpected: layers.0.q"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=range(len(WRONG)))
def test_what_does_not_match_is_listed(folder, refused, change, words):
    rewrite(folder, change)
    with refused(ValueError, str(folder), *words.split(" | ")):
        load_gpt2(folder)


SAYS, HAVE = "describes: config.json says", "the weights have"
CARDS = [
    ({"n_layer": 1}, f"{SAYS} 1 layer, {HAVE} 3."),
    ({"n_layer": 5}, f"{SAYS} 5 layers, {HAVE} 3."),
    ({"vocab_size": 50_257}, f"{SAYS} a vocabulary of 50,257, {HAVE} 61."),
    ({"n_embd": 20}, f"{SAYS} a width of 20, {HAVE} 16."),
    ({"n_embd": 20, "n_inner": 64}, f"{SAYS} a width of 20, {HAVE} 16."),
    ({"n_positions": 1024}, f"{SAYS} a context of 1,024, {HAVE} 24."),
    ({"n_inner": 63}, f"{SAYS} an MLP width of 63, {HAVE} 64."),
    ({"n_layer": 2, "n_inner": 9}, f"{SAYS} 2 layers, {HAVE} 3, and config.json says an MLP width of 9, {HAVE} 64."),
    ({"activation_function": "quick_gelu"}, "activation_function='quick_gelu'"),
    ({"n_inner": 0}, "n_inner=0"),
    ({"model_type": "llama"}, "'llama' | 'gpt2'"),
    ({"n_head": 3}, "n_head=3"),
    ({"n_embd": 1_000_000}, "GB"),
    ({"drop": "tie_word_embeddings", "part": {"tie_word_embeddings": False}}, "tie_word_embeddings | 'part'"),
]


@pytest.mark.parametrize(("changes", "words"), CARDS, ids=str)
@pytest.mark.parametrize("tied", [True, False])
def test_a_card_of_other_sizes_or_of_no_model_is_told_by_what_is_wrong_alone(tmp_path, refused, changes, words, tied):
    oracle(tie_word_embeddings=tied).save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with refused(ValueError, *words.split(" | ")):
        load_gpt2(tmp_path)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 7\n"
POINTER = "is a Git LFS pointer, which only stands for the file; run `git lfs pull` in its folder."
# what stands in a file's place, and the words beside its path
DAMAGED = [
    *((name, LFS, POINTER) for name in (SINGLE, INDEX, "config.json")),
    *(
        (name, b"<!DOCTYPE html>\n<html>", "is a web page | download the file itself")
        for name in (SINGLE, "config.json")
    ),
    *((name, b"\n<html lang=en>", "is a web page | download the file itself") for name in (SINGLE, "config.json")),
    *((SINGLE, content, "no safetensors file") for content in (b"", b"PK\x03\x04")),
    *(
        (INDEX, text, "damaged")
        for text in (b"", b"{", b"[]", b"{}", b'{"weight_map": 3}', b'{"weight_map": {"a": 3}}')
    ),
    (INDEX, b'{"weight_map": {"wte.weight": "../model.safetensors"}}', "../model.safetensors | not in its folder"),
]


@pytest.mark.parametrize(("name", "content", "words"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_told_with_its_path(folder, refused, name, content, words):
    if name == INDEX:
        (folder / SINGLE).rename(folder.parent / SINGLE)  # where the last one looks for it
    (folder / name).write_bytes(content)
    with refused(ValueError, f"{folder / name} ", *words.split(" | ")):
        load_gpt2(folder)


@pytest.mark.parametrize("most", [WHOLE, "16KB"])
def test_a_truncated_file_is_told_with_its_path(tmp_path, refused, most):
    oracle().save_pretrained(tmp_path, max_shard_size=most)
    path = max(tmp_path.glob("*.safetensors"), key=lambda path: path.stat().st_size)
    whole = path.read_bytes()
    for cut in (1, 100, 10_000):
        path.write_bytes(whole[:-cut])
        with refused(ValueError, str(path), "cut short"):
            load_gpt2(tmp_path)


def test_a_missing_file_is_told_and_a_pickle_is_not_opened(tmp_path, refused):
    oracle().save_pretrained(tmp_path, max_shard_size=SHARDS)
    first, second, *_ = sorted(tmp_path.glob("*.safetensors"))
    name = next(iter(load_file(second)))
    rewrite(tmp_path, lambda tensors: tensors | {name: torch.zeros(2)}, first.name)
    with refused(ValueError, name, "another file"):
        load_gpt2(tmp_path)
    torch.save({}, tmp_path / "pytorch_model.bin")
    for file, words in ((first.name, ""), (INDEX, f"{SINGLE} | pytorch_model.bin is a pickle"), ("config.json", "")):
        (tmp_path / file).unlink()
        with refused(FileNotFoundError, str(tmp_path), file, *words.split(" | ")):
            load_gpt2(tmp_path)


@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_what_is_saved_comes_back_and_transformers_loads_it(tmp_path, changes):
    theirs, ours = tmp_path / "theirs", tmp_path / "new" / "ours"
    twin = oracle(**changes)
    twin.save_pretrained(theirs)
    model = load_gpt2(theirs).train()
    save_gpt2(model, str(ours))
    assert model.training
    again = load_gpt2(ours)
    assert again.config == model.config
    assert same(again, model)
    found, report = GPT2LMHeadModel.from_pretrained(ours, output_loading_info=True)
    assert not any(report.values()), report
    assert distance(model.eval(), found.eval()) <= 1e-5
    assert same(found, twin)
    assert stored_shapes(ours) == stored_shapes(theirs)


def test_the_saved_configuration_says_everything(tmp_path):
    config = GPTConfig(30, 9, 8, 1, 2, tied=False, n_inner=5, activation="relu", layer_norm_epsilon=1e-3)
    save_gpt2(GPT(config), tmp_path)
    wanted = {"n_positions": 9, "n_inner": 5, "activation_function": "relu", "layer_norm_epsilon": 1e-3}
    wanted |= {"tie_word_embeddings": False, "resid_pdrop": 0, "bos_token_id": None, "eos_token_id": None}
    theirs = GPT2Config.from_pretrained(tmp_path)
    assert {name: getattr(theirs, name) for name in wanted} == wanted
    save_gpt2(GPT(GPTConfig(50_257, 2, 2, 1, 1)), tmp_path)
    assert GPT2Config.from_pretrained(tmp_path).eos_token_id == 50_256
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", SINGLE]


def test_a_model_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    oracle().save_pretrained(tmp_path, max_shard_size=SHARDS)
    model = GPT(load_gpt2(tmp_path).config)
    save_gpt2(model, tmp_path)
    assert same(load_gpt2(tmp_path), model), "it counts beside the old shards"

    def half(weights, path, notes):
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("utils.pretrained.hf_weights.save_file", half)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space"):
        save_gpt2(GPT(model.config), tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert same(load_gpt2(tmp_path), model)


def test_what_cannot_be_saved_is_refused(tmp_path, refused):
    with refused(TypeError, "model=", "GPT"):
        save_gpt2(oracle(), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with refused(ValueError, "file"):
        save_gpt2(GPT(GPTConfig(5, 4, 4, 1, 1)), tmp_path / "file")
