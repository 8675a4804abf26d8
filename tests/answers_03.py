"""Answers to lesson 03's exercises, right and wrong: what tests/test_check.py tries."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

from utils.counting import conventions, gpt_params, ledger
from utils.model import Block, GPTConfig

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 3.1 one block


def _linear(a, b, bias=True):
    return a * b + (b if bias else 0)


def _block(d, heads=1, bias=True, norms=4, inner=4):
    attention = heads * 3 * _linear(d, d, bias) + _linear(d, d, bias)
    return attention + _linear(d, inner * d, bias) + _linear(inner * d, d, bias) + norms * d


def _counted_in_a_module(d):
    with torch.device("meta"):
        block = Block(GPTConfig(vocab_size=1, n_ctx=1, n_embd=d, n_layer=1, n_head=1))
    return sum(parameter.numel() for parameter in block.parameters())


RIGHT["3.1"] = [
    _block,
    _counted_in_a_module,
    lambda d: 12 * d**2 + 13 * d,
    lambda d: d * (12 * d + 13.0),
    lambda d: np.int64(12 * d * d + 13 * d),
    lambda d: torch.tensor(12 * d * d + 13 * d),
    lambda d: torch.tensor(12.0 * d * d + 13 * d),
    lambda d: Fraction(_block(d)),
]
WRONG["3.1"] = [
    ("matrices alone", lambda d: 12 * d**2),
    ("biases are missing", lambda d: _block(d, bias=False)),
    ("4 d numbers are missing", lambda d: _block(d, norms=0)),
    ("4 d numbers are missing", lambda d: _block(d) - 3 * d - d),
    ("2 d numbers are missing", lambda d: _block(d, norms=2)),
    ("5 d numbers are missing", lambda d: _block(d) - 4 * d - d),
    ("3 d numbers are missing", lambda d: 4 * (d * d + d) + 2 * (4 * d * d + d) + 4 * d),
    ("3 d numbers are too many", lambda d: 4 * (d * d + d) + 2 * (4 * d * d + 4 * d) + 4 * d),
    ("d numbers are missing: the last", lambda d: 3 * (d * d + d) + d * d + 8 * d * d + 5 * d + 4 * d),
    ("only one is counted", lambda d: _block(d) - 2 * _linear(d, d)),
    ("attention is counted with one matrix", lambda d: _linear(d, d) + 8 * d * d + 5 * d + 4 * d),
    ("`c_proj`, is missing", lambda d: 3 * _linear(d, d) + 8 * d * d + 5 * d + 4 * d),
    ("one to widen and one", lambda d: 4 * _linear(d, d) + _linear(d, 4 * d) + 4 * d),
    ("one to widen and one", lambda d: 4 * _linear(d, d) + _linear(4 * d, d) + 4 * d),
    ("inner width is 4 d", lambda d: _block(d, inner=1)),
    ("counted for four heads", lambda d: _block(d, heads=4)),
    ("counted four times", lambda d: 16 * _linear(d, d) + 8 * d * d + 5 * d + 4 * d),
    ("attention alone", lambda d: 4 * d * d + 4 * d),
    ("MLP alone", lambda d: 8 * d * d + 5 * d),
    ("final layer norm stands after", lambda d: _block(d, norms=6)),
    ("twice the block", lambda d: 2 * _block(d)),
    ("same result in every case", lambda d: 74),
    ("d² numbers are missing: a matrix", lambda d: 11 * d * d + 13 * d),
    ("2 d² numbers are missing", lambda d: 10 * d * d + 13 * d),
    ("4 d² numbers are missing", lambda d: 8 * d * d + 13 * d),
    ("4 d² numbers are too many", lambda d: 16 * d * d + 13 * d),
    ("3 d times 3 d", lambda d: 3 * d * 3 * d + 3 * d + d * d + d + 8 * d * d + 5 * d + 4 * d),
    ("13 numbers here", lambda d: 12 * d * d + 13),
    ("number is not", lambda d: 12 * d * d + 13 * d + 1),
    ("a single number", lambda d: [12 * d * d, 13 * d]),
    ("returns None", lambda d: print(end="")),
    ("raised", lambda d: d.numel()),
]

# 3.2 the whole model


def _total(V, n, d, L, tables=1, norm=2):
    return tables * V * d + n * d + L * (12 * d * d + 13 * d) + norm * d


RIGHT["3.2"] = [
    _total,
    gpt_params,
    lambda V, n, d, L: sum(ledger(GPTConfig(V, n, d, L, n_head=1)).values()),
    lambda V, n, d, L: float(_total(V, n, d, L)),
    lambda V, n, d, L: torch.tensor(_total(V, n, d, L)),
    lambda V, n, d, L: Decimal(_total(V, n, d, L)),
    lambda vocab_size, n_ctx, n_embd, n_layer: np.int64(_total(vocab_size, n_ctx, n_embd, n_layer)),
]
WRONG["3.2"] = [
    ("counted twice", lambda *sizes: _total(*sizes, tables=2)),
    ("position table is missing", lambda V, n, d, L: _total(V, 0, d, L)),
    ("the token table is missing", lambda *sizes: _total(*sizes, tables=0)),
    ("both tables are missing", lambda V, n, d, L: _total(0, 0, d, L)),
    ("the final layer norm is missing", lambda *sizes: _total(*sizes, norm=0)),
    ("a scale and a shift", lambda *sizes: _total(*sizes, norm=1)),
    ("counted in every block", lambda V, n, d, L: V * d + n * d + L * (12 * d * d + 13 * d + 2 * d)),
    ("there are n_layer of them", lambda V, n, d, L: _total(V, n, d, 1)),
    ("only the blocks repeat", lambda V, n, d, L: L * _total(V, n, d, 1)),
    ("head has no bias", lambda V, n, d, L: _total(V, n, d, L) + V),
    ("has neither", lambda V, n, d, L: _total(V, n, d, L, tables=2) + V),
    ("counted as one number", lambda V, n, d, L: V * d + n + L * (12 * d * d + 13 * d) + 2 * d),
    ("matrices alone", lambda V, n, d, L: V * d + n * d + 12 * L * d * d + 2 * d),
    ("these are the blocks", lambda V, n, d, L: L * (12 * d * d + 13 * d)),
    ("two tables alone", lambda V, n, d, L: (V + n) * d),
    ("layer norms in the blocks", lambda V, n, d, L: V * d + n * d + L * (12 * d * d + 9 * d) + 2 * d),
    ("same result in every case", lambda V, n, d, L: 106),
    ("no position table", lambda V, n, d, L: _total(V, 0, d, L, tables=2)),
    ("both tables are counted twice", lambda V, n, d, L: _total(2 * V, 2 * n, d, L)),
    ("causal mask", lambda V, n, d, L: _total(V, n, d, L) + L * n**2),
    ("tables and matrices alone", lambda V, n, d, L: (V + n) * d + 12 * L * d * d),
    ("12 L d² and the token table", lambda V, n, d, L: V * d + 12 * L * d * d),
    ("those in the blocks and the final one", lambda V, n, d, L: (V + n) * d + L * (12 * d * d + 9 * d)),
    ("biases of the blocks", lambda V, n, d, L: (V + n) * d + L * (12 * d * d + 4 * d) + 2 * d),
    ("position table and the final", lambda V, n, d, L: V * d + L * _block(d)),
    ("12 L d², the blocks", lambda V, n, d, L: 12 * L * d * d),
    ("number is not", lambda V, n, d, L: _total(V, n, d, L) + 1),
    ("raised", lambda cfg: _total(cfg.vocab_size, cfg.n_ctx, cfg.n_embd, cfg.n_layer)),
    ("a single number", lambda V, n, d, L: (V * d, n * d, L * (12 * d * d + 13 * d), 2 * d)),
]

# 3.3 the share

RIGHT["3.3"] = [
    lambda V, n, d, L: V * d / _total(V, n, d, L),
    lambda V, n, d, L: V / (V + n + L * (12 * d + 13) + 2),
    lambda V, n, d, L: Fraction(V * d, _total(V, n, d, L)),
    lambda V, n, d, L: torch.tensor(V * d) / _total(V, n, d, L),
    lambda V, n, d, L: np.float64(V * d) / gpt_params(V, n, d, L),
    lambda V, n, d, L: 1 - (n * d + L * _block(d) + 2 * d) / _total(V, n, d, L),
]
WRONG["3.3"] = [
    ("per cent", lambda V, n, d, L: 100 * V * d / _total(V, n, d, L)),
    ("share of the untied", lambda V, n, d, L: V * d / _total(V, n, d, L, tables=2)),
    ("position table is counted in", lambda V, n, d, L: (V * d + n * d) / _total(V, n, d, L)),
    ("all the rest", lambda V, n, d, L: 1 - V * d / _total(V, n, d, L)),
    ("divided by the rest", lambda V, n, d, L: V * d / _total(0, n, d, L)),
    ("divided by the blocks", lambda V, n, d, L: V * d / (L * _block(d))),
    ("by the two tables", lambda V, n, d, L: V * d / (V * d + n * d)),
    ("counted as 12 L d²", lambda V, n, d, L: V / (V + 12 * L * d)),
    ("without the position table", lambda V, n, d, L: V * d / _total(V, 0, d, L)),
    ("on its head", lambda V, n, d, L: _total(V, n, d, L) / (V * d)),
    ("both tables of an untied", lambda V, n, d, L: 2 * V * d / _total(V, n, d, L, tables=2)),
    ("two token tables", lambda V, n, d, L: 2 * V * d / _total(V, n, d, L)),
    ("rounded down", lambda V, n, d, L: V * d // _total(V, n, d, L)),
    ("position table's share", lambda V, n, d, L: n * d / _total(V, n, d, L)),
    ("size of the table", lambda V, n, d, L: V * d),
    ("number of rows", lambda V, n, d, L: V / _total(V, n, d, L)),
    ("are rounded", lambda V, n, d, L: round(V * d / _total(V, n, d, L), 2)),
    ("are rounded", lambda V, n, d, L: round(V * d / _total(V, n, d, L), 4)),
    ("same result in every case", lambda V, n, d, L: 0.1887),
    ("returns a str", lambda V, n, d, L: f"{V * d / _total(V, n, d, L):.1%}"),
]

# 3.4 the widest


def _widest(budget, V, n, L, H):
    width = H
    while _total(V, n, width + H, L) <= budget:
        width += H
    return width


def _by_root(budget, V, n, L, H):
    b = V + n + 13 * L + 2
    width = (math.isqrt(b * b + 48 * L * budget) - b) // (24 * L)
    return width // H * H


def _exact_width(budget, V, n, L, H, small=1):
    """Where the count is the budget; with small=0 without biases and layer norms."""
    b = V + n + small * (13 * L + 2)
    return (-b + math.sqrt(b**2 + 4 * 12 * L * budget)) / (2 * 12 * L)


def _too_wide(budget, V, n, L, H):
    width = H
    while _total(V, n, width, L) <= budget:
        width += H
    return width


def _strictly(budget, V, n, L, H):
    width = H
    while _total(V, n, width + H, L) < budget:
        width += H
    return width


def _one_by_one(budget, V, n, L, H):
    width = 1
    while _total(V, n, width + 1, L) <= budget:
        width += 1
    return width


def _doubles(budget, V, n, L, H):
    width = H
    while _total(V, n, 2 * width, L) <= budget:
        width *= 2
    return width


def _stops_early(budget, V, n, L, H):
    for width in range(H, budget, H):
        if _total(V, n, width + H, L) > budget:
            return width - H
    return 0


RIGHT["3.4"] = [
    _widest,
    _by_root,
    lambda budget, V, n, L, H: _too_wide(budget, V, n, L, H) - H,
    lambda budget, V, n, L, H: _one_by_one(budget, V, n, L, H) // H * H,
    lambda budget, V, n, L, H: max(d for d in range(H, 1000, H) if gpt_params(V, n, d, L) <= budget),
    lambda budget, V, n, L, H: float(np.float64(_widest(budget, V, n, L, H))),
    lambda *case: torch.tensor(_widest(*case)),
]
WRONG["3.4"] = [
    ("multiple of n_head", _one_by_one),
    ("at most, not less than", _strictly),
    ("first width that is too wide", _too_wide),
    ("one step too narrow", _stops_early),
    ("rounded up", lambda budget, V, n, L, H: math.ceil(_one_by_one(budget, V, n, L, H) / H) * H),
    ("multiple of n_layer", lambda budget, V, n, L, H: _widest(budget, V, n, L, L)),
    ("number of its parameters", lambda budget, V, n, L, H: _total(V, n, _widest(budget, V, n, L, H), L)),
    ("tables are left out", lambda budget, V, n, L, H: _widest(budget, 0, 0, L, H)),
    ("only 12 L d²", lambda budget, V, n, L, H: int((budget / (12 * L)) ** 0.5) // H * H),
    ("counted twice", lambda budget, V, n, L, H: _widest(budget, 2 * V, n, L, H)),
    ("one block is counted", lambda budget, V, n, L, H: _widest(budget, V, n, 1, H)),
    ("narrowest", lambda budget, V, n, L, H: next(d for d in range(H, 99, H) if _total(V, n, d, L) <= budget)),
    ("doubled", _doubles),
    ("width of one head", lambda *case: _widest(*case) // case[-1]),
    ("a multiple of n_head at or below", lambda b, V, n, L, H: max(np.roots([12 * L, V + n + 13 * L + 2, -b]))),
    ("same result in every case", lambda *case: 64),
    ("rounded up to a multiple", lambda *case: math.ceil(_exact_width(*case) / case[-1]) * case[-1]),
    ("nearest multiple", lambda *case: round(_exact_width(*case) / case[-1]) * case[-1]),
    ("one too many", lambda *case: _one_by_one(*case) + 1),
    ("up to a whole number", lambda *case: math.ceil(_exact_width(*case))),
    ("nearest whole number", lambda *case: round(_exact_width(*case))),
    ("the position table is left out", lambda budget, V, n, L, H: _widest(budget, V, 0, L, H)),
    ("the token table is left out", lambda budget, V, n, L, H: _widest(budget, 0, n, L, H)),
    ("biases and layer norms", lambda *case: int(_exact_width(*case, small=0)) // case[-1] * case[-1]),
    ("left of the budget", lambda b, V, n, L, H: b - _total(V, n, _widest(b, V, n, L, H), L)),
    ("number is not", lambda *case: _widest(*case) + 3 * case[-1]),
    ("raised", lambda budget, V, n, L, H: max(d for d in range(0) if d)),
    ("returns None", lambda *case: print(end="")),
]

# 3.5 bytes

RIGHT["3.5"] = [
    lambda n, w: n * (w + w + 4 + 4),
    lambda n, w: 2 * n * w + 2 * n * 4,
    lambda n, w: float(n * (2 * w + 8)),
    lambda n, w: np.int64(n) * (2 * w + 8),
    lambda n, w: sum(torch.tensor([w, w, 4, 4])) * n,
    lambda n_params, weight_bytes: n_params * weight_bytes * 2 + n_params * 8,
]
WRONG["3.5"] = [
    ("weights alone", lambda n, w: n * w),
    ("only one of the two", lambda n, w: n * w + 2 * n * 4),
    ("one is counted", lambda n, w: 2 * n * w + 4 * n),
    ("two moments are missing", lambda n, w: n * w + n * w),
    ("in weight_bytes; they stay", lambda n, w: n * 4 * w),
    ("counted in 4 bytes; they have weight_bytes each", lambda n, w: n * 4 * 4),
    ("the gradients are counted in 4", lambda n, w: n * w + 3 * n * 4),
    ("further copy", lambda n, w: n * (w + w + 4 + 4 + 4)),
    ("moments alone", lambda n, w: 2 * n * 4),
    ("three numbers of weight_bytes", lambda n, w: n * w + n * w * 2),
    ("with 8 bytes each", lambda n, w: 2 * n * w + 2 * n * 8),
    ("one part alone", lambda n, w: n * w * 2 + 4 * 2),
    ("one part alone", lambda n, w: w + w + 8 * n),
    ("one moment is counted, and", lambda n, w: n * w + 4 * n),
    ("in thousands", lambda n, w: n * (2 * w + 8) / 1000),
    ("in MB", lambda n, w: n * (2 * w + 8) / 1e6),
    ("in GB", lambda n, w: n * (2 * w + 8) / 1e9),
    ("1,024 bytes", lambda n, w: n * (2 * w + 8) / 1024),
    ("1,048,576 bytes", lambda n, w: n * (2 * w + 8) / 2**20),
    ("1,073,741,824 bytes", lambda n, w: n * (2 * w + 8) / 1024**3),
    ("bits", lambda n, w: 8 * n * (2 * w + 8)),
    ("one parameter", lambda n, w: w + w + 4 + 4),
    ("number is not", lambda n, w: n * (4 * w + 8)),
    ("returns a str", lambda n, w: f"{n * (2 * w + 8)} bytes"),
]

# 3.6 the convention


def _nearest(stated, cfg):
    return min(conventions(cfg).items(), key=lambda item: abs(item[1] - stated))


def _convention(stated, cfg):
    name, count = _nearest(stated, cfg)
    return name if abs(count - stated) / count <= 0.01 else None


def _of_stated(stated, cfg):
    best, distance = None, 0.01 * stated
    for name, count in conventions(cfg).items():
        if abs(count - stated) <= distance:
            best, distance = name, abs(count - stated)
    return best


def _in_numpy(stated, cfg):
    names, counts = (np.array(part) for part in zip(*conventions(cfg).items(), strict=True))
    away = np.abs(counts / stated - 1)
    return names[away.argmin()] if away.min() <= 0.01 else None


def _within(bound):
    """A convention with a fixed distance allowed."""

    def convention(stated, cfg):
        name, count = _nearest(stated, cfg)
        return name if abs(count - stated) <= bound else None

    return convention


def _first_close(stated, cfg):
    for name, count in conventions(cfg).items():
        if abs(count - stated) / stated <= 0.01:
            return name
    return None


def _last_close(stated, cfg):
    found = None
    for name, count in conventions(cfg).items():
        if math.isclose(count, stated, rel_tol=0.01):
            found = name
    return found


def _signed(turn, rule=abs):
    """A distance without `abs`, in the search and perhaps in the rule."""

    def convention(stated, cfg):
        name, count = min(conventions(cfg).items(), key=lambda item: turn * (stated - item[1]))
        return name if rule(turn * (stated - count)) <= 0.01 * count else None

    return convention


def _exactly(stated, cfg):
    return {count: name for name, count in conventions(cfg).items()}.get(stated)


RIGHT["3.6"] = [
    _convention,
    _of_stated,
    _in_numpy,
    lambda stated, cfg: _convention(torch.tensor(float(stated), dtype=torch.float64), cfg),
    lambda stated, cfg: _convention(stated, GPTConfig(cfg.vocab_size, cfg.n_ctx, cfg.n_embd, cfg.n_layer, cfg.n_head)),
]
WRONG["3.6"] = [
    ("None each time", lambda stated, cfg: print(end="")),
    ("first name each time", lambda stated, cfg: next(iter(conventions(cfg)))),
    ("even if no count is near", lambda stated, cfg: _nearest(stated, cfg)[0]),
    ("only an exact number", _exactly),
    ("only an exact number", _within(0.01)),
    ("a fixed distance", _within(1_000)),
    ("a fixed distance", _within(1_000_000)),
    ("10 % is allowed", lambda s, cfg: _nearest(s, cfg)[0] if abs(_nearest(s, cfg)[1] / s - 1) < 0.1 else None),
    ("2 % is allowed", lambda s, cfg: _nearest(s, cfg)[0] if abs(_nearest(s, cfg)[1] / s - 1) < 0.02 else None),
    ("5 % is allowed", lambda s, cfg: _nearest(s, cfg)[0] if abs(_nearest(s, cfg)[1] / s - 1) < 0.05 else None),
    ("0.1 % is allowed", lambda s, cfg: _nearest(s, cfg)[0] if abs(_nearest(s, cfg)[1] / s - 1) < 0.001 else None),
    ("two results are swapped", lambda s, cfg: None if _convention(s, cfg) else _nearest(s, cfg)[0]),
    ("0.01 % is allowed", lambda s, cfg: _nearest(s, cfg)[0] if abs(_nearest(s, cfg)[1] / s - 1) < 0.0001 else None),
    ("first count within", _first_close),
    ("last count within", _last_close),
    ("largest count always wins", _signed(1)),
    ("largest count always wins", _signed(1, rule=lambda distance: distance)),
    ("smallest count always wins", _signed(-1)),
    ("smallest count always wins", _signed(-1, rule=lambda distance: distance)),
    ("one side only", lambda s, cfg: _nearest(s, cfg)[0] if s / _nearest(s, cfg)[1] < 1.01 else None),
    ("one side only", lambda s, cfg: _nearest(s, cfg)[0] if _nearest(s, cfg)[1] / s < 1.01 else None),
    ("farthest", lambda s, cfg: max(conventions(cfg), key=lambda name: abs(conventions(cfg)[name] - s))),
    ("its name is wanted", lambda s, cfg: _nearest(s, cfg)[1] if _convention(s, cfg) else None),
    ("even if it is more", lambda s, cfg: _nearest(s, cfg)[1]),
    ("in the list", lambda s, cfg: list(conventions(cfg)).index(_convention(s, cfg)) if _convention(s, cfg) else None),
    ("come together", lambda s, cfg: _nearest(s, cfg) if _convention(s, cfg) else None),
    ("in quotes", lambda s, cfg: str(_convention(s, cfg))),
    ("a bool, and None is wanted", lambda s, cfg: _convention(s, cfg) or False),
    ("None, and there is a name", lambda s, cfg: None if s == 114_944 else _convention(s, cfg)),
    ("not the right name", lambda s, cfg: _convention(s, cfg) and "params"),
    ("a name is returned", lambda s, cfg: _convention(s, cfg) or "all unique parameters"),
    ("a list, and a name", lambda s, cfg: _convention(s, cfg) and [_convention(s, cfg)]),
    ("raised", lambda s, cfg: conventions(cfg)[s]),
]
