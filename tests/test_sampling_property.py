"""The filters against exact arithmetic: a few thousand random rows, every combination of filters, every float type.

The reference does not sort and does not add floats. It asks of each token which others beat it, and adds their
shares with 50 decimal digits; test_sampling.py follows the docstring's steps instead.
"""

import itertools
import math
import random
from decimal import Decimal, localcontext

import pytest
import torch

from utils.sampling import next_token_probs

INF = math.inf
DTYPES = {torch.float32: 2e-7, torch.bfloat16: 2e-7, torch.float64: 1e-13}  # and how exact a probability is
ROWS_A_CASE = 3


def beats(one, other):
    """Whether a token (score, id) stands before another: a higher score, or as high a one and a lower id."""
    return one[0] > other[0] or (one[0] == other[0] and one[1] < other[1])


def exact_probs(scores, temperature, top_k, top_p):
    """The filters' rules for one row of floats, as Decimals: a token stays if those that beat it leave it room."""
    tokens = [(score, token) for token, score in enumerate(scores)]
    rivals = {own: [other for other in tokens if beats(other, own)] for own in tokens}
    room = 1 if temperature == 0 else len(scores) if top_k is None else top_k
    kept = [own for own in tokens if len(rivals[own]) < room]
    with localcontext(prec=50):
        best = Decimal(max(scores))
        heat = Decimal(temperature) if temperature else Decimal(1)
        shares = {own: Decimal(0) if own[0] == -INF else ((Decimal(own[0]) - best) / heat).exp() for own in kept}
        if top_p is not None and top_p < 1:
            total, enough = sum(shares.values()), Decimal(top_p) - Decimal("1e-6")
            before = {own: sum(shares[rival] for rival in rivals[own]) / total for own in kept}
            shares = {own: share for own, share in shares.items() if not rivals[own] or before[own] < enough}
        total = sum(shares.values())
        return [shares.get(own, Decimal(0)) / total for own in tokens]


def random_row(pick, size, dtype):
    """Scores of one kind, as the floats that `dtype` can hold; some are forbidden, never all."""
    level = pick.choice([0.0, -3.25, 1e4, -1e4])
    makers = [
        lambda: pick.gauss(0, 2),
        lambda: pick.gauss(0, 40),
        lambda: float(pick.randint(-2, 2)),  # many ties
        lambda: level,  # all equal
        lambda: level + pick.random(),
        lambda: pick.choice([-1e30, 0.0, 1e30]),
        lambda: pick.choice([0.0, -0.0]),
    ]
    make = pick.choice(makers)
    row = [make() for _ in range(size)]
    if pick.random() < 0.4:
        for token in pick.sample(range(size), pick.randint(0, size - 1)):
            row[token] = -INF
    return torch.tensor(row, dtype=torch.float64).to(dtype)


TEMPERATURES = {
    "greedy": lambda pick: pick.choice([0, 0.0]),
    "cold": lambda pick: pick.uniform(0.01, 0.9),
    "one": lambda pick: pick.choice([1, 1.0]),
    "hot": lambda pick: pick.uniform(1.1, 100),
}
TOP_KS = {
    "off": lambda pick, size: None,
    "some": lambda pick, size: pick.randint(1, size),
    "V": lambda pick, size: size,
    "more": lambda pick, size: size + pick.choice([1, 1000, 10**30]),
}
TOP_PS = {
    "off": lambda pick: None,
    "1": lambda pick: pick.choice([1, 1.0]),
    "some": lambda pick: pick.uniform(0.01, 0.999),
    "round": lambda pick: pick.choice([0.25, 0.5, 0.75, 0.9]),
    "tiny": lambda pick: pick.choice([1e-12, 1e-7, 1e-6, 1e-4]),
    "nearly 1": lambda pick: pick.choice([1 - 1e-4, 1 - 5e-7, 1 - 1e-12]),
}
COMBINATIONS = list(itertools.product(TEMPERATURES, TOP_KS, TOP_PS))


def check(found, row, filters, dtype):
    """Compare one row of probabilities with the exact ones: what stays, and how likely it is."""
    exact = exact_probs(row.double().tolist(), **filters)
    for token, (prob, wanted) in enumerate(zip(found.tolist(), exact, strict=True)):
        where = (row.tolist(), filters, token)
        assert abs(Decimal(prob) - wanted) <= Decimal(DTYPES[dtype]), where
        assert (prob == 0) if wanted == 0 else (prob > 0 or wanted < Decimal("1e-37")), where


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("temperature", "top_k", "top_p"), COMBINATIONS)
def test_every_combination_of_filters_is_exact(dtype, temperature, top_k, top_p):
    pick = random.Random(f"{dtype} {temperature} {top_k} {top_p}")
    for _ in range(5):
        size = pick.choice([1, 2, 3, pick.randint(4, 12), pick.randint(13, 40)])
        rows = torch.stack([random_row(pick, size, dtype) for _ in range(ROWS_A_CASE)])  # (B, V)
        filters = {
            "temperature": TEMPERATURES[temperature](pick),
            "top_k": TOP_KS[top_k](pick, size),
            "top_p": TOP_PS[top_p](pick),
        }
        before = rows.clone()
        found = next_token_probs(rows, **filters)
        assert torch.equal(rows, before)
        assert found.shape == rows.shape
        for place, row in enumerate(rows):
            check(found[place], row, filters, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("margin", [-1e-4, -1.5e-6, 0.0, 5e-7, 9.9e-7, 1.01e-6, 1.5e-6, 1e-4])
def test_a_set_reaches_p_if_it_comes_within_a_millionth(dtype, margin):
    """p is a set's own mass and a margin: up to a millionth more is reached by the set, anything above is not."""
    pick = random.Random(f"{dtype} {margin}")
    for _ in range(40):
        size = pick.randint(3, 20)
        row = torch.tensor([pick.gauss(0, 1) for _ in range(size)], dtype=torch.float64).to(dtype)
        plain = exact_probs(row.double().tolist(), 1, None, None)
        count = pick.randint(1, size - 1)
        chosen = sorted(range(size), key=lambda token: (-plain[token], token))[:count]
        p = float(sum(plain[token] for token in chosen)) + margin
        if not 0 < p < 1 or min(plain) < Decimal("1e-3"):
            continue  # a smaller share than the margin would let the set shrink or grow by more than one token
        kept = set(next_token_probs(row, top_p=p).nonzero().flatten().tolist())
        assert kept >= set(chosen)  # without its last token it would miss p by far
        assert len(kept) == count + (margin > 1e-6)
        check(next_token_probs(row, top_p=p), row, {"temperature": 1, "top_k": None, "top_p": p}, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("top_k", "top_p"), [(None, None), (3, None), (None, 0.6), (5, 0.6)])
def test_the_limits_are_greedy_and_uniform(dtype, top_k, top_p):
    pick = random.Random(f"{dtype} {top_k} {top_p}")
    for _ in range(100):
        size = pick.randint(1, 30)
        row = torch.tensor([pick.gauss(0, 5) for _ in range(size)], dtype=torch.float64).to(dtype)
        scores = row.double().tolist()
        best = [float(token == scores.index(max(scores))) for token in range(size)]
        ties = scores.count(max(scores)) > 1
        for tiny in (0, 5e-324, 1e-300, 1e-12):
            if tiny == 0 or not ties:  # above 0, tokens that tie share the probability
                assert next_token_probs(row, tiny, top_k, top_p).tolist() == best
        left = min(size, top_k or size)
        stays = left if top_p is None else max(1, math.ceil((top_p - 1e-6) * left))
        for huge in (1e10, 1e300):
            found = sorted(next_token_probs(row, huge, top_k, top_p).tolist(), reverse=True)
            assert found == pytest.approx([1 / stays] * stays + [0.0] * (size - stays), abs=1e-7)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", [INF, math.nan])
def test_one_bad_score_anywhere_is_refused(refused, dtype, bad):
    pick = random.Random(f"{dtype} {bad}")
    for temperature, top_k, top_p in COMBINATIONS:
        size = pick.randint(1, 20)
        rows = torch.stack([random_row(pick, size, dtype) for _ in range(ROWS_A_CASE)])
        rows[pick.randrange(ROWS_A_CASE), pick.randrange(size)] = bad
        filters = TEMPERATURES[temperature](pick), TOP_KS[top_k](pick, size), TOP_PS[top_p](pick)
        with refused(ValueError, "NaN or +inf"):
            next_token_probs(rows, *filters)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_row_that_forbids_everything_is_refused(refused, dtype):
    pick = random.Random(str(dtype))
    for temperature, top_k, top_p in COMBINATIONS:
        size = pick.randint(1, 20)
        rows = torch.stack([random_row(pick, size, dtype) for _ in range(ROWS_A_CASE)])
        rows[pick.randrange(ROWS_A_CASE)] = -INF
        filters = TEMPERATURES[temperature](pick), TOP_KS[top_k](pick, size), TOP_PS[top_p](pick)
        with refused(ValueError, "-inf only"):
            next_token_probs(rows, *filters)
