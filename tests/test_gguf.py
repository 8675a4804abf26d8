"""The reader of GGUF files against the package gguf: metadata and numbers bit for bit, and every kind of damage."""

import random
import struct

import gguf
import numpy as np
import pytest
import torch

from utils.pretrained.gguf_files import KINDS, READABLE, GGUFFile, dequantize_q4_0, dequantize_q4_1, dequantize_q8_0

Kind = gguf.GGMLQuantizationType
METADATA = {
    "add_uint8": 200,
    "add_int8": -100,
    "add_uint16": 60_000,
    "add_int16": -30_000,
    "add_uint32": 4_000_000_000,
    "add_int32": -2_000_000_000,
    "add_uint64": 2**63 + 1,
    "add_int64": -(2**62),
    "add_float32": 0.5,
    "add_float64": 0.1,
    "add_bool": True,
    "add_string": "naïve 🙂",
}
LISTS = {"texts": ["a", "", "Ġthe", "é"], "whole": [3, 1, 2], "floats": [0.25, -1.5], "flags": [True, False]}
SHAPES = {"F32": (3, 5), "F16": (2, 3, 7), "Q4_0": (4, 96), "Q4_1": (5, 64), "Q8_0": (96,)}


def write(path, tensors=(), **metadata):
    writer = gguf.GGUFWriter(path, "small")
    for add, value in METADATA.items():
        getattr(writer, add)(f"test.{add}", value)
    for key, value in {**LISTS, **metadata}.items():
        writer.add_array(f"test.{key}", value)
    for name, data, kind in tensors:
        writer.add_tensor(name, data, raw_dtype=kind)
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return path


def quantized(kind, shape, seed=0):
    numbers = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return gguf.quantize(numbers, Kind[kind])


@pytest.fixture
def small(tmp_path):
    """A file with one tensor of each kind that is read, and one that is not."""
    tensors = [(f"{kind}.weight", quantized(kind, shape), Kind[kind]) for kind, shape in SHAPES.items()]
    return write(tmp_path / "small.gguf", [*tensors, ("other", quantized("Q5_1", (2, 32)), Kind.Q5_1)])


def test_metadata_of_every_type(small):
    found = GGUFFile(small).metadata
    assert {key: found[f"test.{key}"] for key in METADATA} == METADATA
    assert {key: found[f"test.{key}"] for key in LISTS} == LISTS
    assert found["general.architecture"] == "small"


def test_each_kind_equals_the_oracle(small):
    file = GGUFFile(small)
    for tensor in gguf.GGUFReader(small).tensors[:-1]:
        wanted = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
        found = file.tensor(tensor.name)
        assert (found.dtype, file.kinds[tensor.name]) == (torch.float32, tensor.tensor_type.name)
        assert torch.equal(found, wanted.view(SHAPES[tensor.tensor_type.name]))
        assert file.shapes[tensor.name] == found.shape
        found.zero_()  # in memory of its own
    assert file.tensor("F32.weight").any()


def test_kinds_have_the_numbers_that_the_format_gives_them():
    assert {kind: KINDS.index(kind) for kind in KINDS if kind != "-"} == {
        kind.name: kind.value for kind in Kind if kind.value < len(KINDS)
    }
    assert {kind: gguf.GGML_QUANT_SIZES[Kind[kind]] for kind in READABLE} == {
        kind: sizes[:2] for kind, sizes in READABLE.items()
    }


def test_a_block_of_q4_1_by_hand():
    # d = 0.5, m = -1, and byte i holds i (number i) and 15 - i (number 16 + i)
    block = struct.pack("<ee", 0.5, -1) + bytes(i | (15 - i) << 4 for i in range(16))
    wanted = torch.tensor([0.5 * q - 1 for q in [*range(16), *range(15, -1, -1)]])
    assert torch.equal(dequantize_q4_1(block), wanted)
    blocks = torch.tensor(list(block), dtype=torch.uint8).expand(2, 3, 20)
    assert torch.equal(dequantize_q4_1(blocks), wanted.expand(2, 3, 32))


def test_blocks_of_the_other_kinds_by_hand():
    packed = bytes(i | (15 - i) << 4 for i in range(16))
    wanted = [0.25 * (q - 8) for q in [*range(16), *range(15, -1, -1)]]
    assert dequantize_q4_0(struct.pack("<e", 0.25) + packed).tolist() == wanted
    assert dequantize_q8_0(struct.pack("<e32b", -2, *range(-16, 16))).tolist() == [-2 * q for q in range(-16, 16)]


def test_blocks_are_the_stored_bytes(small):
    file = GGUFFile(small)
    blocks = file.blocks("Q4_1.weight")
    assert (blocks.shape, blocks.dtype) == ((5, 2, 20), torch.uint8)
    assert blocks.numpy().tobytes() == quantized("Q4_1", (5, 64)).tobytes()
    assert torch.equal(dequantize_q4_1(blocks[3, 1]), file.tensor("Q4_1.weight")[3, 32:])
    assert file.blocks("F16.weight").shape == (2, 3, 7, 2)


def test_the_file_is_not_changed_through_its_blocks(small):
    before = small.read_bytes()
    GGUFFile(small).blocks("Q8_0.weight").zero_()
    assert small.read_bytes() == before


def test_wrong_blocks(refused):
    with refused(ValueError, "shape (19,)", "give (…, 20)"):
        dequantize_q4_1(bytes(19))
    with refused(ValueError, "shape (2, 34)"):
        dequantize_q4_1(torch.zeros(2, 34, dtype=torch.uint8))
    with refused(TypeError, "block", "uint8 tensor"):
        dequantize_q4_1(torch.zeros(20))


def test_wrong_names_and_kinds(small, refused):
    file = GGUFFile(small)
    with refused(ValueError, "no tensor 'Q4_1.wieght'", "Q4_1.weight"):
        file.tensor("Q4_1.wieght")
    with refused(ValueError, "stores other as Q5_1", "Q4_0, Q4_1, Q8_0"):
        file.tensor("other")


def test_missing_and_foreign_files(tmp_path, refused):
    with refused(FileNotFoundError, "There is no file", "absent.gguf"):
        GGUFFile(tmp_path / "absent.gguf")
    with refused(FileNotFoundError, str(tmp_path)):
        GGUFFile(tmp_path)
    path = tmp_path / "file.gguf"
    for content, words in {
        b"": "empty",
        b"PK\3\4 a zip file": "no GGUF file",
        b"version https://git-lfs.github.com/spec/v1": "git lfs pull",
        b"GGUF" + struct.pack("<I", 3): "cut short",
    }.items():
        path.write_bytes(content)
        with refused(ValueError, words):
            GGUFFile(path)
    for version in (struct.pack("<I", 2), struct.pack(">I", 3)):  # the second one from a machine of the other kind
        path.write_bytes(b"GGUF" + version + bytes(16))
        with refused(ValueError, "give a file of version 3"):
            GGUFFile(path)


def test_cut_anywhere(small, refused):
    data = small.read_bytes()
    for length in [*range(4, len(data) - 200, 17), len(data) - 48 - 33]:  # the last tensor fills 48 bytes, then nothing
        small.write_bytes(data[:length])
        with refused(ValueError, "small.gguf is damaged, cut short", "get it again"):
            GGUFFile(small)


def test_damaged_anywhere(small):
    data, draw = small.read_bytes(), random.Random(0)
    for _ in range(2000):
        changed = bytearray(data)
        changed[draw.randrange(8, 1600)] = draw.randrange(256)
        small.write_bytes(changed)
        try:
            file = GGUFFile(small)
            for name in file.shapes:
                file.tensor(name)
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017 (most changes harm no file)


HEADER = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
PLACES = {
    "cannot have": [struct.pack("<QIQQ", 1, 2, 33, 2), struct.pack("<QI", 1, 0), struct.pack("<QIQ", 1, 1, 0)],
    "beyond the end": [struct.pack("<QIQQ", 1, 2, 32, 2**60)],
}


@pytest.mark.parametrize(("words", "sizes"), [(words, sizes) for words, more in PLACES.items() for sizes in more])
def test_sizes_that_cannot_be(tmp_path, refused, words, sizes):
    path = tmp_path / "file.gguf"
    path.write_bytes(HEADER + sizes[:8] + b"w" + sizes[8:] + struct.pack("<IQ", 3, 0) + bytes(400))
    with refused(ValueError, words):
        GGUFFile(path)


def test_two_tensors_of_one_name(tmp_path, refused):
    tensor = struct.pack("<Q", 1) + b"w" + struct.pack("<IQIQ", 1, 4, 0, 0)
    (tmp_path / "file.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + 2 * tensor + bytes(400))
    with refused(ValueError, "two tensors have one name"):
        GGUFFile(tmp_path / "file.gguf")


def test_lists_in_lists_in_lists(tmp_path, refused):
    deep = struct.pack("<Q", 1) + b"k" + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 100_000
    (tmp_path / "file.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + deep)
    with refused(ValueError, "damaged"):
        GGUFFile(tmp_path / "file.gguf")
