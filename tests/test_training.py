"""Training: against a loop written out by hand, losses that explode, seeds, the validation loss by kind."""

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


@pytest.mark.parametrize("n", [0, 5, 8])
def test_a_text_shorter_than_one_window_is_refused(refused, n):
    with refused(ValueError, f"({n},)", "8 + 1"):
        windows(torch.arange(n), 8)


def test_windows_refuse_what_is_no_text(refused):
    with refused(ValueError, "(2, 20)"):
        windows(torch.zeros(2, 20, dtype=torch.int64), 8)
    with refused(TypeError, "stream"):
        windows([1, 2, 3], 2)
    with refused(ValueError, "length=0"):
        windows(torch.arange(5), 0)


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
    rows = data()
    short, padded = make(), make()
    longer = torch.cat([rows[:, :5], torch.full((40, 4), -100)], dim=1)
    a, b = fit(short, rows[:, :5]), fit(padded, longer)
    assert a.train_loss == pytest.approx(b.train_loss, abs=1e-5)
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


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_weights_that_are_not_finite_stop_at_step_1(value, capsys):
    model = make()
    with torch.no_grad():
        model.ln_f.weight[0] = value
    before, seen = weights(model), []
    history = fit(model, data(), watch=seen.append)
    assert "step 1" in history.stopped
    assert "Lower lr=0.003" in history.stopped
    assert history.stopped in capsys.readouterr().out
    assert history.train_loss == []
    assert seen == []
    assert repr(history) == "History(0 steps, last training loss none)"
    assert same(before, model.state_dict())


@pytest.mark.parametrize("lr", [1e3, 1e30])
def test_a_rate_that_is_far_too_high_stops_at_the_first_loss_that_is_not_finite(lr):
    model, kept = make(n_layer=2), []
    history = fit(model, data(), steps=200, lr=lr, watch=lambda _: kept.append(weights(model)))
    done = len(history.train_loss)
    assert 0 < done < 200
    assert f"step {done + 1}:" in history.stopped
    assert f"Lower lr={lr:g}," in history.stopped
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
    F.cross_entropy(model(data()[:, :-1]).flatten(0, 1), data()[:, 1:].flatten()).backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []
    before = weights(model)
    fit(model, data(), steps=10)
    assert [name for name, p in model.named_parameters() if torch.equal(before[name], p)] == []
    assert (model.lm_head.weight is model.wte.weight) == tied


@pytest.mark.parametrize("mode", [True, False])
def test_evaluation_restores_the_mode_also_after_an_error(mode):
    model = make().train(mode)
    modes = []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    losses = token_losses(model, data(), batch_size=7)
    assert modes == [False] * 6
    assert model.training is mode
    logp = model(data()[:, :-1]).log_softmax(-1)
    assert torch.allclose(losses, -logp.gather(-1, data()[:, 1:, None])[..., 0], atol=1e-6)
    with pytest.raises(ValueError, match="60"):
        token_losses(model, changed((20, 1), 60), batch_size=7)
    assert model.training is mode
    assert not losses.requires_grad


def test_the_losses_depend_on_the_seed_alone_and_leave_the_global_state():
    torch.manual_seed(3)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    first = fit(model := make(), data(), valid_rows=data(10, seed=2), valid_every=2)
    torch.set_rng_state(before)
    np.random.seed(9)
    torch.rand(17)
    model = make()
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()
    second = fit(model, data(), valid_rows=data(10, seed=2), valid_every=2)
    assert first == second
    assert torch.equal(state, torch.get_rng_state())
    assert (numpy_state == np.random.get_state()[1]).all()
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert fit(make(), data(), seed=1).train_loss != first.train_loss


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
    model, valid = make(), data(30, seed=5, ignored=0.3)
    first = torch.zeros(30, 8, dtype=torch.bool)
    first[:, :3] = True
    at = {}
    history = fit(
        model,
        data(),
        steps=7,
        valid_rows=valid,
        kinds={"early": first, "late": ~first},
        valid_every=3,
        watch=lambda h: at.update({len(h.train_loss): weights(model)}),
    )
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
