"""Exercise 4.6: the whole loop, with models of which it is known what comes next, or how often."""

import math

import torch
import torch.nn.functional as F

from utils import validate
from utils.check.compare import as_array, brief
from utils.check.engine import Exercise, Verdict, Wrong, by_cases, call, judge
from utils.model import GPT, GPTConfig


class _Scripted(GPT):
    """A GPT whose scores follow a rule, ids (B, T) -> (B, T, V), and which says so."""

    def __init__(self, vocab_size, rule, says):
        super().__init__(GPTConfig(vocab_size=vocab_size, n_ctx=4, n_embd=2, n_layer=1, n_head=1))
        self.rule, self.says = rule, says

    def forward(self, ids):
        """ids (B, T) with T <= n_ctx -> logits (B, T, V)."""
        validate.token_ids(ids, self.config)
        return self.rule(ids)

    def __repr__(self):
        return self.says


def _certain_of_the_sum(ids):
    return 100.0 * F.one_hot(ids.cumsum(1) % 10, 10) - 50


def _adding():
    return _Scripted(10, _certain_of_the_sum, "a model sure of the last digit of the sum of what it sees, `n_ctx` = 4")


def _wavering(*scores):
    return _Scripted(len(scores), lambda ids: torch.tensor(scores).expand(*ids.shape, -1), f"the scores {scores}")


def _loop_cases():
    prompts = [
        ([[1, 2]], 1),
        ([[1, 2]], 3),
        ([[4], [7]], 2),
        ([[1, 2], [3, 5], [0, 8]], 2),
        ([[1, 2, 3]], 4),
        ([[1, 2, 3, 4, 5, 6]], 2),
        ([[1, 2]], 0),
    ]
    return [(_adding(), torch.tensor(ids), new, 1.0, torch.Generator().manual_seed(0)) for ids, new in prompts]


def _last_of(ids, n_ctx):
    return ids[:, -n_ctx:]


def _append(ids, new):
    return torch.cat([ids, new], 1)


def _loop(see=_last_of, place=-1, join=_append, more=0, done=lambda ids, prompt: ids, grows=True):
    """The loop, or one with a fault: greedy, which is as good as a draw when the model is certain."""

    def run(model, ids, max_new_tokens, temperature, generator):
        prompt = read = ids
        for _ in range(max_new_tokens + more):
            scores = model(see(read, model.config.n_ctx))[:, place]
            ids = join(ids, scores.argmax(-1, keepdim=True))
            read = ids if grows else prompt
        return done(ids, prompt)

    return run


def _loses_the_start(model, ids, max_new_tokens, temperature, generator):
    for _ in range(max_new_tokens):
        ids = _last_of(ids, model.config.n_ctx)
        ids = _append(ids, model(ids)[:, -1].argmax(-1, keepdim=True))
    return ids


def _needs_a_step(model, ids, max_new_tokens, *rest):
    if max_new_tokens == 0:
        raise ValueError
    return _loop()(model, ids, max_new_tokens, *rest)


_by_cases = by_cases(
    _loop_cases,
    right=_loop(),
    mistakes=(
        (
            "only the new tokens are there; the prompt comes before them.",
            _loop(done=lambda ids, p: ids[:, p.shape[1] :]),
        ),
        (
            "this is the prompt alone: each new token must be joined to `ids`, under that name.",
            _loop(done=lambda ids, p: p),
        ),
        (
            "what is returned is cropped as well; crop what the model reads, and keep `ids` whole.",
            _loop(done=lambda ids, p: ids[:, -4:]),
        ),
        (
            "only the last token drawn is there; the prompt and all new tokens are wanted.",
            _loop(done=lambda ids, p: ids[:, -1:]),
        ),
        ("one token too many is made.", _loop(more=1)),
        ("one token is missing.", _loop(more=-1)),
        (
            "a single token is made: does a return stand inside the loop?",
            lambda m, ids, n, *rest: _loop()(m, ids, min(n, 1), *rest),
        ),
        (
            "a text longer than the context stops the model; give it the last `model.config.n_ctx` tokens.",
            _loop(see=lambda ids, n_ctx: ids),
        ),
        (
            "of a long text the model is given the start; it needs the last `model.config.n_ctx` tokens.",
            _loop(see=lambda ids, n_ctx: ids[:, :n_ctx]),
        ),
        ("the model is given one token fewer than it has room for.", _loop(see=lambda ids, n_ctx: ids[:, 1 - n_ctx :])),
        (
            "the model is given the last token only; without a cache it needs those before it too.",
            _loop(see=lambda ids, n_ctx: ids[:, -1:]),
        ),
        (
            "rows are cut off, not tokens: a text runs along the second axis.",
            _loop(see=lambda ids, n_ctx: ids[-n_ctx:]),
        ),
        ("the text loses its start: crop what the model reads, and keep `ids` whole.", _loses_the_start),
        ("the model reads the prompt again in each step; it must read the new tokens too.", _loop(grows=False)),
        ("the scores are those after the first token; the next one comes after the last.", _loop(place=0)),
        (
            "the new token stands in front of the text; it comes at its end.",
            _loop(join=lambda ids, new: torch.cat([new, ids], 1)),
        ),
        (
            "the new token becomes a row of its own; join it along the second axis.",
            _loop(join=lambda ids, new: torch.cat([ids, new], 0)),
        ),
        (
            "every row gets the first row's token; each row has a distribution of its own.",
            _loop(join=lambda ids, new: _append(ids, new[:1].expand_as(new))),
        ),
        (
            "only the first row of the batch is continued; every row is wanted.",
            lambda m, ids, *rest: _loop()(m, ids[:1], *rest),
        ),
        (
            "the last token is replaced; the new one comes after it.",
            _loop(join=lambda ids, new: _append(ids[:, :-1], new)),
        ),
        ("with max_new_tokens = 0 it stops; nothing is added then, and the prompt is the result.", _needs_a_step),
    ),
)


def _run(function, model, ids, steps, temperature=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return call(function, model, ids, steps, temperature, generator)


def _drawn(function, model, rows, steps, **how):
    """The new tokens (rows, steps) after a prompt of one token 0."""
    tokens = as_array(_run(function, model, torch.zeros(rows, 1, dtype=torch.int64), steps, **how))
    if tokens is None or tokens.shape != (rows, 1 + steps):
        raise Wrong(
            f"{rows} rows of 1 token and {steps} new ones have the shape ({rows}, {1 + steps}), and yours do not."
        )
    return torch.from_numpy(tokens[:, 1:])


def _require_probabilities(function):
    """Wrong if what is drawn from is no distribution, or another one than the model's."""
    ids = torch.tensor([[1, 2]])
    try:
        first, second = (_run(function, _adding(), ids, 3, seed=seed) for seed in (0, 1))
    except Wrong as fault:
        if "probability tensor" in str(fault):
            said = str(fault).removeprefix("your function ")
            raise Wrong(
                f"the draw is given numbers that are no probabilities; is a softmax missing?\n  yours   {said}"
            ) from None
        return
    given, other = as_array(first), as_array(second)
    if (
        given is not None
        and other is not None
        and given.shape == (1, 5)
        and (given.shape, given.tolist()) != (other.shape, other.tolist())
    ):
        raise Wrong(
            "the model is certain, and other seeds still give other tokens: the draw does not follow its "
            "probabilities. Does the softmax run along the vocabulary, the last axis?\n"
            f"  input   {_adding()}, {brief(ids)}, 3\n  yours   {brief(first)}, {brief(second)}\n"
            "  wanted  [[1, 2, 3, 6, 2]] each time"
        )


def _require_chance(function):
    """Wrong if two equally likely tokens do not both come, here and there, in each row."""
    tokens = _drawn(function, _wavering(0.0, 0.0, -50.0), 4, 16)
    counts = [int((tokens == token).sum()) for token in range(3)]
    seen = f"\n  yours   of 64 new tokens, 0 and 1 being equally likely: {counts[0]} times 0, {counts[1]} times 1"
    if max(counts) == tokens.numel():
        raise Wrong(f"the likeliest token is taken each time; draw one by the probabilities.{seen}")
    if (tokens == tokens[:, :1]).all():
        raise Wrong(
            f"each row repeats its first draw: is the generator seeded, or the draw made, once and for all?{seen}"
        )
    if (tokens == tokens[:1]).all():
        raise Wrong(f"all rows draw the same; each row needs a draw of its own.{seen}")
    if counts[2]:
        raise Wrong(f"a token of almost no probability came {counts[2]} times; draw by the probabilities.{seen}")


def _require_generator(function):
    """Wrong if the chance comes from elsewhere than the generator given."""
    model = _wavering(0.0, 0.0)
    before = torch.get_rng_state()
    first, again, other = (_drawn(function, model, 2, 16, seed=seed) for seed in (5, 5, 6))
    if not torch.equal(first, again):
        raise Wrong("the same seed gives other tokens the second time: draw with the generator that you are given.")
    if torch.equal(first, other):
        raise Wrong("every seed gives the same tokens; the generator comes seeded, so draw with it as it is.")
    if not torch.equal(before, torch.get_rng_state()):
        raise Wrong("PyTorch's own generator is used or seeded; draw with the one that you are given, and leave that.")


def _require_temperature(function):
    """Wrong if the less likely of two tokens does not come as often as a temperature above 1, and one below, has it."""
    for higher, temperature in ((3.0, 2.0), (1.0, 0.5)):
        drawn = _drawn(function, _wavering(higher, 0.0), 40, 50, temperature=temperature)
        share = float((drawn == 1).float().mean())
        wanted, *mistaken = (
            1 / (1 + math.exp(higher * by)) for by in (1 / temperature, 1, temperature, temperature**-2)
        )
        if abs(share - wanted) < 0.05:  # five standard deviations of 2,000 draws
            continue
        near, why = min((abs(share - other), why) for other, why in zip(mistaken, _TEMPERATURES, strict=True))
        why = why if near < 0.03 else "the tokens do not come as often as they should."
        shown = f"\n  input   scores [{higher:.0f}, 0], temperature {temperature:g}, 2000 draws"
        raise Wrong(f"{why}{shown}\n  yours   token 1 in {share:.1%} of them\n  wanted  about {wanted:.1%}")


_TEMPERATURES = (
    "the temperature has no effect here; it divides the scores, before the softmax.",
    "a high temperature sharpens: the scores are multiplied by it, and they are divided by it.",
    "the scores are divided by the temperature twice, or by its square; divide once.",
)


def _require_whole_numbers(function):
    """Wrong if what it returns could not be looked up in a table."""
    result = as_array(_run(function, _adding(), torch.tensor([[1, 2]]), 1))
    if result is not None and result.dtype.kind == "f":
        raise Wrong("the tokens are right, but as floats; ids choose rows of a table, so they are whole numbers.")


def _loop_probe(function):
    _require_probabilities(function)
    _by_cases(function)
    _require_whole_numbers(function)
    _require_chance(function)
    _require_generator(function)
    _require_temperature(function)


LOOP = Exercise(
    number="4.6",
    target="An example: ids [[1, 2]], 3 new tokens, and a model that is sure of the last digit of the sum of "
    "what it sees give [[1, 2, 3, 6, 2]].",
    probe=_loop_probe,
    meaning="predict, draw, append, repeat: this loop and a trained model are all that writes text.",
    hints=(
        "In each step: the last scores (4.1), their probabilities (4.2), one draw in each row, and it joins `ids`.",
        "`torch.multinomial` draws from rows of probabilities and takes a generator; it gives (B, 1), as `cat` needs.",
        "Crop what the model reads, and give the whole of `ids` back. The loop runs `max_new_tokens` times.",
    ),
)


def ex_4_6(answer) -> Verdict:
    """Exercise 4.6: the loop. answer(model, ids (B, T), max_new_tokens, temperature, generator) -> (B, T + new)."""
    return judge(LOOP, answer)
