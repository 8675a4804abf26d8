"""Training: rows of tokens in, a model that predicts them out.

The shift by one happens here and nowhere else: a row of T + 1 tokens gives T inputs and T targets.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from tqdm.auto import tqdm

from utils import validate
from utils.checkpoint import TrainingRun, fingerprint
from utils.interrupts import interrupted
from utils.modes import in_mode
from utils.products import by_onednn
from utils.unwrap import unwrapped

IGNORED = -100  # a target that is not counted: what PyTorch's cross_entropy skips by default
BETAS, WEIGHT_DECAY = (0.8, 0.9), 0.1  # little memory, for runs of a few hundred steps
TABLE_RATE = 10  # a table's rows start at 0.02 and have the farthest to go, so they go faster
WARM_UP, LAST_RATE = 10, 0.05
BAR = {"desc": "training", "unit": "step"}
LARGEST_SEED = 2**64 - 1
ADVICE = "Lower lr={:g}, and make the model anew."


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
    the model is usable. Under torchrun each process takes its part of a batch. Each part of the model has its own mode
    again. Raises TypeError or ValueError first.
    """
    gpt, (rank, world), checkpoint = unwrapped(model), _place(), checkpoint or None
    _require(gpt, rows, valid_rows, steps, batch_size, lr, seed, valid_every, kinds)
    settings = checkpoint and _settings(gpt, steps, batch_size, lr, seed, valid_every, rows, valid_rows, kinds)
    run, optimizer = TrainingRun(checkpoint, settings, writes=rank == 0), make_optimizer(gpt, lr)
    history = History(**run.resume(gpt, optimizer))
    generator = torch.Generator().manual_seed(int(seed))
    plan = torch.randint(len(rows), (steps, batch_size), generator=generator)  # (steps, B)
    evaluate = partial(_evaluate, model, valid_rows, kinds, history, batch_size // world)
    bar = tqdm(total=steps, initial=len(history.train_loss), disable=rank > 0 or not progress, **BAR)
    with in_mode(model, training=True), by_onednn(model), bar:
        _loop(model, rows, plan, lr, optimizer, history, evaluate, valid_every, watch, run, bar)
    return history


def _loop(model, rows, plan, lr, optimizer, history, evaluate, valid_every, watch, run, bar):
    """The steps that are left: each on the rows (B, T + 1) that the plan (steps, B) names."""
    steps, gpt = len(plan), unwrapped(model)
    _start_alike(gpt)
    with interrupted() as asked:
        for step in range(len(history.train_loss), steps):
            _set_rate(optimizer, lr * _rate(step, steps))
            loss = _mean_loss(model, rows[plan[step]])
            optimizer.zero_grad()
            loss.backward()
            loss = _over_all_processes(loss.detach(), gpt)
            if not math.isfinite(loss):
                history.stopped = f"Stopped at step {step + 1}: the loss is {loss}. {ADVICE.format(lr)}"
                break
            optimizer.step()
            history.train_loss.append(loss)
            bar.update()
            due = (step + 1) % valid_every == 0 or step + 1 == steps
            if due:
                evaluate(step + 1)
            if _told_to_stop(watch, history) or asked():
                history.stopped = f"Interrupted after {step + 1} of {steps} steps; the model is as it was then."
            if due or history.stopped:
                run.save(step + 1, gpt, optimizer, asdict(history) | {"stopped": ""})
            if history.stopped:
                if not due:  # for the picture of a run cut short
                    evaluate(step + 1)
                break
    if history.stopped:
        print(history.stopped)


def make_optimizer(model, lr) -> torch.optim.AdamW:
    """AdamW with every unique parameter in one group: matrices and tables decay, biases and norms do not."""
    owners = [*(part for part in model.modules() if isinstance(part, nn.Embedding)), model.lm_head]
    in_tables, tables, matrices, vectors = {id(part.weight) for part in owners}, [], [], []
    for parameter in model.parameters():  # a tied table comes once
        group = tables if id(parameter) in in_tables else matrices if parameter.ndim > 1 else vectors
        group.append(parameter)
    groups = [
        {"params": tables, "weight_decay": WEIGHT_DECAY, "scale": TABLE_RATE},
        {"params": matrices, "weight_decay": WEIGHT_DECAY, "scale": 1},
        {"params": vectors, "weight_decay": 0.0, "scale": 1},
    ]
    # fused: one pass over all numbers, a third of the time for a model this small
    return torch.optim.AdamW(groups, lr, BETAS, fused=True)


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


def _mean_loss(model, rows):
    """The mean loss of a batch (B, T + 1), in nats per token; under torchrun, this process's part of it."""
    rank, world = _place()
    inputs, targets = inputs_and_targets(rows[rank::world])
    # counted in the whole batch, so that every process divides by the same; 1 for a batch that has nothing to learn
    counted = (rows[:, 1:] != IGNORED).sum().clamp(min=1)
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum")
    return loss / counted


def _over_all_processes(loss, model):
    """The loss of the whole batch, as a float; under torchrun, the gradients become those of the whole batch too."""
    if _place()[1] > 1:
        for tensor in (loss, *(parameter.grad for parameter in model.parameters() if parameter.grad is not None)):
            dist.all_reduce(tensor)  # sums
    return loss.item()


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
def token_losses(model, rows, batch_size=32) -> torch.Tensor:
    """-log p of every target, in nats: rows (m, T + 1) -> (m, T), NaN where the target is -100.

    Each part of the model has its own mode again, also after an error. batch_size: rows that are read at a time.
    """
    kind = {"dtype": next((p.dtype for p in model.parameters()), torch.float64), "device": rows.device}
    found = torch.empty(len(rows), rows.shape[1] - 1, **kind)  # (m, T); made first, so that batches leave no gaps
    with in_mode(model, training=False):
        for batch, losses in zip(rows.split(batch_size), found.split(batch_size), strict=True):
            inputs, targets = inputs_and_targets(batch)  # (B, T) twice
            logits = model(inputs).flatten(0, 1)  # (B, T, V) -> (B T, V)
            each = F.cross_entropy(logits, targets.flatten(), ignore_index=IGNORED, reduction="none")  # (B T,)
            losses.copy_(each.view_as(losses)).masked_fill_(targets == IGNORED, math.nan)
    return found


def _evaluate(model, rows, kinds, history, batch_size, step):
    if rows is None:
        return
    losses = token_losses(model, rows, batch_size)  # read as many at a time as in training, so no more memory is needed
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


def _settings(gpt, steps, batch_size, lr, seed, valid_every, rows, valid_rows, kinds):
    """What has to be the same where a run goes on, for JSON."""
    return {
        "steps": int(steps),
        "batch_size": int(batch_size),
        "lr": float(lr),
        "seed": int(seed),
        "config": asdict(gpt.config),
        "rows": fingerprint(rows),
        "valid_rows": None if valid_rows is None else fingerprint(valid_rows),
        "valid_every": int(valid_every),
        "kinds": {kind: fingerprint(mask) for kind, mask in (kinds or {}).items()},
    }


def _require(model, rows, valid_rows, steps, batch_size, lr, seed, valid_every, kinds):
    for name, value in (("steps", steps), ("batch_size", batch_size), ("valid_every", valid_every)):
        validate.whole_number(name, value)
    validate.whole_number("seed", seed, low=0, high=LARGEST_SEED)
    validate.number("lr", lr, "a finite number from 0 up, such as 3e-3", lambda lr: 0 <= lr < math.inf)
    if batch_size % _place()[1]:
        raise ValueError(f"batch_size={batch_size} does not divide by the {_place()[1]} processes; give a multiple.")
    _require_trainable(model)
    for name, given in (("rows", rows), ("valid_rows", valid_rows)):
        if given is not None or name == "rows":
            validate.rows(name, given, model.config, IGNORED, model.wte.weight.device)
    _require_kinds(kinds or {}, valid_rows)


def _require_trainable(model):
    if any(parameter.is_inference() for parameter in model.parameters()):
        raise ValueError("the model was made in inference mode and can learn nothing; make it outside of that.")
    if not torch.is_grad_enabled():
        raise ValueError("gradients are switched off; call train outside of torch.no_grad() and inference_mode().")
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError("all parameters are frozen; let some learn: model.requires_grad_(True).")


def _require_kinds(kinds, valid_rows):
    for kind, mask in kinds.items():
        wanted = None if valid_rows is None else (len(valid_rows), valid_rows.shape[1] - 1)
        validate.instance(f"kinds[{kind!r}]", mask, torch.Tensor)
        if mask.dtype != torch.bool or tuple(mask.shape) != wanted:
            raise ValueError(
                f"kinds[{kind!r}] is {mask.dtype} of shape {tuple(mask.shape)}; "
                f"give bool, one for each target of valid_rows: {wanted}."
            )
