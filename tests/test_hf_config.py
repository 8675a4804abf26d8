"""config.json files: GPT-2's becomes the course's, four architectures are counted as transformers does."""

import functools
import json
import random
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import transformers
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.activations import ACT2FN

from utils.counting import GPT2_FAMILY, ROWS, ledger
from utils.model import GPTConfig
from utils.pretrained import KNOWN_CONFIGS, cache_bytes_from_hf, config_from_hf, count_from_hf, read_config
from utils.pretrained.hf_configs import ACTIVATION, ARCHITECTURES, CLASSES, FIXED

GPT2 = KNOWN_CONFIGS["GPT-2 small"]
LLAMA = KNOWN_CONFIGS["Llama-3-8B"]
MISTRAL = KNOWN_CONFIGS["Mistral-7B"]
QWEN = KNOWN_CONFIGS["Qwen2.5-0.5B"]
READERS = [count_from_hf, cache_bytes_from_hf, config_from_hf]


def llama_like(kind, V, d, d_ff, L, H, H_kv, **more):
    sizes = {"vocab_size": V, "hidden_size": d, "intermediate_size": d_ff, "num_hidden_layers": L}
    return {"model_type": kind, **sizes, "num_attention_heads": H, "num_key_value_heads": H_kv, **more}


def without(config, *keys):
    return {key: value for key, value in config.items() if key not in keys}


# totals from the models' pages and papers
PUBLISHED = [
    (GPT2, 124_439_808),
    (LLAMA, 8_030_261_248),
    (KNOWN_CONFIGS["Llama-2-7B"], 6_738_415_616),
    (MISTRAL, 7_241_732_096),
    (QWEN, 494_032_768),
    (KNOWN_CONFIGS["SmolLM2-135M"], 134_515_008),
    (GPT2 | {"n_embd": 1600, "n_layer": 48, "n_head": 25}, 1_557_611_200),
    (llama_like("mistral", 131_072, 5120, 14_336, 40, 32, 8, head_dim=128), 12_247_782_400),  # Mistral-Nemo-12B
    (llama_like("llama", 32_000, 2048, 5632, 22, 32, 4), 1_100_048_384),  # TinyLlama-1.1B
    (llama_like("llama", 128_256, 2048, 8192, 16, 32, 8, tie_word_embeddings=True), 1_235_814_400),  # Llama-3.2-1B
    (llama_like("qwen2", 152_064, 3584, 18_944, 28, 28, 4), 7_615_616_512),  # Qwen2.5-7B
]
# part of a parameter's name in transformers -> the ledger's row
ROW = {
    **dict.fromkeys(("wte", "embed_tokens"), "token table"),
    **dict.fromkeys(("lm_head", "score", "classifier", "qa_outputs"), "head"),
    **dict.fromkeys(("attn", "self_attn"), "attention"),
    **dict.fromkeys(("ln_1", "ln_2", "input_layernorm", "post_attention_layernorm"), "layer norms"),
    **dict.fromkeys(("ln_f", "norm"), "final layer norm"),
    "wpe": "position table",
    "mlp": "mlp",
}


def counted_by_transformers(config, make=AutoModelForCausalLM.from_config):
    """Row by row, on the meta device; a shared tensor comes once, under its first name."""
    with torch.device("meta"):
        model = make(AutoConfig.for_model(**config))
    counts = dict.fromkeys(ROWS, 0)
    for name, parameter in model.named_parameters():
        counts[next(ROW[part] for part in name.split(".") if part in ROW)] += parameter.numel()
    return counts


@pytest.mark.parametrize(("config", "total"), PUBLISHED, ids=range(len(PUBLISHED)))
def test_published_models_are_counted_exactly(config, total):
    counts = count_from_hf(config)
    assert sum(counts.values()) == total
    assert counts == counted_by_transformers(config)
    assert list(counts) == list(ROWS)
    assert {type(count) for count in counts.values()} == {int}


def test_the_known_configs_are_asked_and_plain():
    assert list(KNOWN_CONFIGS.values()) == [config for config, _ in PUBLISHED[:6]]
    assert json.loads(json.dumps(KNOWN_CONFIGS)) == KNOWN_CONFIGS
    assert count_from_hf(GPT2) == ledger(GPT2_FAMILY["GPT-2 small"])


def some_config(seed):
    """A small configuration whose optional keys are given, null or absent by chance."""
    pick = random.Random(seed)
    kind = ("gpt2", "llama", "llama", "mistral", "qwen2")[seed % 5]
    heads = pick.choice([1, 2, 6, 8, 32])
    width = heads * pick.choice([2, 4, 10])
    optional = {"tie_word_embeddings": [True, False]}
    if kind == "gpt2":
        config = {"n_positions": pick.randint(1, 99), "n_embd": width, "n_layer": pick.randint(1, 4), "n_head": heads}
        optional |= {"n_inner": [None, 7, 4 * width], "activation_function": ["silu", "gelu"]}
    else:
        config = llama_like(kind, 1, width, pick.randint(1, 99), pick.randint(1, 4), heads, None)
        optional |= {"head_dim": [None, 2, 6, 64]} if kind != "qwen2" else {}
        kept = [divisor for divisor in (1, 2, 3, 4, 8, 32) if heads % divisor == 0]
        null = [] if kind == "mistral" else [None]  # which transformers 5 refuses there, and 4 took
        config["num_key_value_heads"] = pick.choice([*null, *kept, heads])
        if kind == "llama" or (kind, heads) in (("mistral", 8), ("mistral", 32), ("qwen2", 32)):
            optional["num_key_value_heads"] = [config.pop("num_key_value_heads")]
    if kind != "gpt2":
        optional |= {key: [True, False] for key in ("attention_bias", "mlp_bias")}
    chosen = {key: pick.choice(values) for key, values in optional.items() if pick.random() < 0.7}
    extra = {"rope_theta": 1e6, "transformers_version": "4.40.0", "use_cache": True}
    return config | chosen | extra | {"model_type": kind, "vocab_size": pick.randint(1, 999)}


@pytest.mark.parametrize("seed", range(40))
def test_random_configurations_are_counted_as_transformers_does(seed):
    config = some_config(seed)
    assert count_from_hf(config) == counted_by_transformers(config)


def test_the_random_configurations_cover_what_they_should():
    for key in ("tie_word_embeddings", "attention_bias", "mlp_bias", "head_dim", "num_key_value_heads", "n_inner"):
        values = {str(some_config(seed).get(key, "absent")) for seed in range(40)}
        assert len(values) >= 3, key
        assert values >= ({"absent"} if key.endswith(("bias", "embeddings")) else {"absent", "None"}), key


SMALL = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 50, "n_positions": 7, "n_embd": 8, "n_layer": 2, "n_head": 2},
    **{kind: llama_like(kind, 50, 8, 16, 2, 2, 1) for kind in ("llama", "mistral", "qwen2")},
}
LABELS = [{}, {"num_labels": 1}, {"id2label": {str(number): f"label {number}" for number in range(40)}}]


HEADED = [name for name in CLASSES if hasattr(transformers, name)]  # a few no architecture has, as GPT2ForCausalLM


@pytest.mark.parametrize("name", HEADED)
@pytest.mark.parametrize("more", [{}, {"tie_word_embeddings": True}, {"tie_word_embeddings": False}], ids=str)
def test_every_head_is_counted_as_transformers_does(name, more):
    config = SMALL[CLASSES[name]] | more | {"architectures": [name]}
    for labels in LABELS:
        wanted = counted_by_transformers(config | labels, getattr(transformers, name))
        assert count_from_hf(config | labels) == wanted
        assert count_from_hf(without(config | labels, "model_type")) == wanted
        assert cache_bytes_from_hf(config | labels) == cache_bytes_from_hf(SMALL[CLASSES[name]])


def test_the_classes_are_those_of_transformers():
    assert len(HEADED) == 20
    assert {CLASSES[name] for name in HEADED} == {"gpt2", "llama", "mistral", "qwen2"}


def test_another_language_models_class_changes_nothing():
    for classes in (["LLaMAForCausalLM"], ["FalconForCausalLM"], ("LlamaForCausalLM", "LlamaModel"), [], None):
        assert count_from_hf(LLAMA | {"architectures": classes}) == count_from_hf(LLAMA)


def test_the_courses_model_ends_in_a_score_for_every_token(refused):
    bare = GPT2 | {"architectures": ["GPT2Model"]}
    assert config_from_hf(bare) == config_from_hf(GPT2), "the tied table is the head"
    ends = [GPT2 | {"architectures": [f"GPT2For{task}"]} for task in ("TokenClassification", "QuestionAnswering")]
    for config in (*ends, bare | {"tie_word_embeddings": False}):
        with refused(ValueError, repr(config["architectures"][0]), "count_from_hf"):
            config_from_hf(config)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_what_is_null_or_absent_has_its_architectures_value(kind):
    config = SMALL[kind]
    assert (count_from_hf(config)["head"] == 0) == (kind == "gpt2")
    assert count_from_hf(config | {"tie_word_embeddings": None}) == count_from_hf(config)
    many = config | ({} if kind == "gpt2" else {"hidden_size": 64, "num_attention_heads": 32})
    for read in (count_from_hf, cache_bytes_from_hf):
        assert read(many | {"num_key_value_heads": None}) == read(many | {"num_key_value_heads": 32})


@pytest.mark.parametrize("seed", range(20))
@torch.no_grad()
def test_cache_bytes_are_those_that_transformers_keeps(seed):
    config = some_config(seed) | {"attn_implementation": "eager", "n_positions": 50, "vocab_size": 60}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    held = model(torch.zeros(1, 3, dtype=torch.long), use_cache=True).past_key_values
    kept = sum(layer.keys.nbytes + layer.values.nbytes for layer in held.layers)
    assert cache_bytes_from_hf(config, bytes_per_number=4) == kept / 3
    assert cache_bytes_from_hf(config) == kept / 6


def test_cache_bytes_of_published_models():
    found = {name: cache_bytes_from_hf(config) for name, config in KNOWN_CONFIGS.items()}
    wanted = {"GPT-2 small": 36_864, "Llama-3-8B": 131_072, "Llama-2-7B": 524_288, "Mistral-7B": 131_072}
    assert found | wanted == found  # 131,072 = 2 * 32 * 8 * 128 * 2; a quarter of the heads in Llama 3


def test_every_setting_arrives():
    sizes = {"vocab_size": 11, "n_positions": 7, "n_embd": 6, "n_layer": 3, "n_head": 2, "n_inner": 10}
    form = {"activation_function": "relu", "layer_norm_epsilon": 1e-3, "tie_word_embeddings": False}
    extra = {"n_ctx": 99, "task_specific_params": {"text-generation": {"do_sample": True}}, "summary_type": "cls"}
    wanted = GPTConfig(11, 7, 6, 3, 2, tied=False, n_inner=10, activation="relu", layer_norm_epsilon=1e-3)
    assert config_from_hf({"architectures": ["GPT2LMHeadModel"], **sizes, **form, **extra}) == wanted


def test_every_name_of_the_courses_functions_is_accepted_and_no_other(refused):
    x = torch.linspace(-9, 9, 4001)
    ours = {"gelu_tanh": F.gelu(x, approximate="tanh"), "gelu": F.gelu(x), "relu": F.relu(x)}
    for name in ACT2FN:
        values = ACT2FN[name](x) if name not in ("xielu", "gelu_10") else None  # parameters; cut off at 10
        same = [own for own, wanted in ours.items() if values is not None and (values - wanted).abs().max() < 2e-6]
        config = GPT2 | {"activation_function": name}
        if name in ACTIVATION:
            assert [config_from_hf(config).activation] == same, name
        else:
            assert not same, name
            with refused(ValueError, f"activation_function={name!r}", "gelu_new", "'gelu'", "relu"):
                config_from_hf(config)
        assert count_from_hf(config) == count_from_hf(GPT2)
    assert ACTIVATION.keys() < {*ACT2FN}


def test_what_is_absent_or_null_has_gpt2s_value():
    optional = ("activation_function", "layer_norm_epsilon", "n_ctx", "n_inner")
    bare = without(GPT2, *optional)
    assert config_from_hf(bare) == config_from_hf(bare | dict.fromkeys(optional)) == GPT2_FAMILY["GPT-2 small"]
    assert [config_from_hf(bare | {"n_inner": inner}).d_ff for inner in (None, 3072, 5)] == [3072, 3072, 5]
    assert config_from_hf(without(GPT2, "n_positions") | {"n_ctx": 77}).n_ctx == 77
    assert config_from_hf(PUBLISHED[6][0]) == GPT2_FAMILY["GPT-2 XL"]


@pytest.mark.parametrize("key", [*FIXED, "add_cross_attention"])
def test_what_the_courses_model_does_not_compute_is_refused(refused, key):
    usual = key == "scale_attn_weights"
    with refused(ValueError, f"{key}={not usual}"):
        config_from_hf(GPT2 | {key: not usual})
    assert config_from_hf(GPT2 | {key: usual}) == config_from_hf(GPT2)


@pytest.mark.parametrize("read", [*READERS, read_config])
def test_a_dict_a_file_and_a_folder_say_the_same(tmp_path, read):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GPT2), encoding="utf-8")
    wanted = read(GPT2)
    assert read(path) == read(str(path)) == read(tmp_path) == read(str(tmp_path)) == wanted


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"
NO_OBJECT = ("", "{", '{"n_embd": 768', "[1]", '"gpt2"', "null", "\x00")
NOT_FOR_PYTHON = (f'{{"n_embd": {"[" * 5_000 + "]" * 5_000}}}', f'{{"n_embd": {"8" * 5_000}}}')
DAMAGED = dict.fromkeys((*NO_OBJECT, *NOT_FOR_PYTHON), ()) | {
    LFS: ("Git LFS pointer", "`git lfs pull`"),
    "{“n_embd”: 768}": ("U+201C LEFT DOUBLE QUOTATION MARK", "line 1 column 2"),
}


@pytest.mark.parametrize(("text", "words"), DAMAGED.items(), ids=range(len(DAMAGED)))
def test_a_damaged_file_is_told(tmp_path, refused, text, words):
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with refused(ValueError, str(tmp_path / "config.json"), *words):
        count_from_hf(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("blank", ["\u00a0", "\ufeff", "\u2003", "\u200b", "\u2028", "\u3000"], ids=ascii)
def test_an_editors_blanks_and_marks_do_not_matter(tmp_path, encoding, blank):
    text = json.dumps(GPT2 | {"name": f"a{blank}b"}, indent=2, ensure_ascii=False).replace("\n ", f"\n{blank}")
    (tmp_path / "config.json").write_bytes(text.encode(encoding))
    assert read_config(tmp_path) == GPT2 | {"name": f"a{blank}b"}, "and inside of a string they stay"
    assert sum(count_from_hf(tmp_path).values()) == 124_439_808


def test_the_class_stands_in_for_the_type(refused):
    bare = without(LLAMA, "model_type")
    assert count_from_hf(bare | {"architectures": ["LlamaForCausalLM"]}) == count_from_hf(LLAMA)
    for odd in ({"a": 1}, "LlamaForCausalLM", 5, True, [None], [["LlamaForCausalLM"]], [{}]):
        with refused(TypeError, "architectures", "['LlamaForCausalLM']"):
            count_from_hf(bare | {"architectures": odd})
        assert count_from_hf(LLAMA | {"architectures": odd}) == count_from_hf(LLAMA)


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_a_tie_flag_on_the_wrong_level_is_told(refused, config):
    bare, part = without(config, "tie_word_embeddings"), {"tie_word_embeddings": False}
    for name, shown in (("text_config", "text_config"), ("x" * 999, "x" * 60), ("", "")):
        with refused(ValueError, "tie_word_embeddings", f"inside '{shown}'"):
            count_from_hf(bare | {name: part})
    assert count_from_hf(bare | {"text_config": part, "tie_word_embeddings": True})["head"] == 0


TYPED = [
    ("C:\\models\new", r"C:\models\new"),
    ("models\nano\\config.json", r"models\nano\config.json"),
    ("C:\\Users\tom\bert\\2024", r"C:\Users\tom\bert\2024"),
    ("D:\2024", r"D:\2024"),
    ("\0", r"\0"),
    (Path("C:\\models\new"), r"C:\models\new"),
]
MISFITS = [
    (LLAMA | {"num_key_value_heads": 5}, "num_key_value_heads=5 | num_attention_heads=32"),
    (LLAMA | {"num_key_value_heads": 64}, "num_key_value_heads=64"),
    (LLAMA | {"num_key_value_heads": 0}, "num_key_value_heads=0"),
    (LLAMA | {"hidden_size": 4100}, "hidden_size=4100 | num_attention_heads=32 | head_dim"),
    (LLAMA | {"head_dim": 0}, "head_dim=0"),
    # absent, Qwen2's key-value heads are 32 in transformers, which no model with 14 heads can have
    (without(QWEN, "num_key_value_heads"), "num_key_value_heads=32 | absent | num_attention_heads=14"),
]
UNKNOWN_HEADS = [("gpt2", "GPT2DoubleHeadsModel"), ("qwen2", "Qwen2ForMultipleChoice"), ("mistral", "LLM2VecModel")]
UNKNOWN_HEADS += [("llama", name) for name in ("LlamaForRewardModel", "MistralModel", "LlamaForCausalLMEagle")]
KNOWN = "'gpt2' | 'llama' | 'mistral' | 'qwen2'"
NO_TYPE = without(LLAMA, "model_type")
LONG = ("x" * 60, [1] * 30, functools.reduce(lambda inner, _: [inner], range(500), []), [10**5_000], {"a": "x" * 60})
SHOWN = ("model_type", "hidden_size", "num_key_value_heads", "head_dim", "tie_word_embeddings")
ONE_LAYER = llama_like("llama", 1, 10**7, 1, 1, 1, 1)  # 4 d^2 + 8 d parameters, 4 d bytes of cache a token
NINE = GPT2 | {"n_positions": None, "n_inner": 3072}

COUNT, CACHE, CONFIG = READERS
LLAMA_KEYS = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
NEEDED = [(LLAMA, key) for key in LLAMA_KEYS] + [(GPT2, key) for key in ("vocab_size", "n_embd", "n_layer", "n_head")]
REFUSED = [
    *((read_config, FileNotFoundError, path, f'{typed} | write r"{typed}"') for path, typed in TYPED),
    *((COUNT, FileNotFoundError, path, path) for path in ("nowhere.json", "x" * 5_000)),
    *((COUNT, ValueError, text, "json.loads") for text in (json.dumps(GPT2, indent=2), "{}", "\n", " {", "a: 1\nb: 2")),
    *((COUNT, TypeError, odd, f"dict_or_path | {type(odd).__name__}") for odd in (None, 3, [GPT2], b"config.json")),
    *(
        (read, ValueError, LLAMA | {"model_type": kind}, f"{kind!r} | {KNOWN}")
        for kind in ("gpt_neox", "bert", "Llama", "qwen3", "", 7)
        for read in READERS
    ),
    (COUNT, ValueError, NO_TYPE | {"architectures": ["FalconForCausalLM"]}, f"'FalconForCausalLM' | {KNOWN}"),
    *(
        (COUNT, ValueError, NO_TYPE | none, f"model_type | missing | {KNOWN}")
        for none in ({}, {"architectures": []}, {"architectures": None}, {"model_type": None})
    ),
    *(
        (COUNT, ValueError, SMALL[kind] | {"architectures": [name]}, f"architectures | {name!r} | head")
        for kind, name in UNKNOWN_HEADS
    ),
    *(
        (CONFIG, ValueError, other, f"{other['model_type']!r} | count_from_hf | {KNOWN}")
        for other in (LLAMA, MISTRAL, QWEN)
    ),
    *((COUNT, ValueError, without(config, key), f"{key} | missing") for config, key in NEEDED),
    *((COUNT, ValueError, config | {key: None}, f"{key} | missing") for config, key in NEEDED),
    *(
        (COUNT, ValueError, without(config, key) | {"part": {key: 8}}, f"{key} | missing | inside 'part'")
        for config, key in NEEDED
    ),
    *((COUNT, ValueError, config | {key: few}, f"{key}={few}") for config, key in NEEDED for few in (0, -1)),
    *((COUNT, TypeError, config | {key: odd}, f"{key}={odd!r}") for config, key in NEEDED for odd in ("8", 8.0, True)),
    (CONFIG, ValueError, without(GPT2, "n_positions", "n_ctx"), "n_positions | missing"),
    (CONFIG, TypeError, GPT2 | {"activation_function": 3}, "activation_function=3 | gelu_new"),
    (CONFIG, ValueError, GPT2 | {"activation_function": ""}, "activation_function='' | gelu_new"),
    *((read, ValueError, config, words) for config, words in MISFITS for read in (COUNT, CACHE)),
    *(
        (COUNT, TypeError, LLAMA | {key: "false"}, f"{key} | True or False")
        for key in ("tie_word_embeddings", "attention_bias", "mlp_bias")
    ),
    *((COUNT, ValueError, LLAMA | {key: long}, f"{key} | more than 60 characters") for key in SHOWN for long in LONG),
    *(
        (read, ValueError, NINE | {key: number}, f"{key} | more than 9 digits")
        for read in (COUNT, CONFIG)
        for key in ("vocab_size", "n_inner", "n_ctx")
        for number in (10**9, -(10**9), 10**5_000)
    ),
    (COUNT, ValueError, ONE_LAYER | {"hidden_size": 10**8}, "1,000 trillion parameters"),
    (CACHE, ValueError, ONE_LAYER | {"num_hidden_layers": 25_000}, "1 TB or more a token"),
    (functools.partial(CACHE, bytes_per_number=10**400), ValueError, GPT2, "1 TB or more a token"),
    *(
        (functools.partial(CACHE, bytes_per_number=size), kind, GPT2, "bytes_per_number")
        for size, kind in ((0, ValueError), (-2, ValueError), (True, TypeError), ("2", TypeError))
    ),
]


@pytest.mark.parametrize(("read", "kind", "given", "words"), REFUSED, ids=[words[:40] for *_, words in REFUSED])
def test_what_cannot_be_read_is_refused_in_a_sentence(refused, read, kind, given, words):
    with refused(kind, *words.split(" | ")):
        read(given)


def test_the_largest_sizes_are_read():
    assert sum(count_from_hf(ONE_LAYER).values()) == 4 * 10**14 + 8 * 10**7
    assert cache_bytes_from_hf(ONE_LAYER | {"num_hidden_layers": 24_999}) == 24_999 * 4 * 10**7
    for key in ("vocab_size", "n_inner", "n_ctx"):
        assert count_from_hf(NINE | {key: 10**9 - 1})
        assert config_from_hf(NINE | {key: 10**9 - 1})
