"""Training: rows of tokens in, a model that predicts them out.

The shift by one happens here and nowhere else: a row of T + 1 tokens gives T inputs and T targets.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm

from utils import checkpoint as saved
from utils import validate
from utils.interrupts import held_back

IGNORED = -100  # a target that is not counted: what PyTorch's cross_entropy skips by default
BETAS, WEIGHT_DECAY = (0.8, 0.9), 0.1  # little memory, for runs of a few hundred steps
TABLE_RATE = 10  # a table's rows start at 0.02 and have the farthest to go, so they go faster
WARM_UP, LAST_RATE = 10, 0.05


@dataclass
class History:
    """What happened in a training run.

    train_loss: one number a step. valid_loss and by_kind: one number at each of valid_steps. All in nats per token.
    stopped: a sentence if the run ended before its last step, else empty.
    """

    train_loss: list[float] = field(default_factory=list)
    valid_loss: list[float] = field(default_factory=list)
    valid_steps: list[int] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=dict)
    stopped: str = ""

    def __repr__(self):
        last = f"{self.train_loss[-1]:.2f}" if self.train_loss else "none"
        return f"History({len(self.train_loss)} steps, last training loss {last})"


def windows(stream, length: int) -> torch.Tensor:
    """A text of N tokens (N,) -> rows (N - length, length + 1): every piece of it that has inputs and targets.

    The last row ends with the text's last token. Raises ValueError for a text shorter than one row.
    """
    validate.instance("stream", stream, torch.Tensor)
    length = validate.whole_number("length", length)
    if stream.ndim != 1 or len(stream) <= length:
        raise ValueError(
            f"the text has shape {tuple(stream.shape)} and a window needs {length} + 1 tokens in one row; "
            "give a longer text, or a shorter length."
        )
    return stream.unfold(0, length + 1, 1)


def train(
    model,
    rows,
    steps=300,
    batch_size=32,
    lr=3e-3,
    seed=0,
    valid_rows=None,
    *,
    kinds: dict[str, torch.Tensor] | None = None,
    valid_every: int = 50,
    watch: Callable[[History], object] | None = None,
    progress: bool = True,
    checkpoint=None,
) -> History:
    """Train a model in place to predict each row's next tokens: AdamW, warm-up, cosine.

    rows, valid_rows (m, T + 1), int64: inputs row[:-1], targets row[1:]; a target of -100 is not counted and, as a
    later input, read as token 0. `seed` alone decides which batch_size rows each step takes. lr: the highest rate; the
    tables' is 10 times that. kinds: name -> bool (m, T) over the validation targets, to split that loss. watch: called
    with the History after each step. checkpoint: a folder from which the same call goes on, to the last bit.
    An interrupt ends the run after the step at work, a loss that is not finite at once: `history.stopped` says so, and
    the model is usable. Under torchrun each process takes its part of a batch. Raises TypeError or ValueError first.
    """
    _require(model, rows, valid_rows, steps, batch_size, lr, seed, valid_every, kinds)
    settings = {"steps": int(steps), "batch_size": int(batch_size), "lr": float(lr), "seed": int(seed)}  # for JSON
    settings |= {"config": asdict(model.config), "rows": f"{len(rows)} rows, whose tokens sum to {rows.sum()}"}
    run = _Run(model, make_optimizer(model, lr), rows, settings, valid_rows, kinds, valid_every, watch, checkpoint)
    return run.go(progress)


@dataclass
class _Run:
    """One call of train: what it was given, and how far it is."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    rows: torch.Tensor
    settings: dict
    valid_rows: torch.Tensor | None
    kinds: dict | None
    valid_every: int
    watch: Callable | None
    checkpoint: object
    history: History = field(default_factory=History)

    def go(self, progress):
        """Make all the steps that are left, or as many as there can be."""
        steps, lr, done = self.settings["steps"], self.settings["lr"], self.resume()
        generator = torch.Generator().manual_seed(self.settings["seed"])
        plan = torch.randint(len(self.rows), (steps, self.settings["batch_size"]), generator=generator)  # (steps, B)
        bar = tqdm(total=steps, initial=done, desc="training", unit="step", disable=not progress or _place()[0] > 0)
        self.model.train()
        _start_alike(self.model)
        with held_back() as interrupted, bar:
            for step in range(done, steps):
                _set_rate(self.optimizer, lr * _rate(step, steps))
                loss = _step(self.model, self.optimizer, self.rows[plan[step]])
                if not math.isfinite(loss):
                    self.history.stopped = _not_finite(step + 1, loss, lr)
                    break
                self.history.train_loss.append(loss)
                bar.update(1)
                self.after(step + 1, interrupted)
                if self.history.stopped:
                    break
        if self.history.stopped:
            print(self.history.stopped)
        return self.history

    def after(self, step, interrupted):
        """What follows step number `step`: validate if it is time, tell, and save."""
        steps, history = self.settings["steps"], self.history
        due = step % self.valid_every == 0 or step == steps
        if due and self.valid_rows is not None:
            _validate(self.model, self.valid_rows, self.kinds, history, step)
        if _told_to_stop(self.watch, history) or interrupted():
            history.stopped = f"Interrupted after {step} of {steps} steps; the model is as it was then."
        if self.checkpoint and (due or history.stopped) and _place()[0] == 0:
            run = {"settings": self.settings, "history": asdict(history) | {"stopped": ""}}
            saved.save_run(self.checkpoint, step, self.model, self.optimizer, run)
        if history.stopped and not due and self.valid_rows is not None:  # for the picture of a run cut short
            _validate(self.model, self.valid_rows, self.kinds, history, step)

    def resume(self):
        """How many steps are done: those of a run that `checkpoint` holds, which is put back, or none."""
        run = saved.read_run(self.checkpoint) if self.checkpoint else None
        if run is None:
            return 0
        for name, value in self.settings.items():
            if run["settings"].get(name) != value:
                raise ValueError(
                    f"{self.checkpoint} holds a run with {name}={run['settings'].get(name)}, and this call has "
                    f"{name}={value}; give the same settings to go on, or another folder to start afresh."
                )
        saved.restore_run(self.checkpoint, run, self.model, self.optimizer)
        self.history = History(**run["history"])
        print(f"Going on from step {run['step']} of {self.settings['steps']}.")
        return run["step"]


def make_optimizer(model, lr) -> torch.optim.AdamW:
    """AdamW with every unique parameter in one group: matrices and tables decay, biases and norms do not."""
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    tables |= {id(model.lm_head.weight)}
    groups = {"tables": [], "matrices": [], "vectors": []}
    for parameter in model.parameters():  # a tied table comes once
        kind = "tables" if id(parameter) in tables else "matrices" if parameter.ndim > 1 else "vectors"
        groups[kind].append(parameter)
    return torch.optim.AdamW(
        [
            {"params": groups["tables"], "weight_decay": WEIGHT_DECAY, "scale": TABLE_RATE},
            {"params": groups["matrices"], "weight_decay": WEIGHT_DECAY, "scale": 1},
            {"params": groups["vectors"], "weight_decay": 0.0, "scale": 1},
        ],
        lr=lr,
        betas=BETAS,
        fused=True,  # one pass over all numbers: a third of the time for a model this small
    )


def _set_rate(optimizer, lr):
    for group in optimizer.param_groups:
        group["lr"] = lr * group["scale"]


def _rate(step, steps):
    """The share of the highest learning rate at a step: up in a line, then down along a cosine to a twentieth."""
    warm = min(WARM_UP, steps)
    if step < warm:
        return (step + 1) / warm
    progress = (step - warm) / (steps - warm)
    return LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2


def inputs_and_targets(rows):
    """Rows (B, T + 1) -> inputs (B, T) and targets (B, T), which are the inputs' next tokens."""
    return rows[:, :-1].clamp(min=0), rows[:, 1:]


def _step(model, optimizer, rows):
    """One step on a batch, its loss before the step; under torchrun, the loss of the whole batch."""
    rank, world = _place()
    inputs, targets = inputs_and_targets(rows[rank::world])
    # counted in the whole batch, so that every process divides by the same; 1 for a batch that has nothing to learn
    counted = (rows[:, 1:] != IGNORED).sum().clamp(min=1)
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum")
    loss = loss / counted
    optimizer.zero_grad()
    loss.backward()
    total = loss.detach()
    if world > 1:
        for tensor in (total, *(parameter.grad for parameter in model.parameters() if parameter.grad is not None)):
            dist.all_reduce(tensor)  # sums
    if total.isfinite():
        optimizer.step()
    return total.item()


@torch.no_grad()
def _start_alike(model):
    """Under torchrun, every process starts with the weights of the first."""
    for parameter in model.parameters() if _place()[1] > 1 else ():
        dist.broadcast(parameter, 0)


def _place():
    """(rank, number of processes): (0, 1) unless torchrun has started several."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


@torch.no_grad()
def token_losses(model, rows, batch_size=256) -> torch.Tensor:
    """-log p of every target, in nats: rows (m, T + 1) -> (m, T), NaN where the target is -100.

    The model's training mode is restored, also after an error.
    """
    was_training = model.training
    model.eval()
    try:
        parts = []
        for batch in rows.split(batch_size):
            inputs, targets = inputs_and_targets(batch)
            logits = model(inputs).transpose(1, 2)  # (B, T, V) -> (B, V, T), as cross_entropy wants it
            parts.append(F.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="none"))
        return torch.cat(parts).masked_fill(rows[:, 1:] == IGNORED, math.nan)  # (m, T)
    finally:
        model.train(was_training)


def _validate(model, rows, kinds, history, step):
    losses = token_losses(model, rows)
    history.valid_steps.append(step)
    history.valid_loss.append(losses.nanmean().item())
    for kind, mask in (kinds or {}).items():
        history.by_kind.setdefault(kind, []).append(losses[mask].nanmean().item())


def _told_to_stop(watch, history):
    try:
        if watch is not None:
            watch(history)
    except KeyboardInterrupt:
        return True
    return False


def _not_finite(step, loss, lr):
    return f"Stopped at step {step}: the loss is {loss}. Lower lr={lr:g}, and make the model anew."


def _require(model, rows, valid_rows, steps, batch_size, lr, seed, valid_every, kinds):
    for name, value, low in (
        ("steps", steps, 1),
        ("batch_size", batch_size, 1),
        ("seed", seed, 0),
        ("valid_every", valid_every, 1),
    ):
        validate.whole_number(name, value, low)
    validate.number("lr", lr, "a number from 0 up, such as 3e-3")
    if not 0 <= lr < math.inf:
        raise ValueError(f"lr={lr} is out of range; give a finite number from 0 up, such as 3e-3.")
    if batch_size % _place()[1]:
        raise ValueError(f"batch_size={batch_size} does not divide by the {_place()[1]} processes; give a multiple.")
    validate.rows("rows", rows, model.config, IGNORED)
    if valid_rows is not None:
        validate.rows("valid_rows", valid_rows, model.config, IGNORED)
    for kind, mask in (kinds or {}).items():
        wanted = None if valid_rows is None else (len(valid_rows), valid_rows.shape[1] - 1)
        validate.instance(f"kinds[{kind!r}]", mask, torch.Tensor)
        if mask.dtype != torch.bool or tuple(mask.shape) != wanted:
            raise ValueError(
                f"kinds[{kind!r}] is {mask.dtype} of shape {tuple(mask.shape)}; "
                f"give bool, one for each target of valid_rows: {wanted}."
            )
