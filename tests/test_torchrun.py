"""Two real processes under torchrun give the losses of one."""

import sys

import pytest
import torch

from utils import torchrun
from utils.torchrun import TWO, _output, on_one_and_two

# variables that would lead two processes astray, each as some other program sets it
ASTRAY = {
    "GLOO_SOCKET_IFNAME": "nowhere0",
    "LOCAL_RANK": "7",
    "MASTER_ADDR": "192.0.2.1",
    "MASTER_PORT": "1",
    "PET_NNODES": "3",
    "RANK": "0",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCH_LOGS": "all",
    "WORLD_SIZE": "3",
}


@pytest.mark.parametrize("data", ["stories", "names"])  # names end in -100, so the processes count unequal numbers
def test_two_processes_give_the_losses_of_one_whatever_other_programs_set(data, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)  # a lesson runs in another folder than the package's
    for name, value in ASTRAY.items():
        monkeypatch.setenv(name, value)
    state = torch.get_rng_state()
    one, two = on_one_and_two(steps=12, data=data)
    assert len(one) == 12
    assert one[-1] < one[0] - 0.3
    assert two == pytest.approx(one, abs=1e-4)
    assert capfd.readouterr() == ("", "")
    assert torch.equal(torch.get_rng_state(), state)


def test_the_command_needs_no_docstring(monkeypatch, capsys):
    monkeypatch.setattr(torchrun, "__doc__", None)  # as with PYTHONOPTIMIZE=2
    monkeypatch.setattr(sys, "argv", ["utils.torchrun", "--help"])
    with pytest.raises(SystemExit):
        torchrun.main()
    assert "Training in several processes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("launcher", "reason"),
    [
        (TWO, "RuntimeError: ifa != nullptr. Unable to find address for: nowhere0"),  # they start and do not meet
        (("-c", "raise OSError('no second process')"), "OSError: no second process"),
    ],
)
def test_where_two_processes_cannot_meet_one_sentence_says_so(launcher, reason, monkeypatch, capfd):
    monkeypatch.setattr(torchrun, "TWO", launcher)
    monkeypatch.setattr(torchrun, "DISTRIBUTED", ("RANK",))
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "nowhere0")
    one, two = on_one_and_two(steps=1)
    assert (len(one), two) == (1, [])
    sentence = f"Two processes cannot train together here ({reason}), so there is nothing to compare with.\n"
    assert capfd.readouterr() == (sentence, "")


def test_another_process_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(torchrun, "PATIENCE", 0.5)
    with pytest.raises(RuntimeError, match=r"^no answer for 1\.0 seconds$"):
        _output("-c", "import time; time.sleep(60)")


def test_two_processes_really_run():
    """The second command alone refuses a batch that does not divide; its reason is what the caller reads."""
    with pytest.raises(RuntimeError) as caught:
        on_one_and_two(steps=1, batch_size=5)
    assert str(caught.value) == "ValueError: batch_size=5 does not divide by the 2 processes; give a multiple."


def test_a_command_that_fails_is_reported():
    with pytest.raises(RuntimeError, match=r"^error: argument --data: invalid choice: 'poems'"):
        on_one_and_two(data="poems")


# a run of two processes that start from different weights, are interrupted at step 3, and go on
UNEQUAL = """
import sys, torch, torch.distributed as dist
from utils.torchrun import meeting
sys.path.insert(0, "tests")
from tiny_runs import data, fit, make, same
torch.set_num_threads(1)
with meeting():
    model = make(seed=dist.get_rank(), n_layer=2)
    model.h[0].ln_1.bias.requires_grad_(False)  # has no gradient
    stop = lambda history: 1 / (3 - len(history.train_loss))
    try:
        fit(model, data(ignored=0.5), steps=6, checkpoint=sys.argv[1], valid_rows=data(8), valid_every=2, watch=stop)
    except ZeroDivisionError:
        pass
    dist.barrier()
    model = make(seed=10 + dist.get_rank(), n_layer=2)
    model.h[0].ln_1.bias.requires_grad_(False)
    history = fit(model, data(ignored=0.5), steps=6, checkpoint=sys.argv[1], valid_rows=data(8), valid_every=2)
    parts = [None, None]
    dist.all_gather_object(parts, (model.state_dict(), history.train_loss, history.valid_loss))
    (first, *one), (second, *other) = parts
    print("alike" if same(first, second) and one == other and len(one[0]) == 6 else "not alike")
"""


def test_two_processes_stay_alike_through_a_checkpoint(tmp_path):
    (tmp_path / "unequal.py").write_text(UNEQUAL, encoding="utf-8")
    output = _output(*TWO, tmp_path / "unequal.py", tmp_path / "run")
    assert output.count("alike") == 2
    assert "not alike" not in output
    assert output.count("Going on from step 2 of 6.") == 2
