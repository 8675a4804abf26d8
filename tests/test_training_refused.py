"""Training refuses bad rows and settings, each in one sentence, before anything changes."""

import math

import pytest
import torch
from tiny_runs import changed, data, fit, make, same, weights

BAD = {
    "float": (lambda: data().float(), ValueError, ["rows", "float32", "int64"]),
    "int32": (lambda: data().int(), ValueError, ["int32", "int64"]),
    "list": (lambda: data().tolist(), TypeError, ["rows", "Tensor"]),
    "numpy": (lambda: data().numpy(), TypeError, ["rows", "Tensor"]),
    "one dimension": (lambda: data()[0], ValueError, ["(9,)"]),
    "three dimensions": (lambda: data()[None], ValueError, ["(1, 40, 9)"]),
    "too long": (lambda: data(length=10), ValueError, ["(40, 10)", "2 to 9"]),
    "one token": (lambda: data()[:, :1], ValueError, ["(40, 1)", "2 to 9"]),
    "no row": (lambda: data()[:0], ValueError, ["(0, 9)"]),
    "an id of another vocabulary": (lambda: changed((3, 4), 60), ValueError, ["60", "0 to 11"]),
    "V itself": (lambda: changed((39, 8), 12), ValueError, ["12", "0 to 11"]),
    "-1": (lambda: changed((0, 8), -1), ValueError, ["holds -1", "-100"]),
    "nothing to predict": (lambda: changed((slice(None), slice(1, None)), -100), ValueError, ["no target", "-100"]),
}


@pytest.mark.parametrize("name", ["rows", "valid_rows"])
@pytest.mark.parametrize(("bad", "kind", "words"), BAD.values(), ids=BAD)
def test_bad_rows_are_refused_before_anything_changes(refused, name, bad, kind, words):
    model = make()
    before = weights(model)
    with refused(kind, *words):
        fit(model, **{"rows": data()} | {name: bad()})
    assert same(before, model.state_dict())


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"steps": 0}, ValueError, ["steps=0", "from 1"]),
        ({"steps": 2.5}, TypeError, ["steps=2.5"]),
        ({"batch_size": 0}, ValueError, ["batch_size=0"]),
        ({"valid_every": 0}, ValueError, ["valid_every=0"]),
        ({"seed": -1}, ValueError, ["seed=-1", "from 0 to 18446744073709551615"]),
        ({"seed": 2**64}, ValueError, ["seed=18446744073709551616 is too large", "from 0 to 18446744073709551615"]),
        ({"lr": -1}, ValueError, ["lr=-1"]),
        ({"lr": math.inf}, ValueError, ["lr=inf"]),
        ({"lr": math.nan}, ValueError, ["lr is NaN"]),
        ({"lr": "fast"}, TypeError, ["lr='fast'"]),
        ({"kinds": {"a": torch.ones(40, 8, dtype=torch.bool)}}, ValueError, ["kinds['a']", "valid_rows"]),
        ({"kinds": {"a": torch.ones(40, 9).bool()}, "valid_rows": data()}, ValueError, ["(40, 9)", "(40, 8)"]),
        ({"kinds": {"a": torch.ones(40, 8)}, "valid_rows": data()}, ValueError, ["float32", "bool"]),
        ({"kinds": {"a": [True]}, "valid_rows": data()}, TypeError, ["kinds['a']", "Tensor"]),
    ],
)
def test_bad_settings_are_refused_before_anything_changes(refused, options, kind, words):
    model = make()
    before = weights(model)
    with refused(kind, *words):
        fit(model, data(), **options)
    assert same(before, model.state_dict())
