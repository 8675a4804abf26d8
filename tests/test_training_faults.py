"""What users of such courses met: others' files, memory, bad places, other measurements, wrong models."""

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext

import pytest
import torch
from tiny_runs import at_step, data, fit, make, same, weights
from torch.nn.utils import prune

from utils.checkpoint import load_model, save_model
from utils.environment import ROOT
from utils.training import token_losses, windows

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="the peak is read from a system of the Unix kind")

# ---- files


def test_a_students_files_in_the_runs_folder_are_left_alone(tmp_path):
    own = ["step-2.safetensors", "step-4.safetensors", "step-best.safetensors", "notes.txt"]
    mine, kept = make(seed=9), {}

    def watch(history):
        step = len(history.train_loss)
        for name in own[:3]:
            if not (tmp_path / name).exists():
                save_model(mine, tmp_path / name)
        (tmp_path / "notes.txt").write_text(f"step {step}", encoding="utf-8")
        if step == 5:  # a copy of what the run wrote is the student's
            shutil.copy(tmp_path / "step-4-2.safetensors", tmp_path / "step-4-copy.safetensors")
        kept.update({path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in own})

    fit(make(), data(), steps=6, checkpoint=tmp_path, valid_every=2, watch=watch)
    assert {name: (tmp_path / name).read_bytes() for name in own} == kept
    runs = {"run.json", "step-4-copy.safetensors", "step-6.safetensors"}
    assert {path.name for path in tmp_path.iterdir()} == {*own, *runs}
    assert same(load_model(tmp_path / "step-4.safetensors").state_dict(), mine.state_dict())
    assert fit(make(seed=3), data(), steps=6, checkpoint=tmp_path, valid_every=2).stopped == ""


def test_a_file_that_a_student_wrote_over_the_runs_is_not_removed(tmp_path, refused):
    watch = at_step(3, lambda: save_model(make(seed=9), tmp_path / "step-2.safetensors"))
    fit(make(), data(), steps=6, checkpoint=tmp_path, valid_every=2, watch=watch)
    assert load_model(tmp_path / "step-2.safetensors").config == make().config
    shutil.copy(tmp_path / "step-2.safetensors", tmp_path / "step-6.safetensors")
    with refused(ValueError, "step-6.safetensors", "no part of this run"):
        fit(make(), data(), steps=6, checkpoint=tmp_path, valid_every=2)


@pytest.mark.parametrize("below", ["", "deeper", "deeper/still"])
def test_a_place_that_cannot_be_written_to_is_refused_before_step_1(tmp_path, refused, below):
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    model = make()
    before = weights(model)
    with refused(ValueError, "checkpoint=", "no folder that can be written to", "give another"):
        fit(model, data(), checkpoint=file / below, watch=lambda _: pytest.fail("a step was made"))
    assert file.read_text(encoding="utf-8") == "mine"
    assert same(before, model.state_dict())
    with refused(TypeError, "checkpoint=3", "folder"):
        fit(model, data(), checkpoint=3)
    with refused(ValueError, "is a folder", "name of a file"):
        save_model(model, tmp_path)


def test_a_run_that_stopped_before_it_saved_begins_again_with_any_settings(tmp_path):
    with pytest.raises(ZeroDivisionError):
        fit(make(), data(), steps=6, lr=1.0, checkpoint=tmp_path, watch=lambda history: 1 / 0)
    assert fit(make(), data(), steps=6, checkpoint=tmp_path).train_loss == fit(make(), data(), steps=6).train_loss


# ---- memory, as the peak of a process of its own

PEAK = """
import resource, sys, torch
sys.path.insert(0, "tests")
from tiny_runs import make
from utils.training import token_losses, train, windows
torch.set_num_threads(1)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MB
torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))])  # what the first optimizer imports is none of the run's
"""


def peaks(code):
    """The numbers that some code prints, in MB."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PEAK + code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return [float(number) for number in done.stdout.split()]


@UNIX
@pytest.mark.parametrize(("letters", "checkpoint"), [(1_003_854, True), (100_000_000, False)])
def test_the_windows_of_a_text_cost_little_more_than_the_text(tmp_path, letters, checkpoint):
    code = f"""
text = torch.randint(12, ({letters},))
model = make(n_ctx=256)
before = peak()
place = {str(tmp_path / "run")!r} if {checkpoint} else None
train(model, windows(text, 256), steps=2, batch_size=4, progress=False, checkpoint=place)
print(before, peak())
"""
    before, after = peaks(code)
    assert after - before < 150  # MB; the windows of the shorter text hold 2 GB


@UNIX
def test_evaluation_takes_no_more_memory_than_training():
    code = """
rows = torch.randint(50_257, (256, 33))
valid = rows if {valid} else None
train(make(vocab_size=50_257, n_ctx=32), rows, steps=3, batch_size=2, valid_rows=valid, progress=False)
print(peak())
"""
    (training,), (both,) = (peaks(code.format(valid=valid)) for valid in (False, True))
    assert both < 1.1 * training


@pytest.mark.parametrize("step", [1, 3, 9, 12])
def test_a_wrong_token_in_overlapping_rows_is_found_wherever_it_stands(refused, step):
    for place in (0, 10, 20, 44):  # with steps of 12, the second is in no row
        stream = torch.arange(45) % 12
        stream[place] = 60
        rows = stream.unfold(0, 9, step)
        if (rows == 60).any():
            with refused(ValueError, "rows holds 60"):
                fit(make(), rows)
        else:
            fit(make(), rows, steps=1)


def test_overlapping_rows_train_as_their_copy():
    text = torch.randint(12, (60,), generator=torch.Generator().manual_seed(0))
    rows = windows(text, 8)
    assert fit(make(), rows).train_loss == fit(make(), rows.contiguous()).train_loss


# ---- models


@pytest.mark.parametrize("wrap", [torch.nn.DataParallel, lambda m: torch.compile(m, backend="eager")])
def test_a_wrapped_model_is_trained_and_saved_as_the_model_in_it(tmp_path, wrap):
    torch.compiler.reset()  # it counts how often other tests had a model's code compiled, and gives up at some point
    model, twin = make(), make()
    wrapped = wrap(model)
    history = fit(wrapped, data(), checkpoint=tmp_path / "run", valid_rows=data(8, seed=2))
    assert history == fit(twin, data(), valid_rows=data(8, seed=2))
    assert same(model.state_dict(), twin.state_dict())
    save_model(wrapped, tmp_path / "model.safetensors")
    assert same(load_model(tmp_path / "model.safetensors").state_dict(), twin.state_dict())


@pytest.mark.parametrize("model", ["gpt2", None, torch.nn.Linear(2, 2), torch.nn.DataParallel(torch.nn.Linear(2, 2))])
def test_what_is_no_model_of_the_course_is_refused(tmp_path, refused, model):
    for call in (lambda: fit(model, data()), lambda: save_model(model, tmp_path / "a.safetensors")):
        with refused(TypeError, "model=", type(model).__name__, "give a GPT"):
            call()
    assert list(tmp_path.iterdir()) == []


def untied(model):
    model.lm_head.weight = torch.nn.Parameter(torch.zeros(12, 16))
    return model


def pruned(model):
    prune.random_unstructured(model.h[0].mlp.c_fc, "weight", 0.5)
    return model


def longer(model):
    model.wpe = torch.nn.Embedding(9, 16)
    return model


@pytest.mark.parametrize("change", [untied, pruned, longer, lambda model: model.to("meta")])
def test_what_load_model_could_not_read_is_not_written(tmp_path, refused, change):
    with refused(ValueError, "cannot be saved", "undo"):
        save_model(change(make()), tmp_path / "a.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_train_is_said_before_the_first_step(refused):
    with refused(ValueError, "frozen", "requires_grad_(True)"):
        fit(make().requires_grad_(False), data())
    with torch.no_grad(), refused(ValueError, "gradients are switched off", "no_grad"):
        fit(make(), data())
    with torch.inference_mode():
        model = make()
    with refused(ValueError, "made in inference mode"):
        fit(model, data())
    partly = make()
    partly.wte.requires_grad_(False)
    before = weights(partly)
    fit(partly, data())
    assert torch.equal(before["wte.weight"], partly.wte.weight)
    assert not torch.equal(before["wpe.weight"], partly.wpe.weight)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("run", [lambda model: token_losses(model, data()), lambda model: fit(model, data(), steps=1)])
def test_each_part_of_the_model_has_its_own_mode_again(run, fails):
    model = make(n_layer=2).eval()
    model.h[1].train()
    if fails:
        model.ln_f.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        run(model)
    modes = [(name, part.training) for name, part in model.named_modules()]
    assert [name for name, mode in modes if mode] == [name for name, _ in modes if name.startswith("h.1")]
