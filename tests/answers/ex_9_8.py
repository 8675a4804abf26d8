"""Answers to exercise 9.8: a block of Q4_1."""

import struct

import numpy as np
import torch


def _read(block):
    scale, minimum = np.frombuffer(block[:4], dtype=np.float16).astype(np.float32)
    packed = np.frombuffer(block[4:], dtype=np.uint8)
    return scale * np.concatenate([packed & 0x0F, packed >> 4]) + minimum


def _in_plain_python(block):
    scale, minimum = struct.unpack("<2e", block[:4])
    return [scale * q + minimum for q in [byte % 16 for byte in block[4:]] + [byte // 16 for byte in block[4:]]]


def _in_torch(block):
    block = torch.tensor(list(block), dtype=torch.uint8)
    scale, minimum = block[:4].view(torch.float16).float()
    return torch.cat([block[4:] & 15, block[4:] >> 4]) * scale + minimum


def _in_float16(block):
    scale, minimum = np.frombuffer(block[:4], dtype=np.float16)
    packed = np.frombuffer(block[4:], dtype=np.uint8)
    return np.concatenate([packed & 15, packed >> 4]) * scale + minimum


def _side_by_side(block):
    scale, minimum = struct.unpack("<ee", block[:4])
    return [scale * q + minimum for byte in block[4:] for q in (byte & 15, byte >> 4)]


def _shifts_by_3(block):
    scale, minimum = struct.unpack("<ee", block[:4])
    return [scale * q + minimum for q in [*(b & 15 for b in block[4:]), *(b >> 3 for b in block[4:])]]


RIGHT = [_read, _in_plain_python, _in_torch, lambda block: torch.from_numpy(_read(bytearray(block)))]
WRONG = [
    ("they alternate", _side_by_side),
    ("float16", _in_float16),
    ("or are swapped", lambda block: np.roll(_read(block), 16)),
    ("scale and minimum are swapped", lambda block: _read(block[2:4] + block[:2] + block[4:])),
    ("the low byte first", lambda block: _read(block[1::-1] + block[3:1:-1] + block[4:])),
    ("what is wanted begins with this", lambda block: _read(block)[:16]),
    ("raised ValueError", lambda block: np.frombuffer(block, np.float32, 32)),
    ("look    line 3", _shifts_by_3),
]
