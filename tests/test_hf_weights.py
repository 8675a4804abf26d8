"""GPT-2's weights against transformers: the same logits and tokens, every naming, every tie, every kind of damage."""

import json
import re

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


def change_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def rewrite(folder, change):
    """Put `change(tensors)` in place of the tensors of model.safetensors."""
    path = folder / "model.safetensors"
    tensors = {name: tensor.clone().contiguous() for name, tensor in change(load_file(path)).items()}
    path.unlink()
    save_file(tensors, path, {"format": "pt"})


def same(one, other):
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# ---- the same numbers as transformers


@pytest.mark.parametrize("shards", [1, 2], ids=["one file", "shards"])
@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_logits_and_greedy_tokens_are_those_of_transformers(tmp_path, changes, shards):
    twin = oracle(**changes)
    twin.save_pretrained(tmp_path, max_shard_size="5GB" if shards == 1 else "9KB")
    files = list(tmp_path.glob("*.safetensors"))
    assert len(files) == 1 if shards == 1 else len(files) > 1
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
    assert {p.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("part", ["attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"])
@torch.no_grad()
def test_that_comparison_notices_a_forgotten_transpose(tmp_path, part):
    """A square matrix fits either way, so that only the logits can tell."""
    twin = oracle(n_inner=16)
    twin.save_pretrained(tmp_path)
    model = load_gpt2(tmp_path)
    for block in model.h:
        weight = block.get_submodule(part).weight
        square = weight[:16]  # c_attn holds three squares, of which the queries' is enough
        square.copy_(square.T.clone())
    assert distance(model, twin) > 1e-2


@pytest.mark.parametrize("changes", [{"activation_function": "gelu"}, {"layer_norm_epsilon": 1e-6}, {"n_head": 2}])
def test_that_comparison_notices_a_small_change(folder, changes):
    change_config(folder, **changes)
    assert distance(load_gpt2(folder), oracle()) > 1e-4


@pytest.mark.parametrize("suffix", TRANSPOSED)
def test_the_stored_matrices_are_in_by_out(folder, suffix):
    shapes = {"c_attn": (16, 48), "c_fc": (16, 64), "mlp.c_proj": (64, 16), "attn.c_proj": (16, 16)}
    wanted = next(shape for part, shape in shapes.items() if part in suffix)
    assert [shape for name, shape in stored_shapes(folder).items() if name.endswith(suffix)] == [wanted] * 3


# ---- names


@pytest.mark.parametrize(
    ("hf", "ours"),
    [
        ("transformer.wte.weight", "wte.weight"),
        ("h.11.attn.c_attn.bias", "h.11.attn.c_attn.bias"),
        ("module.transformer.h.0.mlp.c_proj.weight", "h.0.mlp.c_proj.weight"),
        ("_orig_mod.transformer.ln_f.bias", "ln_f.bias"),
        ("module._orig_mod.lm_head.weight", "lm_head.weight"),
        ("transformer.h.3._orig_mod.ln_1.weight", "h.3.ln_1.weight"),
        ("transformer.h.0.attn.bias", None),
        ("h.0.attn.masked_bias", None),
        ("score.weight", "score.weight"),
    ],
)
def test_names_map_one_to_one(hf, ours):
    assert to_course_name(hf) == ours


def test_the_names_of_transformers_become_those_of_the_course():
    names = [to_course_name(name) for name in oracle(tie_word_embeddings=False).state_dict()]
    assert names == list(GPT(GPTConfig(61, 24, 16, 3, 4, tied=False)).state_dict())


NAMING = {
    "without": lambda name: name.removeprefix("transformer."),
    "compiled": lambda name: f"_orig_mod.{name}",
    "parallel": lambda name: f"module.{name}",
    "compiled and parallel": lambda name: f"module._orig_mod.{name.removeprefix('transformer.')}",
    "compiled block by block": lambda name: name.replace(".h.0.", ".h.0._orig_mod."),
}


@pytest.mark.parametrize("naming", NAMING)
def test_every_naming_gives_the_same_model(folder, naming):
    wanted, names = load_gpt2(folder), stored_shapes(folder).keys()
    rewrite(folder, lambda tensors: {NAMING[naming](name): tensor for name, tensor in tensors.items()})
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


def test_one_tensor_under_two_names_is_refused(folder, refused):
    rewrite(folder, lambda tensors: tensors | {"ln_f.bias": torch.zeros(16)})
    with refused(ValueError, str(folder), "transformer.ln_f.bias", " ln_f.bias"):
        load_gpt2(folder)


def test_one_tensor_in_two_files_is_refused(tmp_path, refused):
    oracle().save_pretrained(tmp_path, max_shard_size="9KB")
    files = sorted(tmp_path.glob("*.safetensors"))
    tensors = load_file(files[0])
    name = next(iter(load_file(files[1])))
    files[0].unlink()
    save_file(tensors | {name: torch.zeros(2)}, files[0])
    with refused(ValueError, name, "another file"):
        load_gpt2(tmp_path)


# ---- the head


OUTCOME = {
    ("absent", "missing"): "tied", ("absent", "equal"): "tied", ("absent", "different"): "refused: differ",
    (True, "missing"): "tied", (True, "equal"): "tied", (True, "different"): "refused: differ",
    (False, "missing"): "refused: missing", (False, "equal"): "equal", (False, "different"): "different",
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(("flag", "head"), list(OUTCOME))
def test_every_flag_with_every_head_has_its_outcome(folder, refused, flag, head, dtype):
    path = folder / "config.json"
    config = {
        key: value
        for key, value in json.loads(path.read_text(encoding="utf-8")).items()
        if key != "tie_word_embeddings"
    }
    path.write_text(json.dumps(config | ({} if flag == "absent" else {"tie_word_embeddings": flag})), encoding="utf-8")
    table = load_file(folder / "model.safetensors")["transformer.wte.weight"].to(dtype)
    stored = {"missing": {}, "equal": {"lm_head.weight": table}, "different": {"lm_head.weight": table + 1}}[head]
    rewrite(folder, lambda tensors: tensors | {"transformer.wte.weight": table} | stored)
    outcome = OUTCOME[flag, head]
    if outcome == "refused: differ":
        with refused(ValueError, str(folder), "wte.weight", "lm_head.weight", "differ", "tie_word_embeddings"):
            load_gpt2(folder)
    elif outcome == "refused: missing":
        with refused(ValueError, str(folder), "missing: lm_head.weight", "tie_word_embeddings=False"):
            load_gpt2(folder)
    else:
        model = load_gpt2(folder)
        assert (model.lm_head.weight is model.wte.weight) == model.config.tied == (outcome == "tied")
        assert torch.equal(model.wte.weight, table.float())
        assert torch.equal(model.lm_head.weight, (table + (outcome == "different")).float())


@pytest.mark.parametrize("rows", [60, 62])
def test_a_tied_head_of_another_shape_is_refused(folder, refused, rows):
    rewrite(folder, lambda tensors: tensors | {"lm_head.weight": torch.zeros(rows, 16)})
    with refused(ValueError, "differ"):
        load_gpt2(folder)


def test_a_tied_table_under_the_heads_name_alone_is_taken(tmp_path):
    """What safetensors' own save_model leaves of a tie."""
    twin = oracle()
    twin.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    save_model(twin, tmp_path / "model.safetensors")
    assert ("lm_head.weight" in stored_shapes(tmp_path)) != ("transformer.wte.weight" in stored_shapes(tmp_path))
    assert distance(load_gpt2(tmp_path), twin) <= 1e-5
    rewrite(tmp_path, lambda t: {name.replace("transformer.wte", "lm_head"): tensor for name, tensor in t.items()})
    assert "transformer.wte.weight" not in stored_shapes(tmp_path)
    assert distance(load_gpt2(tmp_path), twin) <= 1e-5


def test_a_flag_on_the_wrong_level_stops_the_load(folder, refused):
    path = folder / "config.json"
    config = {
        key: value
        for key, value in json.loads(path.read_text(encoding="utf-8")).items()
        if key != "tie_word_embeddings"
    }
    path.write_text(json.dumps(config | {"text_config": {"tie_word_embeddings": False}}), encoding="utf-8")
    with refused(ValueError, "tie_word_embeddings", "text_config"):
        load_gpt2(folder)


# ---- precision


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_whatever_floats_are_stored_the_model_is_float32(folder, dtype):
    rewrite(folder, lambda tensors: {name: tensor.to(dtype) for name, tensor in tensors.items()})
    change_config(folder, dtype=str(dtype).removeprefix("torch."))
    model, twin = load_gpt2(folder), oracle().to(dtype).float()
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert distance(model, twin) <= 1e-5


def test_the_default_precision_does_not_matter(folder):
    wanted = load_gpt2(folder)
    torch.set_default_dtype(torch.float64)
    try:
        model = load_gpt2(folder)
    finally:
        torch.set_default_dtype(torch.float32)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.lm_head.weight is model.wte.weight
    assert same(model, wanted)


def test_numbers_that_are_no_floats_are_refused(folder, refused):
    name = "transformer.h.0.attn.c_attn.weight"
    rewrite(folder, lambda tensors: tensors | {name: tensors[name].to(torch.int8)})
    with refused(ValueError, "model.safetensors", name, "I8", "F16"):
        load_gpt2(folder)


# ---- what does not match


def without(tensors, *parts):
    return {name: tensor for name, tensor in tensors.items() if not any(part in name for part in parts)}


def old_names(tensors):
    return {name.replace("ln_1.weight", "ln_1.gamma"): tensor for name, tensor in tensors.items()}


C_ATTN = "transformer.h.1.attn.c_attn.weight"
WRONG = {
    "missing": (lambda t: without(t, "h.2.mlp.c_fc.bias"), ["missing: h.2.mlp.c_fc.bias"]),
    "missing mask's namesake": (lambda t: without(t, "h.2.attn.c_attn.bias"), ["missing: h.2.attn.c_attn.bias"]),
    "unexpected": (lambda t: t | {"score.weight": torch.ones(2, 16)}, ["unexpected: score.weight"]),
    "misspelt": (
        old_names,
        [f"h.{i}.ln_1.weight (closest: h.{i}.ln_1.gamma)" for i in range(3)]
        + [f"h.{i}.ln_1.gamma (closest: h.{i}.ln_1.weight)" for i in range(3)],
    ),
    "misshapen": (
        lambda t: t | {C_ATTN: t[C_ATTN].T},
        ["misshapen: h.1.attn.c_attn.weight", "stored as (48, 16)", "wanted (16, 48)"],
    ),
    "of three": (
        lambda t: (
            without(t, "wpe") | {"transformer.wte.weight": torch.ones(60, 16), "transformer.h.0.x": torch.ones(1)}
        ),
        ["says a vocabulary of 61, the weights have 60", "missing: wpe.weight", "unexpected: h.0.x"],
    ),
    "nothing matches": (
        lambda t: {f"model.layers.{i}.q_proj.weight": tensor for i, tensor in enumerate(t.values())},
        ["missing: wte.weight", "and 32 more", "unexpected: model.layers.0.q_proj.weight"],
    ),
    "empty": (lambda t: {}, ["missing: wte.weight"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_match_is_listed(folder, refused, name):
    change, words = WRONG[name]
    rewrite(folder, change)
    with refused(ValueError, str(folder), *words):
        load_gpt2(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_layer": 1}, "config.json says 1 layer, the weights have 3"),
        ({"n_layer": 5}, "config.json says 5 layers, the weights have 3"),
        ({"vocab_size": 50_257}, "config.json says a vocabulary of 50,257, the weights have 61"),
        ({"n_embd": 20}, "config.json says a width of 20, the weights have 16"),
        ({"n_embd": 20, "n_inner": 64}, "config.json says a width of 20, the weights have 16"),
        ({"n_positions": 1024}, "config.json says a context of 1,024, the weights have 24"),
        ({"n_inner": 63}, "config.json says an MLP width of 63, the weights have 64"),
        (
            {"n_layer": 2, "vocab_size": 62},
            "config.json says 2 layers, the weights have 3, "
            "and config.json says a vocabulary of 62, the weights have 61",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("tied", [True, False])
def test_weights_of_other_sizes_than_the_card_are_told_by_those_sizes_alone(tmp_path, refused, changes, said, tied):
    oracle(tie_word_embeddings=tied).save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with refused(ValueError, f"{tmp_path} does not hold the GPT-2 that its config.json describes: {said}."):
        load_gpt2(tmp_path)


def test_beside_another_size_only_what_it_does_not_explain_is_listed(folder, refused):
    rewrite(folder, lambda tensors: without(tensors, "h.2.mlp.c_fc.bias") | {"score.weight": torch.ones(2, 16)})
    change_config(folder, n_layer=5)
    said = "config.json says 5 layers, the weights have 3; missing: h.2.mlp.c_fc.bias; unexpected: score.weight."
    with refused(ValueError, f"describes: {said}"):
        load_gpt2(folder)


def test_a_gap_between_the_layers_is_no_size(folder, refused):
    rewrite(folder, lambda tensors: without(tensors, "h.1."))
    with refused(ValueError, "describes: missing: h.1.ln_1.weight, "):
        load_gpt2(folder)


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"activation_function": "quick_gelu"}, ValueError, ["activation_function='quick_gelu'"]),
        ({"n_inner": 0}, ValueError, ["n_inner=0"]),
        ({"model_type": "llama"}, ValueError, ["'llama'", "'gpt2'"]),
        ({"n_head": 3}, ValueError, ["n_head=3"]),
        ({"n_embd": 1_000_000}, ValueError, ["GB"]),
    ],
    ids=str,
)
def test_a_configuration_that_no_model_can_have_is_refused(folder, refused, changes, kind, words):
    change_config(folder, **changes)
    with refused(kind, *words):
        load_gpt2(folder)


# ---- files


@pytest.mark.parametrize("cut", [1, 100, 10_000])
@pytest.mark.parametrize("shards", [1, 2], ids=["one file", "shards"])
def test_a_truncated_file_is_told_with_its_path(tmp_path, refused, shards, cut):
    oracle().save_pretrained(tmp_path, max_shard_size="5GB" if shards == 1 else "16KB")
    path = max(tmp_path.glob("*.safetensors"), key=lambda path: path.stat().st_size)
    path.write_bytes(path.read_bytes()[:-cut])
    with refused(ValueError, str(path), "cut short"):
        load_gpt2(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "model.safetensors.index.json", "config.json"])
def test_a_pointer_of_git_lfs_is_named_and_not_called_damaged(folder, refused, name):
    if "index" in name:
        (folder / "model.safetensors").unlink()
    path = folder / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 7\n", encoding="utf-8")
    said = f"{path} is a Git LFS pointer, which only stands for the file; run `git lfs pull` in its folder."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        load_gpt2(folder)


@pytest.mark.parametrize("content", [b"<!DOCTYPE html>\n<html>", b"\n<html lang=en>"])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_web_page_in_a_files_place_is_named(folder, refused, name, content):
    (folder / name).write_bytes(content)
    with refused(ValueError, f"{folder / name} is a web page", "download the file itself"):
        load_gpt2(folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04"])
def test_what_is_no_safetensors_file_is_told(folder, refused, content):
    (folder / "model.safetensors").write_bytes(content)
    with refused(ValueError, str(folder / "model.safetensors"), "no safetensors file"):
        load_gpt2(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_told(folder, refused, name):
    (folder / name).unlink()
    with refused(FileNotFoundError, str(folder), name):
        load_gpt2(folder)


def test_a_pickle_is_not_opened(folder, refused):
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with refused(FileNotFoundError, "model.safetensors", "pytorch_model.bin is a pickle"):
        load_gpt2(folder)


def test_a_missing_shard_is_told(tmp_path, refused):
    oracle().save_pretrained(tmp_path, max_shard_size="9KB")
    path = min(tmp_path.glob("*.safetensors"))
    path.unlink()
    with refused(FileNotFoundError, str(path)):
        load_gpt2(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {"a": 3}}'])
def test_a_damaged_index_is_told(tmp_path, refused, text):
    oracle().save_pretrained(tmp_path, max_shard_size="9KB")
    (tmp_path / "model.safetensors.index.json").write_text(text, encoding="utf-8")
    with refused(ValueError, "model.safetensors.index.json", "damaged"):
        load_gpt2(tmp_path)


def test_an_index_stays_in_its_folder(folder, refused):
    inside = folder / "inside"
    inside.mkdir()
    (inside / "config.json").write_bytes((folder / "config.json").read_bytes())
    index = {"weight_map": {"wte.weight": "../model.safetensors"}}
    (inside / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with refused(ValueError, "../model.safetensors", "not in its folder"):
        load_gpt2(inside)


# ---- saving


@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_what_is_saved_comes_back_and_transformers_loads_it(tmp_path, changes):
    twin = oracle(**changes)
    twin.save_pretrained(tmp_path / "theirs")
    model = load_gpt2(tmp_path / "theirs").train()
    save_gpt2(model, str(tmp_path / "new" / "ours"))
    assert model.training
    again = load_gpt2(tmp_path / "new" / "ours")
    assert again.config == model.config
    assert same(again, model)
    found, report = GPT2LMHeadModel.from_pretrained(tmp_path / "new" / "ours", output_loading_info=True)
    assert not any(report.values()), report
    assert distance(model.eval(), found.eval()) <= 1e-5
    assert found.state_dict().keys() == twin.state_dict().keys()
    assert all(torch.equal(tensor, found.state_dict()[name]) for name, tensor in twin.state_dict().items())
    assert stored_shapes(tmp_path / "new" / "ours") == stored_shapes(tmp_path / "theirs")


def test_the_saved_configuration_says_everything(tmp_path):
    config = GPTConfig(30, 9, 8, 1, 2, tied=False, n_inner=5, activation="relu", layer_norm_epsilon=1e-3)
    save_gpt2(GPT(config), tmp_path)
    theirs = GPT2Config.from_pretrained(tmp_path)
    assert (theirs.n_positions, theirs.n_inner, theirs.activation_function) == (9, 5, "relu")
    assert (theirs.layer_norm_epsilon, theirs.tie_word_embeddings, theirs.resid_pdrop) == (1e-3, False, 0)
    assert (theirs.bos_token_id, theirs.eos_token_id) == (None, None)
    save_gpt2(GPT(GPTConfig(50_257, 2, 2, 1, 1)), tmp_path)
    assert GPT2Config.from_pretrained(tmp_path).eos_token_id == 50_256
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


def test_half_precision_is_kept_in_the_file(tmp_path):
    model = load_gpt2_of(tmp_path).to(torch.bfloat16)
    save_gpt2(model, tmp_path / "half")
    with safe_open(tmp_path / "half" / "model.safetensors", "pt") as file:
        assert {file.get_slice(name).get_dtype() for name in file.keys()} == {"BF16"}  # noqa: SIM118
    assert same(load_gpt2(tmp_path / "half"), model.float())
    assert GPT2LMHeadModel.from_pretrained(tmp_path / "half").dtype == torch.bfloat16


def load_gpt2_of(folder):
    oracle().save_pretrained(folder)
    return load_gpt2(folder)


def test_a_model_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    model = load_gpt2_of(tmp_path)

    def half(weights, path, notes):
        path.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("utils.pretrained.hf_weights.save_file", half)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space"):
        save_gpt2(GPT(model.config), tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert same(load_gpt2(tmp_path), model)


def test_a_saved_model_counts_beside_old_shards(tmp_path):
    oracle().save_pretrained(tmp_path, max_shard_size="9KB")
    model = GPT(load_gpt2(tmp_path).config)
    save_gpt2(model, tmp_path)
    assert same(load_gpt2(tmp_path), model)


def test_what_cannot_be_saved_is_refused(tmp_path, refused):
    with refused(TypeError, "model=", "GPT"):
        save_gpt2(oracle(), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with refused(ValueError, "file"):
        save_gpt2(GPT(GPTConfig(5, 4, 4, 1, 1)), tmp_path / "file")
