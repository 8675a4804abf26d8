"""Exercise 4.6: the loop. answer(model, ids (B, T), max_new_tokens, temperature, generator) -> (B, T + new)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from utils import sampling, validate
from utils.check.calling import Nearly, Unclear, Wrong, call
from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array, brief
from utils.check.engine import Exercise
from utils.check.source import names_used, plain
from utils.model import GPTConfig


class ScriptedModel(nn.Module):
    """A model whose scores follow a rule, ids (B, T) -> (B, T, V), and which says so."""

    def __init__(self, vocab_size, rule, says):
        super().__init__()
        self.config = GPTConfig(vocab_size=vocab_size, n_ctx=4, n_embd=2, n_layer=1, n_head=1)
        self.ln_f = nn.LayerNorm(2)  # whoever asks for its device finds a parameter
        self.rule, self.says = rule, says

    def forward(self, ids):
        """ids (B, T) with T <= n_ctx -> logits (B, T, V)."""
        validate.token_ids(ids, self.config)
        return self.rule(ids)

    def __deepcopy__(self, memo):
        return self  # nothing in it can be spoiled, and a search calls it a thousand times

    def __repr__(self):
        return self.says


def _adding():
    says = "a model sure of the last digit of the sum of what it sees, `n_ctx` = 4"
    return ScriptedModel(10, lambda ids: 100.0 * F.one_hot(ids.cumsum(1) % 10, 10) - 50, says)


def _wavering(*scores):
    says = f"the scores {scores}"
    return ScriptedModel(len(scores), lambda ids: torch.tensor(scores).expand(*ids.shape, -1), says)


def _cases():
    prompts = [
        *(([[1, 2]], 1), ([[1, 2]], 3), ([[4], [7]], 2), ([[1, 2], [3, 5], [0, 8]], 2)),
        *(([[1, 2, 3]], 4), ([[1, 2, 3, 4, 5, 6]], 2), ([[1, 2]], 0)),
    ]
    model = _adding()
    return [(model, torch.tensor(ids), new, 1.0, torch.Generator().manual_seed(0)) for ids, new in prompts]


def _last_of(ids, n_ctx):
    return ids[:, -n_ctx:]


def _loop(
    see=_last_of, join=lambda ids, new: torch.cat([ids, new], 1), done=lambda ids, prompt: ids, grows=True, whole=True
):
    """The loop, or one with a fault: greedy, which is as good as a draw when the model is certain."""

    def run(model, ids, max_new_tokens, temperature, generator):
        prompt = read = ids
        for _ in range(max_new_tokens):
            ids = ids if whole else _last_of(ids, model.config.n_ctx)
            new = model(see(read if whole else ids, model.config.n_ctx))[:, -1].argmax(-1, keepdim=True)
            ids = join(ids, new)
            read = ids if grows else prompt
        return done(ids, prompt)

    return run


_COMPARED = Cases(
    _cases,
    right=_loop(),
    mistakes={
        "only the new tokens are there; the prompt comes before them.": _loop(done=lambda ids, p: ids[:, p.shape[1] :]),
        "this is the prompt alone: each new token must be joined to `ids`, under that name.": (
            _loop(done=lambda ids, p: p)
        ),
        "what is returned is cropped as well; crop what the model reads, and keep `ids` whole.": (
            _loop(done=lambda ids, p: ids[:, -4:])
        ),
        "a text longer than the context stops the model; give it the last `model.config.n_ctx` tokens.": (
            _loop(see=lambda ids, n_ctx: ids)
        ),
        "of a long text the model is given the start; it needs the last `model.config.n_ctx` tokens.": (
            _loop(see=lambda ids, n_ctx: ids[:, :n_ctx])
        ),
        "the model is given the last token only; without a cache it needs those before it too.": (
            _loop(see=lambda ids, n_ctx: ids[:, -1:])
        ),
        "the new token becomes a row of its own; join it along the second dimension.": (
            _loop(join=lambda ids, new: torch.cat([ids, new]))
        ),
        "the new token stands in front of the text; it comes at its end.": (
            _loop(join=lambda ids, new: torch.cat([new, ids], 1))
        ),
        "the text loses its start: crop what the model reads, and keep `ids` whole.": _loop(whole=False),
        "the model reads the prompt again in each step; it must read the new tokens too.": _loop(grows=False),
        "the loop ends when the whole text has max_new_tokens tokens; that many come behind the prompt.": (
            lambda model, ids, new, *rest: _loop()(model, ids, new - ids.shape[1], *rest)
        ),
    },
)


def _run(function, model, ids, steps, temperature=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return call(function, model, ids, steps, temperature, generator)


def _drawn(function, model, rows, steps, **how):
    """The new tokens (rows, steps) after a prompt of one token 0."""
    tokens = as_array(_run(function, model, torch.zeros(rows, 1, dtype=torch.int64), steps, **how))
    if tokens is None or tokens.shape != (rows, 1 + steps):
        wanted = (rows, 1 + steps)
        raise Unclear(f"{rows} rows of 1 token and {steps} new ones have the shape {wanted}, and yours do not.")
    return torch.from_numpy(tokens[:, 1:])


def _require_own(function):
    """Wrong for the course's own loop, called or given."""
    used = "generate" in names_used(function) and plain(function).__globals__.get("generate") is sampling.generate
    if used or function is sampling.generate:
        raise Wrong("this is the course's own `generate`; write the loop yourself, with a `for`.")


_OF_MULTINOMIAL = {
    "probability tensor": "the draw is given numbers that are no probabilities; is a softmax missing?",
    "prob_dist must be 1 or 2": "the draw is given the scores after every token; the next one comes after the last.",
}


def _require_probabilities(function):
    """Wrong if what is drawn from is no distribution, or another one than the model's."""
    ids = torch.tensor([[1, 2]])
    try:
        first, second = (_run(function, _adding(), ids, 3, seed=seed) for seed in (0, 1))
    except Wrong as fault:
        for said, cause in _OF_MULTINOMIAL.items():
            if said in str(fault):
                raise Wrong(f"{cause}\n  yours   {str(fault).removeprefix('your function ')}") from None
        return
    given, other = as_array(first), as_array(second)
    if given is None or other is None or given.shape != (1, 5) or given.tolist() == other.tolist():
        return
    raise Unclear(
        "the model is certain, and other seeds still give other tokens: the draw does not follow its "
        "probabilities. Does the softmax run along the vocabulary, the last dimension?",
        f"\n  input   {_adding()}, {brief(ids)}, 3\n  yours   {brief(first)}, {brief(second)}\n"
        "  wanted  [[1, 2, 3, 6, 2]] each time",
    )


def require_ids(result):
    """Nearly if tokens came out right, but as a tensor or array of floats."""
    if hasattr(result, "dtype") and as_array(result).dtype.kind == "f":
        raise Nearly("the tokens are right, but as floats; ids choose rows of a table, so they are whole numbers.")


def _require_whole_numbers(function):
    require_ids(_run(function, _adding(), torch.tensor([[1, 2]]), 1))


def _require_chance(function):
    """Wrong if two equally likely tokens do not both come, here and there, in each row."""
    tokens = _drawn(function, _wavering(0.0, 0.0, -50.0), 4, 16)
    counts = [int((tokens == token).sum()) for token in range(3)]
    why = ""
    if max(counts) == tokens.numel():
        why = "the likeliest token is taken each time; draw one by the probabilities."
    elif (tokens == tokens[:, :1]).all():
        why = "each row repeats its first draw: is the generator seeded, or the draw made, once and for all?"
    elif (tokens == tokens[:1]).all():
        why = "all rows draw the same; each row needs a draw of its own."
    elif counts[2]:
        why = f"a token of almost no probability came {counts[2]} times; draw by the probabilities."
    if why:
        seen = f"of 64 new tokens, 0 and 1 being equally likely: {counts[0]} times 0, {counts[1]} times 1"
        raise Wrong(f"{why}\n  yours   {seen}")


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
        shown = f"\n  input   scores [{higher:.0f}, 0], temperature {temperature:g}, 2000 draws"
        shown += f"\n  yours   token 1 in {share:.1%} of them\n  wanted  about {wanted:.1%}"
        if near < 0.03:
            raise Wrong(why + shown)
        raise Unclear("the tokens do not come as often as they should.", shown)


_TEMPERATURES = (
    "the temperature has no effect here; it divides the scores, before the softmax.",
    "a high temperature sharpens: the scores are multiplied by it, and they are divided by it.",
    "the scores are divided by the temperature twice, or by its square; divide once.",
)

EXERCISE = Exercise(
    target="An example: ids [[1, 2]], 3 new tokens, and a model that is sure of the last digit of the sum of "
    "what it sees give [[1, 2, 3, 6, 2]].",
    probe=InTurn(
        _require_own,
        _require_probabilities,
        _COMPARED,
        _require_chance,
        _require_generator,
        _require_temperature,
        _require_whole_numbers,
    ),
    meaning="predict, draw, append, repeat: this loop and a trained model are all that writes text.",
    hints=(
        "In each step: the last scores (4.1), their probabilities (4.2), one draw in each row, and it joins `ids`.",
        "`torch.multinomial` draws from rows of probabilities and takes a generator; it gives (B, 1), as `cat` needs.",
        "Crop what the model reads, and give the whole of `ids` back. The loop runs `max_new_tokens` times.",
    ),
)
