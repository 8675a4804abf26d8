"""What the checks find out of any wrong function: what relates its results to the wanted ones, where it is wrong."""

import math

import pytest
import torch
from test_check import ask
from written import written

from utils.check.cases import Cases
from utils.check.engine import Exercise, judge
from utils.model import GPTConfig


def of(cases, right, wrong):
    """The first line of the verdict on one wrong function, without its "not yet: "."""
    text = judge("9.9", Exercise("target", Cases(lambda: cases, right), "meaning", ("hint",)), wrong).text
    return text.splitlines()[0].removeprefix("not yet: ")


def _tables():
    generator = torch.Generator().manual_seed(1)
    return [(torch.rand(shape, generator=generator) + 0.5,) for shape in ((2, 3), (4, 5), (3, 3))]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda x: -x, "the sign is turned"),
        (lambda x: 2 * x, "twice as much"),
        (lambda x: x * 1.3, "1.3 times what is wanted"),
        (lambda x: x + 7, "7 too much, in every case"),
        (lambda x: x - len(x), "the size of dimension 0 of `x` too little"),
        (lambda x: x * x.shape[1], "the size of dimension 1 of `x` times what is wanted"),
        (lambda x: 1 - x, "1 minus what is wanted"),
        (lambda x: x.log(), "the logarithm of what is wanted"),
        (lambda x: x.exp(), "the exponential of what is wanted"),
        (lambda x: 1 / x, "1 divided by what is wanted"),
        (lambda x: x.floor(), "behind the point is dropped"),
        (lambda x: x.softmax(-1), "a softmax is taken where none is wanted"),
        (lambda x: x.cumsum(-1), "`cumsum`"),
        (lambda x: x.T, "rows and columns are exchanged"),
        (lambda x: x.flip(1), "the order along dimension 1 is turned round"),
        (lambda x: x.roll(1, 1), "stands one place too late"),
        (lambda x: x.sum(-1), "the sum along the last dimension of what is wanted"),
        (lambda x: x.mean(), "the mean of what is wanted"),
        (lambda x: x.argmax(-1), "the place of the largest along the last dimension"),
        (lambda x: x[0], "the first of what is wanted along dimension 0, alone"),
        (lambda x: x[:, :2], "begins with this along dimension 1"),
        (lambda x: torch.cat([x, x]), "this begins with what is wanted along dimension 0"),
        (lambda x: x[:1].expand_as(x), "as the first should be"),
        (lambda x: x[None], "the right numbers in the shape (1, 2, 3); (2, 3) is wanted"),
        (lambda x: x.flatten().sort().values.view(x.shape), "in another order"),
        (lambda x: x.sort(-1).values, "sorted upwards; each belongs in its own place"),
        (lambda x: torch.cat([x[:1], 3 + x[1:] ** 2]), "right in the first row alone"),
        (lambda x: torch.cat([x[:, :-1], x[:, -1:] ** 2], 1), "right but for the last column"),
    ],
)
def test_what_relates_yours_to_the_wanted_is_told(wrong, words):
    assert words in of(_tables(), lambda x: x * 1, wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda n, d: n * d + 3 * d, "3 times `d` too much"),
        (lambda n, d: n * d - n * n, "`n` times `n` too little"),
        (lambda n, d: n * d * d, "`d` times what is wanted"),
        (lambda n, d: d, "`n` is not used"),
        (lambda n, d: n * d if n == 5 else n * d + n % 5, "right in 1 of 4 cases"),
        (lambda n, d: n * d if d > 1 else 99, "right except where `d` is 1"),
    ],
)
def test_a_count_is_related_to_its_inputs(wrong, words):
    assert words in of([(2, 7), (5, 3), (11, 1), (12, 4)], lambda n, d: n * d, wrong)


def test_results_that_are_missing_or_exchanged_are_named():
    cases, right = [(2, 7), (5, 3)], lambda n, d: (n, d, n * d)
    assert "missing: result 3 of 3" in of(cases, right, lambda n, d: (n, d))
    assert "in another order" in of(cases, right, lambda n, d: (d, n, n * d))
    assert "this is result 3 of 3 alone" in of(cases, right, lambda n, d: n * d)
    assert "result 3 of 3 alone: the sign is turned" in of(cases, right, lambda n, d: (n, d, -n * d))


@pytest.mark.parametrize(
    ("number", "body", "words"),
    [
        ("7.1", "n = config['n_embd'] if 'n_embd' in config else config['hidden_size']\n"
         "return n // (config.get('n_head') or config['num_attention_heads'])", "where `head_dim` is given"),
        ("7.2", "return config.get('n_inner', 4 * config['n_embd'])", "where `n_inner` is None"),
        ("4.3", "return (logits / temperature).softmax(-1)", "0 needs a way of its own"),
        ("4.4", "return logits.masked_fill(logits < logits.topk(k).values[..., -1:], -math.inf)", "a threshold"),
        ("5.3", "return losses.mean(-1).exp().mean()", "right for the shape (2,), and not for (2, 3)"),
    ],
)  # fmt: skip
def test_where_a_function_is_wrong_is_told_by_its_inputs(number, body, words):
    names = {"7.1": "config", "7.2": "config", "4.3": "logits, temperature", "4.4": "logits, k", "5.3": "losses"}
    assert words in ask(number, written(body, names[number], math=math)).text


SETTING = GPTConfig(vocab_size=10, n_ctx=4, n_embd=2, n_layer=1, n_head=1)
NOTEBOOK = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("cases", "right", "body", "words"),
    [
        ([(SETTING, 3), (SETTING, 5)], lambda cfg, n: cfg.n_embd * n, "return 4 * n", "`cfg` is not used"),
        ([({"a": 2}, 3), ({"a": 4}, 5)], lambda cfg, n: cfg["a"] * n, "return 7 * n", "`cfg` is not used"),
        ([(2, 3), (4, 5)], lambda cfg, n: cfg * n, "return n + torch.rand(1).item()", "another result for the"),
        ([(2, 3), (4, 5)], lambda cfg, n: cfg * n, "return NOTEBOOK.numel()", "the notebook's `NOTEBOOK`"),
        ([(2, 3), (4, 5)], lambda cfg, n: cfg * n, "return n * len(NOTEBOOK)", "`NOTEBOOK` stands in its place"),
        ([(2, 3), (4, 5)], lambda cfg, n: cfg * n, "return 6", "reads none of its inputs"),
        ([(2, 3), (4, 5)], lambda cfg, n: cfg * n, "return f'{cfg * n}'", "returns a text"),
    ],
)  # fmt: skip
def test_an_input_that_is_not_used_and_what_stands_for_it(cases, right, body, words):
    assert words in of(cases, right, written(body, "cfg, n", torch=torch, NOTEBOOK=NOTEBOOK))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x(0) @ table.T", "round brackets call, and this is a Tensor"),
        ("scores = x @ table.T\nreturn score", "is `scores` meant"),
        ("return x @ tabel.T", "is `table` meant"),
        ("return math.exp(x @ table.T)", "PyTorch's own functions take those"),
        ("return x @ table.T if x > 0 else x", "a condition is one True or False"),
    ],
)
def test_what_python_says_of_a_slip_is_put_in_words(body, words):
    assert words in ask("1.2", written(body, "x, table", torch=torch, math=math)).text


def test_an_error_shows_what_its_line_works_with():
    text = ask(
        "2.1", written("T = ids.shape[1]\nreturn wte[ids] + wpe * torch.ones(T, 7)", "ids, wte, wpe", torch=torch)
    ).text
    assert "  there   `wte` of shape (4, 2), `ids` of shape (2, 3), `wpe` of shape (6, 2), `T` = 3" in text


def _two_best(x):
    return x.masked_fill(x < x.sort(-1).values[:, 1:2], -math.inf)


@pytest.mark.parametrize(
    ("cases", "right", "wrong", "words"),
    [
        ([(2,), (3,), (5,)], lambda n: n**2 + 1.0, lambda n: (n**2 + 1.0) ** 3, "to the power 3"),
        (_tables(), torch.sin, lambda x: x, "numbers of the input, as they came"),
        (_tables(), torch.square, lambda x: x**2 * x.sum(-1, keepdim=True), "but for a factor of its own"),
        (_tables(), _two_best, lambda x: x.masked_fill(x < x.amax(-1, True), -math.inf), "too few numbers are kept"),
        ([(5, 2), (9, 4)], lambda a, b: (a, b / a), lambda a, b: (a, 1 - b / a), "1 minus"),
        ([(5, 2), (9, 4)], lambda a, b: (a + b, a * b), lambda a, b: (a + b, a + b), "the same as result 1 of 2"),
        ([(5, 2), (9, 4), (2, 3)], lambda a, b: a, lambda a, b: max(a, b), "`max` takes the larger of two"),
        ([(70_000,), (2,)], lambda n: n**2, lambda n: (n**2 + 2**31) % 2**32 - 2**31, "too large for 32 bits"),
        ([(70_001,), (2,)], lambda n: n**2, lambda n: torch.tensor(n**2).float().item(), "nearly right: float32"),
    ],
)
def test_what_results_are_in_other_terms(cases, right, wrong, words):
    assert words in of(cases, right, wrong)
