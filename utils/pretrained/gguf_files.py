"""GGUF files (version 3), in which llama.cpp keeps a whole model: metadata, tokenizer, weights of few bits or many.

The package `gguf` reads more kinds and takes ten times as long to open a file: it is the oracle of the tests.
Source: the GGUF specification, docs/gguf.md in ggml's repository.
"""

import difflib
import math
import mmap
import struct

import torch

from utils import validate
from utils.files import at_home, not_there
from utils.pretrained.hf_files import damaged

MAGIC, VERSION, ALIGNMENT = b"GGUF", 3, 32
# how metadata are stored, as letters of the module struct: by their type's number
NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
TEXT, ARRAY = 8, 9
# the kinds of stored numbers, each at the place that is its number; "-": given up
IN_ORDER = (
    "F32 F16 Q4_0 Q4_1 - - Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S "
    "IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 - - - TQ1_0 TQ2_0 - - - MXFP4"
)
KINDS = IN_ORDER.split()


def dequantize_q4_1(block) -> torch.Tensor:
    """The 32 numbers of a Q4_1 block: bytes of length 20, or a uint8 tensor (…, 20) -> float32 (…, 32).

    A block is d and m in float16, then 16 bytes with two whole numbers q from 0 to 15 each: the low four bits are
    those of numbers 0 to 15, the high four those of numbers 16 to 31. Each number is d * q + m.
    Raises TypeError for another type and ValueError for another size.
    """
    block = _block(block, 20)  # (…, 20)
    d, m = block[..., :4].contiguous().view(torch.float16).float().split(1, -1)  # (…, 4) -> (…, 2) -> 2 times (…, 1)
    return _nibbles(block[..., 4:]).mul_(d).add_(m)  # (…, 16) -> (…, 32)


def dequantize_q4_0(block) -> torch.Tensor:
    """The 32 numbers of a Q4_0 block, d * (q - 8): bytes of length 18, or a uint8 tensor (…, 18) -> (…, 32)."""
    block = _block(block, 18)  # (…, 18)
    return _nibbles(block[..., 2:]).sub_(8).mul_(_scale(block))  # (…, 16) -> (…, 32)


def dequantize_q8_0(block) -> torch.Tensor:
    """The 32 numbers of a Q8_0 block, d * q: bytes of length 34, or a uint8 tensor (…, 34) -> (…, 32)."""
    block = _block(block, 34)  # (…, 34)
    return block[..., 2:].view(torch.int8).float().mul_(_scale(block))  # (…, 32)


# numbers and bytes in a block of a kind that can be read, and what makes float32 of blocks
READABLE = {
    "F32": (1, 4, lambda block: block.clone().view(torch.float32)),
    "F16": (1, 2, lambda block: block.clone().view(torch.float16).float()),
    "Q4_0": (32, 18, dequantize_q4_0),
    "Q4_1": (32, 20, dequantize_q4_1),
    "Q8_0": (32, 34, dequantize_q8_0),
}


class GGUFFile:
    """A GGUF file: `metadata`, and its tensors by name.

    metadata: a dict of int, float, bool, str, and lists of these. shapes: name -> shape, rows first as in PyTorch.
    kinds: name -> how its numbers are stored, as "Q4_1". Weights are read from the disk when a tensor is asked for.
    Raises FileNotFoundError for a missing file, ValueError for one that is damaged, cut short or of another version.
    """

    def __init__(self, path):
        self.path = at_home(path)
        self._data = _mapped(self.path)
        if self._data[:4] != MAGIC or len(self._data) < 24:
            raise damaged(self.path, "cut short or no GGUF file")
        version = int.from_bytes(self._data[4:8], "little")
        if version != VERSION:
            raise ValueError(f"{self.path} is GGUF of version {version}; give a file of version {VERSION}.")
        try:
            self._read_header()
        except (struct.error, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise damaged(self.path, f"cut short or changed ({error})") from None

    def _read_header(self):
        cursor = _Cursor(self._data, len(MAGIC) + 4)
        tensors, pairs = cursor.numbers("Q", 2)
        self.metadata = {cursor.text(): cursor.value(cursor.number("I")) for _ in range(pairs)}
        self.shapes, self.kinds, self._starts = {}, {}, {}
        for _ in range(tensors):
            name = cursor.text()
            self.shapes[name] = cursor.numbers("Q", cursor.number("I"))[::-1]
            self.kinds[name] = _kind(cursor.number("I"))
            self._starts[name] = cursor.number("Q")
        if len(self.shapes) < tensors:
            raise ValueError("two tensors have one name")
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        first = cursor.at + -cursor.at % alignment
        for name in self.shapes:
            if self._starts[name] % alignment:
                raise ValueError(f"{name} begins at {self._starts[name]}, no multiple of {alignment}")
            self._starts[name] += first
            self._check_place(name)

    def _check_place(self, name):
        """A tensor must be made of whole blocks, and all of them must be in the file."""
        shape, kind = self.shapes[name], self.kinds[name]
        per_block, size, _ = READABLE.get(kind, (1, 0, None))  # of other kinds only the start is known
        if min(shape, default=0) < 1 or shape[-1] % per_block:
            raise ValueError(f"{name} has the shape {shape}, which {kind} cannot have")
        if self._starts[name] + math.prod(shape) // per_block * size > len(self._data):
            raise ValueError(f"{name} goes beyond the end")

    def blocks(self, name) -> torch.Tensor:
        """The stored bytes of a tensor, uint8 (…, blocks in a row, bytes in a block): in Q4_1, 20 bytes for 32 numbers.

        Raises ValueError for a name that the file has not and for a kind of numbers that is not read here.
        """
        if name not in self.shapes:
            close = difflib.get_close_matches(str(name), self.shapes, n=1, cutoff=0) or ["none"]
            raise ValueError(f"{self.path} has no tensor {name!r}; the closest name is {close[0]}.")
        if self.kinds[name] not in READABLE:
            kinds = ", ".join(READABLE)
            raise ValueError(f"{self.path} stores {name} as {self.kinds[name]}; the kinds that are read are {kinds}.")
        per_block, size, _ = READABLE[self.kinds[name]]
        *rows, columns = self.shapes[name]
        shape = (*rows, columns // per_block, size)
        count, start = math.prod(shape), self._starts[name]
        return torch.frombuffer(self._data, dtype=torch.uint8, count=count, offset=start).view(shape)

    def tensor(self, name) -> torch.Tensor:
        """A tensor in float32, whatever is stored, in memory of its own. Raises as `blocks` does."""
        blocks = self.blocks(name)
        return READABLE[self.kinds[name]][-1](blocks).view(self.shapes[name])


class _Cursor:
    """Reads values one after another; what lies beyond the end of the data is an error."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def numbers(self, letter, count):
        form = f"<{count}{letter}"
        found = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return found

    def number(self, letter):
        return self.numbers(letter, 1)[0]

    def text(self):
        start = self.at + 8
        self.at = start + self.number("Q")
        if self.at > len(self.data):
            raise ValueError(f"a text of {self.at - start:,} bytes goes beyond the end")
        return self.data[start : self.at].decode()

    def value(self, kind):
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            return self.number(NUMBERS[kind])
        kind, count = self.number("I"), self.number("Q")
        if kind in NUMBERS:
            return list(self.numbers(NUMBERS[kind], count))
        return [self.value(kind) for _ in range(count)]


def _mapped(path):
    """The file's bytes, which come from the disk when they are asked for."""
    if not path.is_file():
        raise not_there(path)
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # torch wants it writable; the file stays
        except ValueError:
            raise damaged(path, "empty") from None


def _kind(number):
    return KINDS[number] if number < len(KINDS) else f"kind {number}"


def _block(block, size):
    """Blocks as a uint8 tensor (…, size)."""
    if isinstance(block, bytes):
        block = torch.tensor(list(block), dtype=torch.uint8)
    if not isinstance(block, torch.Tensor) or block.dtype != torch.uint8:
        raise validate.wrong_type("block", block, f"give bytes, or a uint8 tensor of shape (…, {size})")
    if block.shape[-1:] != (size,):
        raise ValueError(f"block has shape {tuple(block.shape)}; a block is {size} bytes, so give (…, {size}).")
    return block


def _scale(block):
    """d, which stands first: (…, bytes) -> float32 (…, 1)."""
    return block[..., :2].contiguous().view(torch.float16).float()


def _nibbles(packed):
    """Two whole numbers from each byte, the low ones first: uint8 (…, 16) -> float32 (…, 32)."""
    return torch.cat([packed & 15, packed >> 4], -1).float()
