"""Exercises 5.1, 5.2 and 5.3: the shift, the loss by hand, and perplexity."""

import torch
import torch.nn.functional as F

from utils.check.engine import Exercise, Verdict, by_cases, judge


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def _row_cases():
    return [
        (torch.tensor([[7, 8, 9]]),),
        (torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]),),
        (torch.randint(200, (3, 33), generator=_generator(1)),),
    ]


def _shift(rows):
    return rows[:, :-1], rows[:, 1:]


SHIFT = Exercise(
    number="5.1",
    target="An example: rows [[7, 8, 9]] give the inputs [[7, 8]] and the targets [[8, 9]].",
    probe=by_cases(
        _row_cases,
        right=_shift,
        mistakes=(
            ("the two are swapped: inputs come first.", lambda rows: (rows[:, 1:], rows[:, :-1])),
            ("both are the inputs: a target is the token after its input.", lambda rows: (rows[:, :-1],) * 2),
            ("both are the targets: an input is the token before its target.", lambda rows: (rows[:, 1:],) * 2),
            ("nothing is shifted: a target is the token after its input.", lambda rows: (rows, rows)),
            (
                "the rows are cut, not the columns: tokens run along the second axis.",
                lambda rows: (rows[:-1], rows[1:]),
            ),
            ("shifted by two: a target is the very next token.", lambda rows: (rows[:, :-2], rows[:, 2:])),
            (
                "the last target is the row's first token: nothing follows the last one, so drop it.",
                lambda rows: (rows, rows.roll(-1, 1)),
            ),
            ("the inputs are whole, and the last one has no target; drop it.", lambda rows: (rows, rows[:, 1:])),
            (
                "the targets are whole, and nothing comes before the first one; drop it.",
                lambda rows: (rows[:, :-1], rows),
            ),
            (
                "shifted the wrong way: a target is the token after its input, not the one before.",
                lambda rows: (rows, rows.roll(1, 1)),
            ),
            (
                "a target of -100 fills the end; rows hold T + 1 tokens, so nothing has to be filled, only cut.",
                lambda rows: (rows, F.pad(rows[:, 1:], (0, 1), value=-100)),
            ),
            (
                "the rows are joined first, so a row's last token is asked for the next row's first; cut each row.",
                lambda rows: (rows.flatten()[:-1], rows.flatten()[1:]),
            ),
            ("only the last token is a target; each place has one.", lambda rows: (rows[:, :-1], rows[:, -1:])),
            ("these are the targets alone; the inputs are wanted too.", lambda rows: rows[:, 1:]),
            ("these are the inputs alone; the targets are wanted too.", lambda rows: rows[:, :-1]),
            ("only the last token is a target; each place has one.", lambda rows: (rows[:, :-1], rows[:, -1])),
        ),
    ),
    meaning="one row of T + 1 tokens holds T questions and their T answers, with nobody to label them.",
    hints=(
        "The inputs are all tokens but one, and the targets are all tokens but another.",
        "A slice along the second axis, `rows[:, a:b]`, keeps all rows and some columns.",
    ),
)


def _logit_cases():
    return [
        (torch.tensor([[[0.0, 0.0]]]), torch.tensor([[1]])),
        (torch.tensor([[[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]]), torch.tensor([[0, 2]])),
        (2 * torch.randn(2, 4, 7, generator=_generator(2)), torch.randint(7, (2, 4), generator=_generator(3))),
        (torch.tensor([[[1000.0, 0.0, 999.0]]]), torch.tensor([[2]])),
        (torch.tensor([[[1000.0, 0.0, 999.0]]]), torch.tensor([[1]])),
    ]


def _loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _lifted(lift):
    """The loss with probabilities that are kept away from 0, so that their logarithm is finite."""
    return lambda logits, targets: -_chosen(lift(logits.softmax(-1)).log(), targets).mean()


def _chosen(values, targets):
    return values.gather(-1, targets[..., None])[..., 0]


LOSS = Exercise(
    number="5.2",
    target="An example: two equal scores, whichever is the target, give ln 2 = 0.6931.",
    probe=by_cases(
        _logit_cases,
        right=_loss,
        mistakes=(
            ("the sign is turned: log p is negative, and the loss is -log p.", lambda logits, t: -_loss(logits, t)),
            ("this is the sum over all places; take the mean.", lambda logits, t: _loss(logits, t) * t.numel()),
            (
                "this is one loss for each place; take their mean.",
                lambda logits, t: -_chosen(logits.log_softmax(-1), t),
            ),
            (
                "this is the mean probability of the targets; the loss is minus the mean of its logarithm.",
                lambda logits, t: _chosen(logits.softmax(-1), t).mean(),
            ),
            (
                "the logarithm is taken of the mean probability; take the mean of the logarithms.",
                lambda logits, t: -_chosen(logits.softmax(-1), t).mean().log(),
            ),
            (
                "this is the mean score of the targets, turned; the softmax is missing.",
                lambda logits, t: -_chosen(logits, t).mean(),
            ),
            (
                "right for small scores; with scores around 1000 the exponential overflows: use log_softmax.",
                lambda logits, t: -_chosen(logits.exp() / logits.exp().sum(-1, keepdim=True), t).log().mean(),
            ),
            (
                "a probability that rounds to 0 has no logarithm: take log_softmax, not the log of a softmax.",
                lambda logits, t: -_chosen(logits.softmax(-1).log(), t).mean(),
            ),
            (
                "the softmax is taken twice: cross_entropy wants scores, not probabilities.",
                lambda logits, t: _loss(logits.softmax(-1), t),
            ),
            (
                "the softmax runs along the places; each place has its own, along the vocabulary.",
                lambda logits, t: -_chosen(logits.log_softmax(1), t).mean(),
            ),
            *(
                (
                    "a small number keeps the probability from 0, and cuts off every large loss: take log_softmax.",
                    _lifted(lift),
                )
                for size in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-20, 1e-30)
                for lift in (lambda p, size=size: p + size, lambda p, size=size: p.clamp(min=size))
            ),
            (
                "the softmax runs along the batch; each place has its own, along the vocabulary.",
                lambda logits, t: -_chosen(logits.log_softmax(0), t).mean(),
            ),
            (
                "the sum is divided by the number of rows; divide by the number of places in them.",
                lambda logits, t: _loss(logits, t) * t.shape[1],
            ),
            (
                "the mean runs over the whole vocabulary; only the target of each place counts.",
                lambda logits, t: _loss(logits, t) / logits.shape[-1],
            ),
            (
                "this is minus the mean of all log-probabilities; at each place that of the target counts.",
                lambda logits, t: -logits.log_softmax(-1).mean(),
            ),
            (
                "each row has a loss of its own here; average over everything.",
                lambda logits, t: -_chosen(logits.log_softmax(-1), t).mean(1),
            ),
            (
                "this is the perplexity, e raised to the loss; the loss is wanted.",
                lambda logits, t: _loss(logits, t).exp(),
            ),
            (
                "this is for the likeliest token at each place; the target is another one at times.",
                lambda logits, t: -logits.log_softmax(-1).amax(-1).mean(),
            ),
            (
                "this is the entropy of the model's own distribution; the targets are not used.",
                lambda logits, t: -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1).mean(),
            ),
            (
                "only the first place counts here; take the mean over all.",
                lambda logits, t: -_chosen(logits.log_softmax(-1), t)[:, 0].mean(),
            ),
            (
                "the logarithm is to the base 10; the field counts in nats, with the natural logarithm.",
                lambda logits, t: _loss(logits, t) / torch.tensor(10.0).log(),
            ),
            (
                "the logarithm is to the base 2; the field counts in nats, with the natural logarithm.",
                lambda logits, t: _loss(logits, t) / torch.tensor(2.0).log(),
            ),
        ),
    ),
    meaning="making this number small and making the text likely are one and the same wish.",
    hints=(
        "First turn the scores into log-probabilities, along the vocabulary; PyTorch has `log_softmax`, which is safe.",
        "At each place only one of them counts, that of the target: `gather` picks it along the last axis.",
        "What is left is a mean and a sign.",
    ),
)


def _loss_cases():
    return [
        (torch.tensor([0.0]),),
        (torch.tensor([1.0, 3.0]),),
        (torch.tensor([[0.5, 2.0], [5.0, 0.1]]),),
    ]


PERPLEXITY = Exercise(
    number="5.3",
    target="An example: losses of ln 4 at every place give a perplexity of 4.",
    probe=by_cases(
        _loss_cases,
        right=lambda losses: losses.mean().exp(),
        mistakes=(
            ("the exponentials are averaged; average the losses first.", lambda losses: losses.exp().mean()),
            ("the base is 2; losses in nats need the base e.", lambda losses: 2 ** losses.mean()),
            ("the losses are summed; take their mean.", lambda losses: losses.sum().exp()),
            ("the sign is turned: perplexity is 1 or more.", lambda losses: (-losses.mean()).exp()),
            ("this is the mean loss; perplexity is e raised to it.", lambda losses: losses.mean()),
            ("this is one number for each place; one for all is wanted.", lambda losses: losses.exp()),
            ("each row is averaged on its own; average over everything.", lambda losses: losses.mean(-1).exp()),
            ("the base is 10; losses in nats need the base e.", lambda losses: 10 ** losses.mean()),
            ("the exponentials are summed; average the losses first.", lambda losses: losses.exp().sum()),
            (
                "the sum is divided by the number of rows; divide by the number of losses.",
                lambda losses: (losses.sum() / len(losses)).exp(),
            ),
            (
                "each row has a perplexity, and those are averaged; average all losses first.",
                lambda losses: losses.mean(-1).exp().mean(),
            ),
            ("this is that of the largest loss; take the mean.", lambda losses: losses.max().exp()),
            (
                "it is rounded to a whole number; a model may waver between 7.3 tokens.",
                lambda x: x.mean().exp().round(),
            ),
            ("the median is taken; perplexity comes from the mean.", lambda losses: losses.median().exp()),
        ),
    ),
    meaning="a perplexity of k means that the model is as unsure as one choosing among k equally likely tokens.",
    hints=("Average first.", "Then undo the logarithm in the loss."),
)


def ex_5_1(answer) -> Verdict:
    """Exercise 5.1: the shift. answer(rows (B, T + 1)) -> (inputs (B, T), targets (B, T))."""
    return judge(SHIFT, answer)


def ex_5_2(answer) -> Verdict:
    """Exercise 5.2: the loss by hand. answer(logits (B, T, V), targets (B, T)) -> one number, in nats."""
    return judge(LOSS, answer)


def ex_5_3(answer) -> Verdict:
    """Exercise 5.3: perplexity. answer(losses, one for each token) -> one number."""
    return judge(PERPLEXITY, answer)
