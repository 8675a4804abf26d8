"""Exercise 4.6: the loop. answer(model, ids (B, T), max_new_tokens, temperature, generator) -> (B, T + new)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from utils import sampling, validate
from utils.check.calling import Nearly, Unclear, Wrong, call
from utils.check.cases import Cases, InTurn
from utils.check.compare import as_array
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


def _cases():
    prompts = [
        *(([[1, 2]], 1), ([[1, 2]], 3), ([[4], [7]], 2), ([[1, 2], [3, 5], [0, 8]], 2)),
        *(([[1, 2, 3]], 4), ([[1, 2, 3, 4, 5, 6]], 2), ([[1, 2]], 0)),
    ]
    return [(_adding(), torch.tensor(ids), new, 1.0, torch.Generator().manual_seed(0)) for ids, new in prompts]


def _loop(see=lambda ids: ids[:, -4:], taken=lambda new: new):
    """The loop, or one with a fault: greedy, which is as good as a draw when the model is certain."""

    def run(model, ids, max_new_tokens, temperature, generator):
        for _ in range(max_new_tokens):
            ids = torch.cat([ids, taken(model(see(ids))[:, -1].argmax(-1, keepdim=True))], 1)
        return ids

    return run


_MISTAKES = {
    "all rows get the token of the first; each has scores of its own.": _loop(taken=lambda new: new[:1].expand_as(new)),
    "a long text stops the model; give it the last `model.config.n_ctx` tokens.": _loop(lambda ids: ids),
}


def _drawn(function, scores, rows, steps, temperature=1.0, seed=0):
    """The new tokens (rows, steps) after a prompt of one token 0, from a model with the same scores throughout."""
    rule = lambda ids: torch.tensor(scores).expand(*ids.shape, -1)  # noqa: E731
    model = ScriptedModel(len(scores), rule, f"the scores {scores}")
    prompt = torch.zeros(rows, 1, dtype=torch.int64)
    tokens = as_array(call(function, model, prompt, steps, temperature, torch.Generator().manual_seed(seed)))
    if tokens is None or tokens.shape != (rows, 1 + steps):
        raise Unclear(f"{rows} rows of 1 token and {steps} new ones have the shape {(rows, 1 + steps)}; yours do not.")
    return torch.from_numpy(tokens[:, 1:])


def _require_own(function):
    """Wrong for the course's own loop, called or given."""
    used = "generate" in names_used(function) and plain(function).__globals__.get("generate") is sampling.generate
    if used or function is sampling.generate:
        raise Wrong("this is the course's own `generate`; write the loop yourself, with a `for`.")


def require_ids(result):
    """Nearly if tokens came out right, but as a tensor or array of floats."""
    if hasattr(result, "dtype") and as_array(result).dtype.kind == "f":
        raise Nearly("the tokens are right, but as floats; ids choose rows of a table, so they are whole numbers.")


def _require_chance(function):
    """Wrong if two equally likely tokens do not both come, here and there, in each row, as the generator has it."""
    tokens = _drawn(function, (0.0, 0.0, -50.0), 4, 16)
    counts = [int((tokens == token).sum()) for token in range(3)]
    before = torch.get_rng_state()
    again, other = (_drawn(function, (0.0, 0.0, -50.0), 4, 16, seed=seed) for seed in (0, 1))
    causes = {
        "the likeliest token is taken each time; draw one by the probabilities.": max(counts) == tokens.numel(),
        "each row repeats its first draw: is the generator seeded, or the draw made, once and for all?": (
            torch.equal(tokens, tokens[:, :1].expand(4, 16))
        ),
        "all rows draw the same; each needs a draw of its own.": torch.equal(tokens, tokens[:1].expand(4, 16)),
        f"a token of almost no probability came {counts[2]} times; draw by the probabilities.": counts[2] > 0,
        "the same seed gives other tokens the second time: draw with your generator.": not torch.equal(tokens, again),
        "every seed gives the same tokens; the generator comes seeded, use it as it is.": torch.equal(tokens, other),
        "PyTorch's own generator is used; leave that alone.": not torch.equal(before, torch.get_rng_state()),
    }
    if cause := next((text for text, is_so in causes.items() if is_so), None):
        seen = f"of 64 new tokens, 0 and 1 being equally likely: {counts[0]} times 0, {counts[1]} times 1"
        raise Wrong(f"{cause}\n  yours   {seen}")


_TEMPERATURES = {  # what the scores are multiplied by
    "the temperature has no effect here; it divides the scores, before the softmax.": lambda t: 1,
    "a high temperature sharpens: the scores are multiplied by it, and they are divided by it.": lambda t: t,
    "the scores are divided by the temperature twice, or by its square; divide once.": lambda t: 1 / t**2,
}


def _require_temperature(function):
    """Wrong if the less likely of two tokens does not come as often as a temperature above 1, and one below, has it."""
    for higher, t in ((3.0, 2.0), (1.0, 0.5)):
        share = float((_drawn(function, (higher, 0.0), 40, 50, t) == 1).float().mean())
        wanted, *mistaken = (
            1 / (1 + math.exp(higher * by)) for by in (1 / t, *(by(t) for by in _TEMPERATURES.values()))
        )
        if abs(share - wanted) < 0.05:  # five standard deviations of 2,000 draws
            continue
        shown = f"\n  input   scores [{higher:.0f}, 0], temperature {t:g}, 2000 draws"
        shown += f"\n  yours   token 1 in {share:.1%} of them\n  wanted  about {wanted:.1%}"
        near, cause = min((abs(share - other), text) for other, text in zip(mistaken, _TEMPERATURES, strict=True))
        if near < 0.03:
            raise Wrong(cause + shown)
        raise Unclear("the tokens do not come as often as they should.", shown)


EXERCISE = Exercise(
    target="An example: ids [[1, 2]], 3 new tokens, and a model that is sure of the last digit of the sum of "
    "what it sees give [[1, 2, 3, 6, 2]].",
    probe=InTurn(
        _require_own,
        Cases(_cases, right=_loop(), mistakes=_MISTAKES),
        _require_chance,
        _require_temperature,
        lambda function: require_ids(call(function, *_cases()[0])),
    ),
    meaning="predict, draw, append, repeat: this loop and a trained model are all that writes text.",
    hints=(
        "In each step: the last scores (4.1), their probabilities (4.2), one draw in each row, and it joins `ids`.",
        "`torch.multinomial` draws from rows of probabilities and takes a generator; it gives (B, 1), as `cat` needs.",
        "Crop what the model reads, and give the whole of `ids` back. The loop runs `max_new_tokens` times.",
    ),
)
