"""Interrupts during training, real ones: the step at work is finished, and the model is usable."""

import os
import signal
import threading
import time

import pytest
from tiny_runs import at_step, data, fit, make, same, weights
from tiny_runs import interrupt as raise_interrupt

from utils.interrupts import interrupted


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)  # Python runs the handler between two instructions


@pytest.mark.parametrize("how", [interrupt, raise_interrupt])
def test_an_interrupt_ends_the_run_after_the_step_at_work(how, capsys):
    model, twin, handler = make(), make(), signal.getsignal(signal.SIGINT)
    history = fit(model, data(), steps=20, watch=at_step(3, how))
    assert len(history.train_loss) == 3
    assert history.stopped == "Interrupted after 3 of 20 steps; the model is as it was then."
    assert history.stopped in capsys.readouterr().out
    assert signal.getsignal(signal.SIGINT) is handler
    kept = []
    fit(twin, data(), steps=20, watch=at_step(3, lambda: kept.append(weights(twin))))
    assert same(kept[0], model.state_dict())


def test_an_interrupt_within_a_step_waits_for_its_end_and_a_second_one_does_not():
    model, handler, times = make(), signal.getsignal(signal.SIGINT), 0
    model.ln_f.register_forward_pre_hook(lambda *_: [interrupt() for _ in range(times)] and None)
    times = 1
    assert len(fit(model, data(), steps=20).train_loss) == 1
    times = 2
    with pytest.raises(KeyboardInterrupt):
        fit(model, data(), steps=20)
    assert signal.getsignal(signal.SIGINT) is handler
    assert all(p.isfinite().all() for p in model.parameters())


def test_an_error_in_watch_is_raised_and_the_handler_restored():
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError):
        fit(make(), data(), watch=lambda h: 1 / 0)
    assert signal.getsignal(signal.SIGINT) is handler


def test_it_works_outside_of_the_main_thread():
    found = []

    def work():
        found.append(fit(make(), data()).train_loss)
        with interrupted() as asked:
            found.append(asked())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [fit(make(), data()).train_loss, False]


def test_an_interrupt_from_elsewhere_ends_the_run_too():
    threading.Timer(0.2, interrupt).start()
    history = fit(make(), data(), steps=100_000)
    done = len(history.train_loss)
    assert 0 < done < 100_000
    assert history.stopped.startswith(f"Interrupted after {done} of")
