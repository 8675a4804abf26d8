"""Training: against a loop by hand, losses that explode, seeds, the validation loss by kind, and what is refused."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tiny_runs import changed, data, fit, make, same, weights

from utils import training
from utils.text import names
from utils.training import History, make_optimizer, token_losses, windows


@pytest.mark.parametrize("extra", [1, 2, 3, 20])
def test_windows_are_all_pieces_and_the_last_token_is_used(extra):
    stream = torch.arange(8 + extra)
    rows = windows(stream, 8)
    assert rows.tolist() == [list(range(start, start + 9)) for start in range(extra)]
    inputs, targets = training.inputs_and_targets(rows)
    assert torch.equal(targets, inputs + 1)
    assert targets[-1, -1] == stream[-1]


@pytest.mark.parametrize(
    ("stream", "length", "kind", "words"),
    [
        *[(torch.arange(n), 8, ValueError, [f"({n},)", "8 + 1"]) for n in (0, 5, 8)],
        (torch.zeros(2, 20, dtype=torch.int64), 8, ValueError, ["(2, 20)"]),
        ([1, 2, 3], 2, TypeError, ["stream"]),
        (torch.arange(5), 0, ValueError, ["length=0"]),
    ],
)
def test_windows_refuse_what_is_no_text_or_too_short(refused, stream, length, kind, words):
    with refused(kind, *words):
        windows(stream, length)


def by_hand(model, rows, targets, steps, lr, seed=0, batch=4):
    """The same training as a plain loop: one AdamW for each of the three kinds of parameters."""
    tables = {"wte.weight", "wpe.weight", "lm_head.weight"}
    named = dict(model.named_parameters())
    kinds = [
        ([p for name, p in named.items() if name in tables], 10, 0.1),
        ([p for name, p in named.items() if name not in tables and p.ndim == 2], 1, 0.1),
        ([p for p in named.values() if p.ndim == 1], 1, 0.0),
    ]
    optimizers = [torch.optim.AdamW(group, lr, betas=(0.8, 0.9), weight_decay=decay) for group, _, decay in kinds]
    plan = torch.randint(len(rows), (steps, batch), generator=torch.Generator().manual_seed(seed))
    losses = []
    for step, picked in enumerate(plan):
        x, y = rows[picked, :-1].clamp(min=0), targets[picked]
        logp = model(x).log_softmax(-1)
        terms = [-logp[b, t, y[b, t]] for b in range(batch) for t in range(y.shape[1]) if y[b, t] != -100]
        loss = sum(terms) / len(terms)
        model.zero_grad()
        loss.backward()
        for optimizer, (_, scale, _) in zip(optimizers, kinds, strict=True):
            optimizer.param_groups[0]["lr"] = lr * scale * (step + 1) / min(10, steps)
            optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("ignored", [0.0, 0.4])
def test_the_losses_and_weights_are_those_of_a_loop_by_hand(tied, ignored):
    rows = data(ignored=ignored)
    model, plain = make(tied=tied), make(tied=tied)
    wanted = by_hand(plain, rows, rows[:, 1:], steps=5, lr=3e-3)
    assert fit(model, rows, lr=3e-3).train_loss == pytest.approx(wanted, abs=1e-5)
    for name, parameter in model.state_dict().items():
        assert torch.allclose(parameter, plain.state_dict()[name], atol=1e-4), name


def next_letters(model):
    """Whether a model that has learned a repeating alphabet says x[t + 1] at each place t after the first."""
    letters = torch.arange(40) % 8
    return torch.equal(model(letters[None, :8]).argmax(-1)[0], letters[1:9])


def test_a_repeating_alphabet_puts_the_next_letter_at_each_place():
    rows = windows(torch.arange(40) % 8, 8)
    model = make()
    assert fit(model, rows, steps=60, lr=1e-2).train_loss[-1] < 0.1
    assert next_letters(model)


@pytest.mark.parametrize("shift", [0, 2])
def test_a_wrong_shift_fails_that_assertion(shift):
    stream = torch.arange(40) % 8
    rows = windows(stream[:-2], 8)
    trap, targets = make(), torch.stack([stream[start + shift : start + shift + 8] for start in range(len(rows))])
    losses = by_hand(trap, rows, targets, steps=60, lr=1e-2)
    assert losses[-1] < 0.2, "the trap has not learned, so it proves nothing"
    assert not next_letters(trap)


def test_what_is_ignored_does_not_count():
    rows, padded = data(), make()
    longer = torch.cat([rows[:, :5], torch.full((40, 4), -100)], dim=1)
    assert fit(make(), rows[:, :5]).train_loss == pytest.approx(fit(padded, longer).train_loss, abs=1e-5)
    losses = token_losses(padded, longer)
    assert losses.isnan().tolist() == (longer[:, 1:] == -100).tolist()
    assert torch.allclose(losses[:, :4], token_losses(padded, rows[:, :5]), atol=1e-5)


def test_a_batch_without_any_target_is_passed_over():
    rows = torch.cat([data(1), torch.full((30, 9), -100)])
    history = fit(make(), rows, steps=12, batch_size=2)
    assert 0.0 in history.train_loss
    assert history.stopped == ""


def test_lr_0_leaves_the_weights():
    model = make()
    before = weights(model)
    assert len(fit(model, data(), lr=0).train_loss) == 5
    assert same(before, model.state_dict())


# the last makes the sum of the losses infinite, the others NaN
@pytest.mark.parametrize(("place", "value", "loss"), [(0, math.inf, "nan"), (0, math.nan, "nan"), (..., 8e37, "inf")])
def test_a_loss_that_is_not_finite_stops_at_step_1(place, value, loss, capsys):
    model = make()
    with torch.no_grad():
        model.ln_f.weight[place] = value
    before, seen = weights(model), []
    history = fit(model, data(), watch=seen.append)
    assert all(words in history.stopped for words in (f"step 1: the loss is {loss}.", "Lower lr=0.003"))
    assert history.stopped in capsys.readouterr().out
    assert (history.train_loss, seen) == ([], [])
    assert repr(history) == "History(0 steps, last training loss none)"
    assert same(before, model.state_dict())


@pytest.mark.parametrize("lr", [1e3, 1e30])
def test_a_rate_that_is_far_too_high_stops_at_the_first_loss_that_is_not_finite(lr):
    model, kept = make(n_layer=2), []
    history = fit(model, data(), steps=200, lr=lr, watch=lambda _: kept.append(weights(model)))
    done = len(history.train_loss)
    assert 0 < done < 200
    assert all(words in history.stopped for words in (f"step {done + 1}:", f"Lower lr={lr:g},"))
    assert all(map(math.isfinite, history.train_loss))
    assert same(kept[-1], model.state_dict())


@pytest.mark.parametrize("tied", [True, False])
def test_each_parameter_is_in_one_group_and_vectors_do_not_decay(tied):
    model = make(tied=tied, n_layer=2)
    groups = make_optimizer(model, 1e-3).param_groups
    placed = [id(p) for group in groups for p in group["params"]]
    assert len(placed) == len(set(placed))
    assert set(placed) == {id(p) for p in model.parameters()}
    assert all((p.ndim > 1) == (group["weight_decay"] > 0) for group in groups for p in group["params"])


@pytest.mark.parametrize("tied", [True, False])
def test_every_parameter_is_used(tied):
    model = make(tied=tied)
    before = weights(model)
    fit(model, data(), steps=10)
    assert [name for name, p in model.named_parameters() if torch.equal(before[name], p)] == []
    assert (model.lm_head.weight is model.wte.weight) == tied


def test_token_losses_are_those_of_eval_mode_a_few_rows_at_a_time():
    model, modes = make().train(), []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    losses = token_losses(model, data(), batch_size=7)
    assert (modes, model.training, losses.requires_grad) == ([False] * 6, True, False)
    logp = model(data()[:, :-1]).log_softmax(-1)
    assert torch.allclose(losses, -logp.gather(-1, data()[:, 1:, None])[..., 0], atol=1e-6)


def test_the_losses_depend_on_the_seed_alone_and_leave_the_global_state():
    histories = []
    for seed in (3, 9):
        model = make()
        torch.manual_seed(seed)
        np.random.seed(seed)
        before = torch.get_rng_state(), torch.get_num_threads(), np.random.get_state()[1].copy()
        histories.append(fit(model, data(), valid_rows=data(10, seed=2), valid_every=2))
        assert torch.equal(before[0], torch.get_rng_state())
        assert (torch.get_num_threads(), torch.is_grad_enabled()) == (before[1], True)
        assert (np.random.get_state()[1] == before[2]).all()
    assert histories[0] == histories[1]
    assert fit(make(), data(), seed=1).train_loss != histories[0].train_loss


@pytest.mark.parametrize("steps", [1, 7, 10, 11, 50, 1000])
def test_the_rate_warms_up_and_falls_along_a_cosine_to_a_twentieth(steps):
    rates = [training._rate(step, steps) for step in range(steps)]
    warm = min(10, steps)
    assert rates[:warm] == pytest.approx(np.arange(1, warm + 1) / warm)
    assert max(rates) == 1
    angles = np.arange(steps - warm) / max(1, steps - warm) * np.pi
    assert rates[warm:] == pytest.approx(0.525 + 0.475 * np.cos(angles))
    assert steps < 1000 or rates[-1] == pytest.approx(0.05, abs=1e-4)


def test_the_validation_loss_is_the_weighted_mean_of_its_kinds():
    model, valid, at = make(), data(30, seed=5, ignored=0.3), {}
    first = (torch.arange(8) < 3).repeat(30, 1)
    every = {"steps": 7, "valid_rows": valid, "kinds": {"early": first, "late": ~first}, "valid_every": 3}
    history = fit(model, data(), watch=lambda h: at.update({len(h.train_loss): weights(model)}), **every)
    assert history.valid_steps == [3, 6, 7]
    counted = valid[:, 1:] != -100
    n = {"early": (first & counted).sum().item(), "late": (~first & counted).sum().item()}
    for place, step in enumerate(history.valid_steps):
        total = sum(n[kind] * history.by_kind[kind][place] for kind in n) / sum(n.values())
        assert total == pytest.approx(history.valid_loss[place], abs=1e-6)
        model.load_state_dict(at[step])
        logits = model(valid[:, :-1].clamp(min=0)).flatten(0, 1)
        assert F.cross_entropy(logits, valid[:, 1:].flatten()).item() == pytest.approx(total, abs=1e-5)


def test_names_with_their_padding_train():
    rows = names().rows(names().train[:50])
    history = fit(make(vocab_size=53, n_ctx=13), rows, valid_rows=rows, steps=30)
    assert history.valid_loss[-1] < 3.4 < history.train_loss[0]


def test_watch_is_called_after_each_step_with_the_same_history():
    seen = []
    history = fit(make(), data(), watch=lambda h: seen.append((h, len(h.train_loss))))
    assert [count for _, count in seen] == [1, 2, 3, 4, 5]
    assert all(h is history for h, _ in seen)
    assert repr(history) == f"History(5 steps, last training loss {history.train_loss[-1]:.2f})"
    assert repr(History([1.239])) == "History(1 steps, last training loss 1.24)"


# ---- what is refused

NOTHING = changed((slice(None), slice(1, None)), -100)
ALL = torch.ones(40, 8, dtype=torch.bool)
BAD_ROWS = {
    "float": (data().float(), ValueError, ["rows", "float32", "int64"]),
    "int32": (data().int(), ValueError, ["int32", "int64"]),
    "list": (data().tolist(), TypeError, ["rows", "Tensor"]),
    "numpy": (data().numpy(), TypeError, ["rows", "Tensor"]),
    "one dimension": (data()[0], ValueError, ["(9,)"]),
    "three dimensions": (data()[None], ValueError, ["(1, 40, 9)"]),
    "too long": (data(length=10), ValueError, ["(40, 10)", "2 to 9"]),
    "one token": (data()[:, :1], ValueError, ["(40, 1)", "2 to 9"]),
    "no row": (data()[:0], ValueError, ["(0, 9)"]),
    "an id of another vocabulary": (changed((3, 4), 60), ValueError, ["60", "0 to 11"]),
    "V itself": (changed((39, 8), 12), ValueError, ["12", "0 to 11"]),
    "-1": (changed((0, 8), -1), ValueError, ["holds -1", "-100"]),
    "nothing to predict": (NOTHING, ValueError, ["no target", "-100"]),
    "another device": (data().to("meta"), ValueError, ["rows is on the device meta", "the model on cpu"]),
}
BAD = [
    *[({name: rows}, kind, words) for name in ("rows", "valid_rows") for rows, kind, words in BAD_ROWS.values()],
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
    ({"kinds": {"a": ALL}}, ValueError, ["kinds['a']", "valid_rows"]),
    ({"kinds": {"a": ALL[:, :1].expand(-1, 9)}, "valid_rows": data()}, ValueError, ["(40, 9)", "(40, 8)"]),
    ({"kinds": {"a": ALL.float()}, "valid_rows": data()}, ValueError, ["float32", "bool"]),
    ({"kinds": {"a": [True]}, "valid_rows": data()}, TypeError, ["kinds['a']", "Tensor"]),
]


@pytest.mark.parametrize(("options", "kind", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_rows_and_settings_are_refused_before_anything_changes(refused, options, kind, words):
    model = make()
    before = weights(model)
    with refused(kind, *words):
        fit(model, **{"rows": data()} | options)
    assert same(before, model.state_dict())
