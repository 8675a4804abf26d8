"""Answers to exercise 2.4: from one wide vector to several heads, and back."""

import torch


def _split(x, n_head):
    B, T, d = x.shape
    return x.view(B, T, n_head, d // n_head).transpose(1, 2)


def _merge(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d_head)


def _view_after_an_exchange(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).view(B, T, H * d_head)


def _width_last_but_one(x, n_head):
    B, T, d = x.shape
    return x.view(B, T, n_head, d // n_head).permute(0, 2, 3, 1)


def _joins_words_too(x):
    joined = x.transpose(1, 2)
    return joined.flatten(1)


RIGHT = [
    (_split, _merge),
    (lambda x, n_head: torch.stack(x.chunk(n_head, dim=-1), 1).double(), lambda x: torch.cat([*x.unbind(1)], dim=-1)),
    (
        lambda x, n_head: x.numpy().reshape(*x.shape[:2], n_head, -1).transpose(0, 2, 1, 3),
        lambda x: x.numpy().swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1),
    ),
]
WRONG = [
    (
        "`split_heads`: your result does not change with `x`",
        (lambda x, H: torch.zeros(len(x), H, x.shape[1], 2), _merge),
    ),
    ("look    line 3 of `_width_last_but_one`", (_width_last_but_one, _merge)),
    ("look    line 3 of `_joins_words_too`", (_split, _joins_words_too)),
    ("Use .reshape", (_split, _view_after_an_exchange)),
    ("`x` in place", (lambda x, n_head: _split(x.zero_(), n_head), _merge)),
    ("`merge_heads`: your function returns None", (_split, lambda x: None if x.numel() else x)),
]
