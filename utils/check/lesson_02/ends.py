"""Exercises 2.1 and 2.6: the two tables on the way in, and the whole way from ids to logits."""

import torch
import torch.nn.functional as F

from utils.check.engine import Exercise, Verdict, by_cases, judge
from utils.check.lesson_02.parts import Function, normal


def _embed_cases():
    small = torch.tensor([[1.0, 1], [2, 2], [3, 3], [4, 4]])
    positions = torch.tensor([[10.0, 0], [20, 0], [30, 0], [40, 0], [50, 0], [60, 0]])
    return [
        (torch.tensor([[3, 1, 3], [0, 0, 2]]), small, positions),
        (torch.tensor([[0, 4, 2, 4], [1, 1, 3, 0]]), normal(5, 3, seed=1), normal(9, 3, seed=2)),
        (torch.tensor([[2, 0, 1], [0, 0, 2], [1, 2, 1]]), normal(3, 4, seed=3), normal(12, 4, seed=4)),
        (torch.tensor([[3, 0, 2, 1, 1]]), normal(5, 2, seed=5), normal(5, 2, seed=6)),
    ]


def _embed(ids, wte, wpe):
    return wte[ids] + wpe[: ids.shape[1]]


def _counted_on(ids):
    return torch.arange(ids.numel()).view(ids.shape)


EMBEDDING = Exercise(
    number="2.1",
    target="An example: ids [[1, 1]] with wte = [[1, 1], [2, 2]] and wpe = [[10, 0], [20, 0], [30, 0]] "
    "gives [[[12, 2], [22, 2]]].",
    probe=by_cases(
        _embed_cases,
        right=_embed,
        mistakes=(
            (
                "the position rows are missing: the same token is the same vector wherever it stands.",
                lambda ids, wte, wpe: wte[ids],
            ),
            (
                "these are the position rows; the token rows are missing.",
                lambda ids, wte, wpe: wpe[: ids.shape[1]].expand(len(ids), -1, -1),
            ),
            (
                "these are the position rows, for one sequence; the token rows are missing.",
                lambda ids, wte, wpe: wpe[: ids.shape[1]],
            ),
            (
                "the position table is read at the token's id; read it at the place where the token stands.",
                lambda ids, wte, wpe: wte[ids] + wpe[ids],
            ),
            (
                "positions are counted from 1; the first token stands at place 0.",
                lambda ids, wte, wpe: wte[ids] + wpe[1 : ids.shape[1] + 1],
            ),
            (
                "tokens and positions stand side by side, so the vectors are twice as wide; add them.",
                lambda ids, wte, wpe: torch.cat([wte[ids], wpe[: ids.shape[1]].expand(len(ids), -1, -1)], -1),
            ),
            (
                "the positions run along the batch; they run along a sequence, and every sequence starts at 0.",
                lambda ids, wte, wpe: wte[ids] + wpe[: len(ids), None],
            ),
            (
                "the positions are counted on from one sequence to the next; every sequence starts at 0.",
                lambda ids, wte, wpe: wte[ids] + wpe[_counted_on(ids)],
            ),
            (
                "these are the last rows of the position table; the places are counted from its start.",
                lambda ids, wte, wpe: wte[ids] + wpe[-ids.shape[1] :],
            ),
            (
                "the positions run backwards: the first token stands at place 0.",
                lambda ids, wte, wpe: wte[ids] + wpe[: ids.shape[1]].flip(0),
            ),
            ("the two rows are multiplied; add them.", lambda ids, wte, wpe: wte[ids] * wpe[: ids.shape[1]]),
            ("every token has the position row of place 0.", lambda ids, wte, wpe: wte[ids] + wpe[0]),
            (
                "every token has the position row of the last place; each has its own.",
                lambda ids, wte, wpe: wte[ids] + wpe[ids.shape[1] - 1],
            ),
            (
                "every token has the row of place T; the places are 0, 1, 2 and so on, up to T - 1.",
                lambda ids, wte, wpe: wte[ids] + wpe[ids.shape[1]],
            ),
            (
                "the whole position table is added; take as many of its rows as there are tokens.",
                lambda ids, wte, wpe: wte[ids] + wpe,
            ),
            (
                "the two tables are swapped: ids choose rows of wte, places choose rows of wpe.",
                lambda ids, wte, wpe: wpe[ids] + wte[: ids.shape[1]],
            ),
            (
                "the number of the place is added; add the row that wpe has for it.",
                lambda ids, wte, wpe: wte[ids] + torch.arange(ids.shape[1])[:, None],
            ),
            (
                "the token rows are multiplied by the root of the width, as in the first transformer; not so in GPT-2.",
                lambda ids, wte, wpe: wte[ids] * wte.shape[1] ** 0.5 + wpe[: ids.shape[1]],
            ),
            (
                "only the first sequence is there; each of the batch has its vectors.",
                lambda ids, wte, wpe: _embed(ids, wte, wpe)[0],
            ),
            (
                "this is the mean of the two rows; their sum is wanted.",
                lambda ids, wte, wpe: _embed(ids, wte, wpe) / 2,
            ),
        ),
    ),
    meaning="what a token is and where it stands become one vector, and the model learns to tell the two apart.",
    hints=(
        "Two look-ups and a sum. Which numbers choose the rows of each table?",
        "Indexing a table with ids of shape (B, T) gives (B, T, d). The places are 0, 1, ... up to T - 1.",
        "The position rows have the shape (T, d). Adding them to (B, T, d) gives each sequence the same ones.",
    ),
)


def _forward_cases():
    add, triple = Function("block(x) = x + 1", lambda x: x + 1), Function("block(x) = 3 x", lambda x: 3 * x)
    mix, scale = normal(4, 4, seed=3), normal(4, seed=4)
    real = [
        Function("a block", lambda x: x + x.cumsum(1) @ mix),
        Function("a block", lambda x: x + F.gelu(x @ mix)),
        Function("a block", lambda x: x + x.tanh()),
    ]
    norm = Function("layer norm", lambda x: F.layer_norm(x, (4,), scale))
    small, places = torch.tensor([[1.0, 0], [0, 1], [1, 2]]), torch.tensor([[0.0, 1], [1, 0], [2, 2]])
    return [
        (torch.tensor([[2, 0]]), small, places, [add, triple], Function("ln_f(x) = x / 2", lambda x: x / 2)),
        (torch.tensor([[0, 4, 2], [1, 1, 5]]), normal(6, 4, seed=1), normal(7, 4, seed=2), real, norm),
        (torch.tensor([[3, 0, 1, 1, 2]]), normal(4, 4, seed=5), normal(5, 4, seed=6), real[:2], norm),
    ]


def _through(x, blocks):
    for block in blocks:
        x = block(x)
    return x


def _forward(ids, wte, wpe, blocks, ln_f):
    return ln_f(_through(_embed(ids, wte, wpe), blocks)) @ wte.T


def _adding_again(ids, wte, wpe, blocks, ln_f):
    again = [lambda x, block=block: x + block(x) for block in blocks]
    return _forward(ids, wte, wpe, again, ln_f)


def _norm_after_each(ids, wte, wpe, blocks, ln_f):
    normed = [lambda x, block=block: ln_f(block(x)) for block in blocks]
    return _through(_embed(ids, wte, wpe), normed) @ wte.T


_FORWARD_MISTAKES = (
    (
        "the final layer norm is missing, between the last block and the head.",
        lambda ids, wte, wpe, blocks, ln_f: _through(_embed(ids, wte, wpe), blocks) @ wte.T,
    ),
    (
        "the final layer norm comes before the blocks; it comes after the last of them.",
        lambda ids, wte, wpe, blocks, ln_f: _through(ln_f(_embed(ids, wte, wpe)), blocks) @ wte.T,
    ),
    (
        "the final layer norm comes after every block; it comes once, after the last of them.",
        _norm_after_each,
    ),
    (
        "the positions are missing: the token rows alone go into the first block.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(wte[ids], blocks)) @ wte.T,
    ),
    (
        "the whole position table is added; take as many of its rows as there are tokens.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(wte[ids] + wpe, blocks)) @ wte.T,
    ),
    (
        "these are probabilities; the model gives the scores, and the softmax comes outside it.",
        lambda *case: _forward(*case).softmax(-1),
    ),
    (
        "these are logarithms of probabilities; the model gives the scores, and the softmax comes outside it.",
        lambda *case: _forward(*case).log_softmax(-1),
    ),
    (
        "these are the scores of the last place only; every place makes a prediction.",
        lambda *case: _forward(*case)[:, -1],
    ),
    (
        "these are the scores of the last place only; every place makes a prediction.",
        lambda *case: _forward(*case)[:, -1:],
    ),
    (
        "these are ids of the best tokens; a score for every token is wanted.",
        lambda *case: _forward(*case).argmax(-1),
    ),
    (
        "the blocks run from the last to the first; they run in the order of the list.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[::-1], ln_f),
    ),
    (
        "only the first block runs: does a return stand inside the loop?",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[:1], ln_f),
    ),
    (
        "each block is given the embeddings, so only the last one counts; give it the result of the one before.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[-1:], ln_f),
    ),
    (
        "every block is given the embeddings, and the results are added; give each the result of the one before.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(sum(block(_embed(ids, wte, wpe)) for block in blocks)) @ wte.T,
    ),
    (
        "the blocks are left out: the embeddings go straight to the head.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, [], ln_f),
    ),
    (
        "the blocks' results are added to the stream a second time; a block adds to it by itself.",
        _adding_again,
    ),
    (
        "the table is not turned round for the head: a score is a dot product with each of its rows.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(_embed(ids, wte, wpe), blocks)) @ wte,
    ),
    (
        "the scores are against the position table; the head is the token table.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(_embed(ids, wte, wpe), blocks)) @ wpe.T,
    ),
    (
        "the position table is read at the token's id; read it at the place where the token stands.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(wte[ids] + wpe[ids], blocks)) @ wte.T,
    ),
    (
        "positions are counted from 1; the first token stands at place 0.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe[1:], blocks, ln_f),
    ),
    (
        "the first block is left out: a list is counted from 0.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[1:], ln_f),
    ),
    (
        "the last block is left out; all of the list run.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[:-1], ln_f),
    ),
    (
        "the first block runs each time; each block of the list runs once.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, blocks[:1] * len(blocks), ln_f),
    ),
    (
        "the final layer norm comes twice; it comes once, after the last block.",
        lambda ids, wte, wpe, blocks, ln_f: _forward(ids, wte, wpe, [*blocks, ln_f], ln_f),
    ),
    (
        "the final layer norm also comes before the blocks; it comes once, after the last of them.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(ln_f(_embed(ids, wte, wpe)), blocks)) @ wte.T,
    ),
    (
        "only the first sequence is there; each of the batch has its scores.",
        lambda *case: _forward(*case)[0],
    ),
    (
        "these are the vectors after the final layer norm; the head, one score for each token, is missing.",
        lambda ids, wte, wpe, blocks, ln_f: ln_f(_through(_embed(ids, wte, wpe), blocks)),
    ),
    (
        "these are the vectors after the blocks; the final layer norm and the head are missing.",
        lambda ids, wte, wpe, blocks, ln_f: _through(_embed(ids, wte, wpe), blocks),
    ),
)

FORWARD = Exercise(
    number="2.6",
    target="An example: ids [[1]], wte = [[1, 0], [0, 1], [1, 1]], wpe = [[1, 1]], one block(x) = 2 x and "
    "ln_f(x) = x + 1 give the logits [[[3, 5, 8]]].",
    probe=by_cases(_forward_cases, right=_forward, mistakes=_FORWARD_MISTAKES),
    meaning="this is the whole GPT: one table at both ends, and between them blocks that add to one stream.",
    hints=(
        "Four stations: the two tables, the blocks one after another, the final layer norm, the head.",
        "Keep one variable x for the stream. Each block takes it and gives the new one.",
        "The head has no weights of its own: exercise 1.2 scored a vector against every row of the token table.",
    ),
)


def ex_2_1(answer) -> Verdict:
    """Exercise 2.1: tokens and positions. answer(ids (B, T), wte (V, d), wpe (n, d)) -> (B, T, d)."""
    return judge(EMBEDDING, answer)


def ex_2_6(answer) -> Verdict:
    """Exercise 2.6: the forward pass. answer(ids (B, T), wte (V, d), wpe (n, d), blocks, ln_f) -> logits (B, T, V)."""
    return judge(FORWARD, answer)
