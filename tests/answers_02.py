"""Answers to lesson 02's exercises, right and wrong: what tests/test_check.py tries."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}

# 2.1 tokens and positions


def _with_loops(ids, wte, wpe):
    x = torch.zeros(*ids.shape, wte.shape[1])
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            x[b, t] = wte[ids[b, t]] + wpe[t]
    return x


def _with_layers(ids, wte, wpe):
    tokens, places = nn.Embedding.from_pretrained(wte), nn.Embedding(*wpe.shape)
    places.weight = nn.Parameter(wpe)
    return tokens(ids) + places(torch.arange(ids.size(1)))


def _in_place_sum(ids, wte, wpe):
    x = wte[ids]
    x += wpe[: ids.shape[1]]
    return x


def _spoils_wte(ids, wte, wpe):
    wte += 1
    return wte[ids] + wpe[: ids.shape[1]]


def _only_the_first_sequence(ids, wte, wpe):
    return wte[ids[0]] + wpe[: ids.shape[1]]


RIGHT["2.1"] = [
    _with_loops,
    _with_layers,
    _in_place_sum,
    lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(ids.shape[1])],
    lambda ids, wte, wpe: F.embedding(ids, wte) + wpe[None, : ids.shape[1]],
    lambda ids, wte, wpe: F.one_hot(ids, len(wte)).float() @ wte + wpe[: ids.shape[-1]],
    lambda ids, wte, wpe: wte.double()[ids] + wpe.double()[: ids.shape[1]],
    lambda ids, wte, wpe: wte.numpy()[ids.numpy()] + wpe.numpy()[: ids.shape[1]],
    lambda ids, wte, wpe: torch.stack([wte[row] + wpe[: len(row)] for row in ids]),
    lambda ids, wte, wpe: (wte[ids].mT + wpe[: ids.shape[1]].T).mT,
    lambda ids, wte, wpe: [[(wte[token] + wpe[t]).tolist() for t, token in enumerate(row)] for row in ids],
]
WRONG["2.1"] = [
    ("position rows are missing", lambda ids, wte, wpe: wte[ids]),
    ("token rows are missing", lambda ids, wte, wpe: wpe[torch.arange(ids.shape[1])].repeat(len(ids), 1, 1)),
    ("for one sequence", lambda ids, wte, wpe: wpe[torch.arange(ids.shape[1])]),
    ("at the token's id", lambda ids, wte, wpe: wte[ids] + wpe[ids]),
    ("counted from 1", lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(1, ids.shape[1] + 1)]),
    ("side by side", lambda ids, wte, wpe: torch.cat([wte[ids], wpe[: ids.shape[1]].repeat(len(ids), 1, 1)], dim=2)),
    ("along the batch", lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(len(ids))].unsqueeze(1)),
    ("counted on", lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(ids.numel())].view(*ids.shape, -1)),
    ("last rows", lambda ids, wte, wpe: wte[ids] + wpe[len(wpe) - ids.shape[1] :]),
    ("backwards", lambda ids, wte, wpe: wte[ids] + wpe[torch.arange(ids.shape[1] - 1, -1, -1)]),
    ("multiplied; add", lambda ids, wte, wpe: wte[ids] * wpe[: ids.shape[1]]),
    ("row of place 0", lambda ids, wte, wpe: wte[ids] + wpe[torch.zeros_like(ids)]),
    ("row of the last place", lambda ids, wte, wpe: wte[ids] + wpe[ids.shape[1] - 1]),
    ("row of place T", lambda ids, wte, wpe: wte[ids] + wpe[ids.size(1)]),
    ("whole position table", lambda ids, wte, wpe: wte[ids] + wpe),
    ("tables are swapped", lambda ids, wte, wpe: wpe[ids] + wte[: ids.shape[1]]),
    ("number of the place", lambda ids, wte, wpe: wte[ids] + torch.arange(ids.shape[1]).view(1, -1, 1)),
    ("root of the width", lambda ids, wte, wpe: wte[ids] * math.sqrt(wte.shape[-1]) + wpe[: ids.shape[1]]),
    ("mean of the two", lambda ids, wte, wpe: (wte[ids] + wpe[: ids.shape[1]]) / 2),
    ("argument 2 in place", _spoils_wte),
    ("only the first sequence", _only_the_first_sequence),
    ("the shape is", lambda ids, wte, wpe: torch.cat([wte[ids], wpe[: ids.shape[1]].repeat(len(ids), 1, 1)], dim=1)),
    ("values are not", lambda ids, wte, wpe: wte[ids] - wpe[: ids.shape[1]]),
    ("NaN", lambda ids, wte, wpe: (wte[ids] + wpe[: ids.shape[1]]) * torch.nan),
    ("raised", lambda ids, wte, wpe: wte(ids) + wpe(torch.arange(ids.shape[1]))),
]

# 2.2 the causal mask


def _filled(n_tokens):
    mask = torch.zeros(n_tokens, n_tokens, dtype=torch.bool)
    for row in range(n_tokens):
        mask[row, : row + 1] = True
    return mask


def _minus_infinity(n_tokens):
    return torch.full((n_tokens, n_tokens), -torch.inf).triu(1)


RIGHT["2.2"] = [
    _filled,
    lambda n_tokens: torch.tril(torch.ones(n_tokens, n_tokens)).bool(),
    lambda n_tokens: torch.ones(n_tokens, n_tokens).tril() == 1,
    lambda n_tokens: ~torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1),
    lambda n_tokens: torch.arange(n_tokens)[:, None] >= torch.arange(n_tokens),
    lambda n_tokens: torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu().T,
    lambda n_tokens: np.tri(n_tokens, dtype=bool),
    lambda n_tokens: [[column <= row for column in range(n_tokens)] for row in range(n_tokens)],
    lambda n_tokens: _minus_infinity(n_tokens) == 0,
]
WRONG["2.2"] = [
    ("as numbers", lambda n_tokens: torch.tril(torch.ones(n_tokens, n_tokens))),
    ("as numbers", lambda n_tokens: np.tri(n_tokens, dtype=int)),
    ("as numbers", lambda n_tokens: torch.ones(n_tokens, n_tokens, dtype=torch.uint8).tril()),
    ("to add to the scores", _minus_infinity),
    ("to add to the scores", lambda n_tokens: torch.full((n_tokens, n_tokens), -(10**9)).triu(1)),
    ("to add to the scores", lambda n_tokens: -1e9 * (1 - torch.ones(n_tokens, n_tokens).tril())),
    ("rows and columns are swapped", lambda n_tokens: torch.triu(torch.ones(n_tokens, n_tokens)).bool()),
    ("rows and columns are swapped", lambda n_tokens: _filled(n_tokens).T),
    ("look at itself", lambda n_tokens: torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril(-1)),
    ("as some libraries", lambda n_tokens: torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)),
    ("as some libraries", lambda n_tokens: torch.ones(n_tokens, n_tokens).tril() == 0),
    ("those after it too", lambda n_tokens: torch.ones(n_tokens, n_tokens, dtype=torch.bool)),
    ("one word ahead", lambda n_tokens: torch.ones(n_tokens, n_tokens).tril(diagonal=1).bool()),
    ("itself alone", lambda n_tokens: torch.eye(n_tokens).bool()),
    ("the one before it", lambda n_tokens: _filled(n_tokens) & ~_filled(n_tokens).tril(-2)),
    ("look at anything", lambda n_tokens: torch.zeros(n_tokens, n_tokens, dtype=torch.bool)),
    ("other side", lambda n_tokens: torch.fliplr(_filled(n_tokens))),
    ("numbers of the allowed", lambda n_tokens: torch.arange(n_tokens).expand(n_tokens, -1).tril()),
    ("counts how many", lambda n_tokens: torch.arange(1, n_tokens + 1)),
    ("the shape is (1, 1, 3, 3)", lambda n_tokens: _filled(n_tokens)[None, None]),
    ("the shape is (4, 4)", lambda n_tokens: _filled(n_tokens + 1)),
    ("values are not", lambda n_tokens: _filled(n_tokens).flip(0)),
    ("infinity", lambda n_tokens: torch.ones(n_tokens, n_tokens).tril().log() + 1),
    ("raised", lambda n_tokens: torch.tril(n_tokens)),
]

# 2.3 attention


def _scores(q, k, divide=lambda q: math.sqrt(q.shape[-1])):
    return q @ k.transpose(-2, -1) / divide(q)


def _masked(scores, with_=float("-inf"), triangle=torch.tril):
    return scores.masked_fill(triangle(torch.ones_like(scores)) == 0, with_)


def _attend(q, k, v):
    return F.softmax(_masked(_scores(q, k)), dim=-1) @ v


def _word_by_word(q, k, v):
    rows = []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k[..., : t + 1, :]).sum(-1) / q.shape[-1] ** 0.5
        rows.append((scores.softmax(-1).unsqueeze(-1) * v[..., : t + 1, :]).sum(-2))
    return torch.stack(rows, dim=-2)


def _renormalised(q, k, v):
    weights = torch.tril(_scores(q, k).softmax(-1))
    return weights / weights.sum(-1, keepdim=True) @ v


def _added_mask(q, k, v):
    mask = torch.full((q.shape[-2],) * 2, -1e9).triu(1)
    return (_scores(q, k) + mask).softmax(-1) @ v


def _in_numpy(q, k, v):
    q, k, v = (part.double().numpy() for part in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.tril(np.exp(scores - scores.max(-1, keepdims=True)))
    return weights / weights.sum(-1, keepdims=True) @ v


def _wrong_tokens(q, k, v):
    mask = torch.ones(len(q), len(q)).tril() == 1
    return _scores(q, k).masked_fill(~mask, -torch.inf).softmax(-1) @ v


def _as_many_as(place):
    """A mask for as many tokens as a place of the shape says, counted from the front."""

    def attend(q, k, v):
        ahead = torch.ones(q.shape[place], q.shape[place]).triu(1) == 1
        return _scores(q, k).masked_fill(ahead, -torch.inf).softmax(-1) @ v

    return attend


def _only_two_places(q, k, v):
    T, d_head = q.shape
    mask = torch.ones(T, T).tril() == 0
    return (q @ k.mT / d_head**0.5).masked_fill(mask, -torch.inf).softmax(-1) @ v


def _only_four_places(q, k, v):
    B, H, T, d_head = q.shape
    mask = torch.ones(B, H, T, T).tril() == 0
    return (q @ k.mT / d_head**0.5).masked_fill(mask, -torch.inf).softmax(-1) @ v


def _multiplied_infinity(q, k, v):
    forbidden = 1 - torch.ones(q.shape[-2], q.shape[-2]).tril()
    return (_scores(q, k) - forbidden * torch.inf).softmax(-1) @ v


def _spoils_q(q, k, v):
    q /= math.sqrt(q.shape[-1])
    return _masked(q @ k.mT).softmax(-1) @ v


RIGHT["2.3"] = [
    _attend,
    _word_by_word,
    _renormalised,
    _added_mask,
    _in_numpy,
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    lambda q, k, v: _masked(q / q.shape[-1] ** 0.25 @ (k / k.shape[-1] ** 0.25).mT).softmax(-1) @ v,
    lambda q, k, v: torch.einsum("...ts,...sd->...td", _masked(_scores(q, k)).softmax(-1), v),
    lambda q, k, v: _attend(q.double(), k.double(), v.double()),
    lambda q, k, v: _attend(q, k, v).requires_grad_(),
    lambda q, k, v: (v.mT @ _masked(_scores(q, k)).softmax(-1).mT).mT,
]
WRONG["2.3"] = [
    ("not divided by the root", lambda q, k, v: _masked(q @ k.mT).softmax(-1) @ v),
    ("its root is wanted", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[-1])).softmax(-1) @ v),
    ("number of tokens", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[-2] ** 0.5)).softmax(-1) @ v),
    ("multiplied by the root", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[-1] ** -0.5)).softmax(-1) @ v),
    ("after the softmax; divide", lambda q, k, v: _masked(q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5 @ v),
    ("there is no mask", lambda q, k, v: F.scaled_dot_product_attention(q, k, v)),
    ("neither a mask", lambda q, k, v: F.softmax(q @ k.mT, dim=-1) @ v),
    ("the mask comes after the softmax", lambda q, k, v: torch.tril(_scores(q, k).softmax(-1)) @ v),
    ("set to 0", lambda q, k, v: torch.tril(_scores(q, k)).softmax(-1) @ v),
    ("set to 0", lambda q, k, v: _masked(_scores(q, k), with_=0.0).softmax(-1) @ v),
    ("ones and zeros", lambda q, k, v: (_scores(q, k) + torch.ones(len(q), len(q)).tril()).softmax(-1) @ v),
    ("down the columns", lambda q, k, v: _masked(_scores(q, k)).softmax(0) @ v),
    ("down the columns", lambda q, k, v: _masked(_scores(q, k)).softmax(-2) @ v),
    ("q and k are swapped", lambda q, k, v: _masked(_scores(k, q)).softmax(-1) @ v),
    ("turned round", lambda q, k, v: _masked(_scores(q, k), triangle=torch.triu).softmax(-1) @ v),
    ("the first row is NaN", lambda q, k, v: _masked(_scores(q, k), triangle=lambda x: x.tril(-1)).softmax(-1) @ v),
    ("inside out", lambda q, k, v: _masked(_scores(q, k), triangle=lambda x: x.triu(1)).softmax(-1) @ v),
    ("still have to mix", lambda q, k, v: _masked(_scores(q, k)).softmax(-1)),
    ("a softmax and the values", lambda q, k, v: _masked(_scores(q, k))),
    ("the mask, a softmax and", lambda q, k, v: _scores(q, k)),
    ("the softmax is missing", lambda q, k, v: torch.tril(_scores(q, k)) @ v),
    ("mix the keys", lambda q, k, v: _attend(q, k, k)),
    ("mix the queries", lambda q, k, v: _attend(q, k, q)),
    ("plain mean", lambda q, k, v: v.cumsum(-2) / torch.arange(1, v.shape[-2] + 1)[:, None]),
    ("weights are turned", lambda q, k, v: _masked(_scores(q, k)).softmax(-1).mT @ v),
    ("`.T` turns all", lambda q, k, v: _masked(q @ k.T / q.shape[-1] ** 0.5).softmax(-1) @ v),
    ("places 1 and 2", lambda q, k, v: _masked(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(-1) @ v),
    ("places 0 and 1", lambda q, k, v: _masked(q @ k.transpose(0, 1) / q.shape[-1] ** 0.5).softmax(-1) @ v),
    ("of `shape[1]`", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[1] ** 0.5)).softmax(-1) @ v),
    ("of `shape[2]`", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[2] ** 0.5)).softmax(-1) @ v),
    ("mask has `shape[0]` rows", _wrong_tokens),
    ("mask has `shape[1]` rows", _as_many_as(1)),
    ("along the place 1", lambda q, k, v: _masked(_scores(q, k)).softmax(1) @ v),
    ("along the place 2", lambda q, k, v: _masked(_scores(q, k)).softmax(2) @ v),
    ("guesses its place", lambda q, k, v: F.softmax(_masked(_scores(q, k))) @ v),
    ("right for one head, (T, d_head), and not for a batch", _only_two_places),
    ("low number", lambda q, k, v: _masked(_scores(q, k), with_=-10.0).softmax(-1) @ v),
    ("plus infinity", lambda q, k, v: _masked(_scores(q, k), with_=float("inf")).softmax(-1) @ v),
    ("divided by 8", lambda q, k, v: _masked(_scores(q, k, lambda q: 8)).softmax(-1) @ v),
    ("one word ahead", lambda q, k, v: _masked(_scores(q, k), triangle=lambda x: x.tril(1)).softmax(-1) @ v),
    ("only the last word's", lambda q, k, v: _attend(q, k, v)[..., -1, :]),
    ("number of tokens", lambda q, k, v: _masked(_scores(q, k, lambda q: q.shape[0] ** 0.5)).softmax(-1) @ v),
    ("right for several heads", _only_four_places),
    ("minus infinity times 0", _multiplied_infinity),
    ("infinity", lambda q, k, v: _attend(q, k, v) + torch.inf),
    ("in place", _spoils_q),
    ("returns None", lambda q, k, v: None if v.numel() else v),
    ("raised", lambda q, k, v: _masked(q @ k / 2).softmax(-1) @ v),
    ("values are not", lambda q, k, v: q + _attend(q, k, v)),
]

# 2.4 split and merge


def _split(x, n_head):
    B, T, d = x.shape
    return x.view(B, T, n_head, d // n_head).transpose(1, 2)


def _merge(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d_head)


def _split_by_slices(x, n_head):
    width = x.shape[-1] // n_head
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(n_head)], dim=1)


def _view_after_an_exchange(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).view(B, T, H * d_head)


def _spoils_x(x, n_head):
    heads = _split(x, n_head).contiguous()
    x.zero_()
    return heads


RIGHT["2.4"] = [
    (_split, _merge),
    (_split_by_slices, lambda x: torch.cat(list(x.unbind(1)), dim=-1)),
    (
        lambda x, n_head: x.reshape(*x.shape[:2], n_head, -1).permute(0, 2, 1, 3).contiguous(),
        lambda x: x.permute(0, 2, 1, 3).flatten(start_dim=2),
    ),
    (
        lambda x, n_head: torch.stack(x.chunk(n_head, dim=-1), 1).double(),
        lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=2),
    ),
    (
        lambda x, n_head: x.numpy().reshape(*x.shape[:2], n_head, -1).transpose(0, 2, 1, 3),
        lambda x: x.numpy().swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1),
    ),
    (
        functools.partial(lambda times, x, n_head: times * _split(x, n_head), 1),
        lambda x: torch.einsum("bhtd->bthd", x).reshape(len(x), x.size(2), -1).tolist(),
    ),
]
WRONG["2.4"] = [
    ("`split_heads`: the words are mixed", (lambda x, h: x.view(len(x), h, x.shape[1], x.shape[2] // h), _merge)),
    ("(B, T, H, d_head)", (lambda x, h: x.view(*x.shape[:2], h, x.shape[2] // h), _merge)),
    ("every H-th number", (lambda x, h: x.view(*x.shape[:2], -1, h).permute(0, 3, 1, 2), lambda x: x)),
    ("n_head and d_head are swapped", (lambda x, h: _split(x, x.shape[-1] // h), _merge)),
    ("before the batch", (lambda x, h: torch.stack(x.chunk(h, dim=-1)), _merge)),
    ("before the batch", (lambda x, h: x.chunk(h, dim=-1), _merge)),
    ("(B, H, d_head, T)", (lambda x, h: x.view(*x.shape[:2], h, -1).permute(0, 2, 3, 1), _merge)),
    ("words and not the width", (lambda x, h: x.view(len(x), h, x.shape[1] // h, x.shape[2]), _merge)),
    ("whole width", (lambda x, h: x.unsqueeze(1).repeat(1, h, 1, 1), _merge)),
    ("x as it was; the heads need", (lambda x, h: x, _merge)),
    ("first head alone; all of them are wanted", (lambda x, h: x[..., : x.shape[-1] // h], _merge)),
    ("the shape is (2, 2, 2)", (lambda x, h: _split(x, h).flatten(0, 1), _merge)),
    ("`split_heads`: your function raised", (lambda x, h: x.view(*x.shape[:2], h, h + 1), _merge)),
    ("in place", (_spoils_x, _merge)),
    ("`merge_heads`: the words are mixed", (_split, lambda x: x.reshape(len(x), x.shape[2], -1))),
    ("alternate", (_split, lambda x: x.permute(0, 2, 3, 1).reshape(len(x), x.shape[2], -1))),
    ("join the last two", (_split, lambda x: x.permute(0, 2, 1, 3))),
    ("added up", (_split, lambda x: x.sum(dim=1))),
    ("averaged", (_split, lambda x: x.float().mean(dim=1))),
    ("one behind the other", (_split, lambda x: x.reshape(len(x), -1, x.shape[-1]))),
    ("first head alone; all of them belong", (_split, lambda x: x[:, 0])),
    ("the exchange is of words", (_split, lambda x: x.transpose(2, 3).reshape(len(x), x.shape[2], -1))),
    ("(B, d, T)", (_split, lambda x: x.transpose(2, 3).flatten(1, 2))),
    ("x as it was; the heads have", (_split, lambda x: x)),
    ("stand last", (lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=-1), _merge)),
    ("the first d_head columns", (lambda x, h: _split(x, h).flip(1), _merge)),
    ("the words are joined too", (_split, lambda x: x.transpose(1, 2).flatten(1))),
    ("the words are joined too", (_split, lambda x: x.view(len(x), -1))),
    ("head 0's numbers come first", (_split, lambda x: torch.cat(list(x.unbind(1))[::-1], dim=-1))),
    ("Use .reshape", (_split, _view_after_an_exchange)),
    ("values are not", (_split, lambda x: _merge(x.flip(2)))),
    ("`merge_heads`: your function returns None", (_split, lambda x: None if x.numel() else x)),
    ("same result in every case", (_split, lambda x: torch.zeros(1, 2, 4))),
]

# 2.5 the block


def _pre_norm(x, ln_1, attn, ln_2, mlp):
    x = x + attn(ln_1(x))
    return x + mlp(ln_2(x))


class _AsModule(nn.Module):
    def forward(self, x, ln_1, attn, ln_2, mlp):
        return _pre_norm(x, ln_1, attn, ln_2, mlp)


def _adds_to_its_own(x, ln_1, attn, ln_2, mlp):
    x = x.clone()
    x += attn(ln_1(x))
    x += mlp(ln_2(x))
    return x


def _changes_x(x, ln_1, attn, ln_2, mlp):
    x += attn(ln_1(x))
    x += mlp(ln_2(x))
    return x


def _post_norm(x, ln_1, attn, ln_2, mlp):
    x = ln_1(x + attn(x))
    return ln_2(x + mlp(x))


def _starts_from(norm_1=False, norm_2=False):
    def block(x, ln_1, attn, ln_2, mlp):
        normed = ln_1(x)
        x = (normed if norm_1 else x) + attn(normed)
        normed = ln_2(x)
        return (normed if norm_2 else x) + mlp(normed)

    return block


RIGHT["2.5"] = [
    _pre_norm,
    _AsModule(),
    _adds_to_its_own,
    lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + mlp(ln_2(h)),
    lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(attn(ln_1(x)) + x)) + attn(ln_1(x)) + x,
    lambda x, ln_1, attn, ln_2, mlp: functools.reduce(lambda x, h: x + h[1](h[0](x)), [(ln_1, attn), (ln_2, mlp)], x),
    lambda *case: _pre_norm(*case).double().numpy(),
]
WRONG["2.5"] = [
    ("post-norm", _post_norm),
    ("both sums are missing", lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(attn(ln_1(x))))),
    ("takes the place of x", lambda x, ln_1, attn, ln_2, mlp: (h := attn(ln_1(x))) + mlp(ln_2(h))),
    ("stands alone", lambda x, ln_1, attn, ln_2, mlp: mlp(ln_2(x + attn(ln_1(x))))),
    ("both sums start", _starts_from(True, True)),
    ("the first sum starts", _starts_from(norm_1=True)),
    ("the second sum starts from the normalised", _starts_from(norm_2=True)),
    ("side by side, both", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x)) + mlp(ln_2(x))),
    ("behind one norm", lambda x, ln_1, attn, ln_2, mlp: (h := ln_1(x)) * 0 + x + attn(h) + mlp(h)),
    ("attention has added is lost", lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(x + attn(ln_1(x))))),
    ("ln_1 is used twice", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + mlp(ln_1(h))),
    ("ln_2 is used twice", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_2(x))) + mlp(ln_2(h))),
    ("norms are swapped", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_2(x))) + mlp(ln_1(h))),
    ("no norm in it", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(x)) + mlp(h)),
    ("ln_1 comes before it", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(x)) + mlp(ln_2(h))),
    ("ln_2 comes before it", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + mlp(h)),
    ("attention gathers before", lambda x, ln_1, attn, ln_2, mlp: (h := x + mlp(ln_2(x))) + attn(ln_1(h))),
    ("first, behind ln_1", lambda x, ln_1, attn, ln_2, mlp: (h := x + mlp(ln_1(x))) + attn(ln_2(h))),
    ("on what the two halves found", lambda x, ln_1, attn, ln_2, mlp: (h := x + ln_1(attn(x))) + ln_2(mlp(h))),
    ("only the first half", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1(x))),
    ("only the second half", lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(x))),
    ("multiply the stream", lambda x, ln_1, attn, ln_2, mlp: (h := attn(ln_1(x)) * x) * mlp(ln_2(h))),
    ("off the stream", lambda x, ln_1, attn, ln_2, mlp: (h := x - attn(ln_1(x))) - mlp(ln_2(h))),
    ("one sum", lambda x, ln_1, attn, ln_2, mlp: x + mlp(ln_2(attn(ln_1(x))))),
    ("a second time", lambda x, ln_1, attn, ln_2, mlp: (h := x + attn(ln_1(x))) + x + mlp(ln_2(h))),
    ("once more at the end", lambda x, ln_1, attn, ln_2, mlp: ln_2((h := x + attn(ln_1(x))) + mlp(ln_2(h)))),
    ("first half is post-norm", lambda x, ln_1, attn, ln_2, mlp: (h := ln_1(x + attn(x))) + mlp(ln_2(h))),
    ("second half is post-norm", lambda x, ln_1, attn, ln_2, mlp: ln_2((h := x + attn(ln_1(x))) + mlp(h))),
    ("attention's result alone", lambda x, ln_1, attn, ln_2, mlp: attn(ln_1(x))),
    ("argument 1 in place", _changes_x),
    ("values are not", lambda x, ln_1, attn, ln_2, mlp: 2 * _pre_norm(x, ln_1, attn, ln_2, mlp)),
    ("same result in every case", lambda x, ln_1, attn, ln_2, mlp: 90),
    ("raised", lambda x, ln_1, attn, ln_2, mlp: x + attn(ln_1)),
    ("returns None", lambda x, ln_1, attn, ln_2, mlp: print(end="")),
]

# 2.6 the forward pass


def _hidden(ids, wte, wpe, blocks):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        x = block(x)
    return x


def _forward(ids, wte, wpe, blocks, ln_f):
    return ln_f(_hidden(ids, wte, wpe, blocks)) @ wte.T


def _returns_in_the_loop(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        x = block(x)
        return ln_f(x) @ wte.T
    return x


def _not_chained(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        y = block(x)
    return ln_f(y) @ wte.T


def _adds_again(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        x = x + block(x)
    return ln_f(x) @ wte.T


def _norm_each_time(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    for block in blocks:
        x = ln_f(block(x))
    return x @ wte.T


def _norm_first(ids, wte, wpe, blocks, ln_f):
    x = ln_f(wte[ids] + wpe[: ids.shape[1]])
    for block in blocks:
        x = block(x)
    return x @ wte.T


def _norm_at_both_ends(ids, wte, wpe, blocks, ln_f):
    x = ln_f(wte[ids] + wpe[: ids.shape[1]])
    for block in blocks:
        x = block(x)
    return ln_f(x) @ wte.T


def _positions_by_id(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[ids]
    for block in blocks:
        x = block(x)
    return ln_f(x) @ wte.T


def _spoils_wpe(ids, wte, wpe, blocks, ln_f):
    x = wpe[: ids.shape[1]]
    x += wte[ids][0]
    return _forward(ids, wte, wpe, blocks, ln_f)


def _pops_blocks(ids, wte, wpe, blocks, ln_f):
    x = wte[ids] + wpe[: ids.shape[1]]
    while blocks:
        x = blocks.pop(0)(x)
    return ln_f(x) @ wte.T


def _with_a_head(ids, wte, wpe, blocks, ln_f):
    head = nn.Linear(*reversed(wte.shape), bias=False)
    head.weight = nn.Parameter(wte)
    return head(ln_f(_hidden(ids, wte, wpe, blocks)))


RIGHT["2.6"] = [
    _forward,
    _with_a_head,
    lambda ids, wte, wpe, blocks, ln_f: F.linear(ln_f(_hidden(ids, wte, wpe, blocks)), wte),
    lambda ids, wte, wpe, blocks, ln_f: torch.einsum("btd,vd->btv", ln_f(_hidden(ids, wte, wpe, blocks)), wte),
    lambda ids, wte, wpe, blocks, ln_f: torch.cat([_forward(row[None], wte, wpe, blocks, ln_f) for row in ids]),
    lambda *case: _forward(*case).double().numpy(),
    lambda ids, wte, wpe, blocks, ln_f: (
        functools.reduce(lambda x, f: f(x), [*blocks, ln_f], _hidden(ids, wte, wpe, [])) @ wte.T
    ),
]
WRONG["2.6"] = [
    ("final layer norm is missing", lambda ids, wte, wpe, blocks, ln_f: _hidden(ids, wte, wpe, blocks) @ wte.T),
    ("comes before the blocks", _norm_first),
    ("after every block", _norm_each_time),
    ("positions are missing", lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, 0 * wpe, blocks, ln_f)),
    (
        "whole position table",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(functools.reduce(lambda x, f: f(x), blocks, wte[ids] + wpe)) @ wte.T,
    ),
    ("these are probabilities", lambda *case: F.softmax(_forward(*case), dim=-1)),
    ("logarithms", lambda *case: F.log_softmax(_forward(*case), dim=-1)),
    ("the last place only", lambda *case: _forward(*case)[:, -1, :]),
    ("the last place only", lambda *case: _forward(*case)[:, [-1]]),
    ("ids of the best", lambda *case: _forward(*case).argmax(dim=-1)),
    ("from the last to the first", lambda ids, a, b, blocks, ln_f: _forward(ids, a, b, list(reversed(blocks)), ln_f)),
    ("only the first block", _returns_in_the_loop),
    ("given the embeddings, so", _not_chained),
    (
        "the results are added",
        lambda ids, wte, wpe, blocks, ln_f: (
            ln_f(torch.stack([block(_hidden(ids, wte, wpe, [])) for block in blocks]).sum(0)) @ wte.T
        ),
    ),
    ("blocks are left out", lambda ids, wte, wpe, blocks, ln_f: ln_f(wte[ids] + wpe[: ids.shape[1]]) @ wte.T),
    ("a second time", _adds_again),
    ("not turned round", lambda ids, wte, wpe, blocks, ln_f: ln_f(_hidden(ids, wte, wpe, blocks)) @ wte),
    ("against the position table", lambda ids, wte, wpe, blocks, ln_f: ln_f(_hidden(ids, wte, wpe, blocks)) @ wpe.T),
    ("is missing", lambda ids, wte, wpe, blocks, ln_f: ln_f(_hidden(ids, wte, wpe, blocks))),
    ("and the head are missing", lambda ids, wte, wpe, blocks, ln_f: _hidden(ids, wte, wpe, blocks)),
    ("at the token's id", _positions_by_id),
    ("counted from 1", lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe[1:], blocks, ln_f)),
    ("counted from 0", lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[1:], ln_f)),
    ("last block is left out", lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[:-1], ln_f)),
    ("runs each time", lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, [blocks[0] for _ in blocks], ln_f)),
    ("comes twice", lambda ids, wte, wpe, blocks, ln_f: ln_f(ln_f(_hidden(ids, wte, wpe, blocks))) @ wte.T),
    ("also comes before", _norm_at_both_ends),
    ("only the first sequence", lambda *case: _forward(*case)[0]),
    ("argument 3 in place", _spoils_wpe),
    ("argument 4 in place", _pops_blocks),
    ("values are not", lambda *case: _forward(*case) / 8),
    ("rounded", lambda *case: _forward(*case).round(decimals=3)),
    ("raised", lambda ids, wte, wpe, blocks, ln_f: blocks(wte[ids])),
    ("returns None", lambda *case: print(end="")),
]
