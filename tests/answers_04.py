"""Answers to lesson 04's exercises, right and wrong: what tests/test_check.py tries."""

import math

import numpy as np
import torch
import torch.nn.functional as F

RIGHT: dict[str, list] = {}
WRONG: dict[str, list] = {}
INF = math.inf

# 4.1 the last scores


@torch.no_grad()
def _last(model, ids):
    return model(ids[:, -model.config.n_ctx :])[:, -1]


def _last_with_a_with(model, ids):
    n_ctx = model.config.n_ctx
    if ids.shape[1] > n_ctx:
        ids = ids[:, ids.shape[1] - n_ctx :]
    with torch.no_grad():
        logits = model(ids)
    return logits[:, ids.shape[1] - 1, :]


def _row_by_row(model, ids):
    with torch.inference_mode():
        return torch.stack([model(row[-model.config.n_ctx :][None])[0][-1] for row in ids])


def _in_train_mode(model, ids):
    model.train()
    torch.set_grad_enabled(False)
    return model.forward(ids[..., -model.config.n_ctx :]).select(1, -1)


RIGHT["4.1"] = [
    _last,
    torch.inference_mode()(lambda model, ids: model(ids[:, -4:])[:, -1, :]),
    _last_with_a_with,
    _row_by_row,
    _in_train_mode,
    lambda model, ids: model(ids[:, -model.config.n_ctx :])[:, -1].detach(),
    lambda model, ids: _last(model, ids).numpy(),
]
WRONG["4.1"] = [
    ("after every token", lambda m, ids: m(ids[:, -m.config.n_ctx :])),
    ("after the first token", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, 0]),
    ("longer than the context stops", torch.no_grad()(lambda m, ids: m(ids)[:, -1])),
    ("longer than the context stops", lambda m, ids: m(ids[:, -32:])[:, -1]),
    ("rows are cut off", torch.no_grad()(lambda m, ids: m(ids[-m.config.n_ctx :])[:, -1])),
    ("given the start", lambda m, ids: m(ids[:, : m.config.n_ctx])[:, -1]),
    ("cut too short", lambda m, ids: m(ids[:, -(m.config.n_ctx - 1) :])[:, -1]),
    ("last token only", lambda m, ids: m(ids[:, -1:])[:, -1]),
    ("only the first row of the batch is there", lambda m, ids: m(ids[:, -m.config.n_ctx :])[0, -1]),
    ("only the first row of the batch is read", lambda m, ids: m(ids[:1, -m.config.n_ctx :])[:, -1]),
    ("a batch of one loses its axis", lambda m, ids: _last(m, ids).squeeze()),
    ("last row of the batch", lambda m, ids: m(ids[:, -m.config.n_ctx :])[-1]),
    ("one axis too many", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, -1:]),
    ("vocabulary's last token", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, :, -1]),
    ("averaged over the places", lambda m, ids: m(ids[:, -m.config.n_ctx :]).mean(dim=1)),
    ("put together", lambda m, ids: m(ids[:, -m.config.n_ctx :]).sum(dim=1)),
    ("put together", lambda m, ids: m(ids[:, -m.config.n_ctx :]).max(dim=1).values),
    ("along the batch", lambda m, ids: F.softmax(_last(m, ids), dim=0)),
    ("a softmax has made", lambda m, ids: F.softmax(_last(m, ids), dim=-1)),
    ("log-probabilities", lambda m, ids: F.log_softmax(_last(m, ids), dim=-1)),
    ("token with the highest score", lambda m, ids: _last(m, ids).argmax(dim=-1)),
    ("require a gradient", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, -1]),
    ("after the last token but one", lambda m, ids: m(ids[:, -m.config.n_ctx :])[:, -2]),
    ("raised AttributeError", lambda m, ids: m(ids[:, -m.n_ctx :])[:, -1]),
    ("NaN", lambda m, ids: _last(m, ids) * torch.nan),
    ("returns None", lambda m, ids: print(end="")),
    ("changes its argument 2", lambda m, ids: _last(m, ids.zero_())),
]

# 4.2 temperature


def _by_hand(logits, temperature):
    scaled = logits / temperature
    weights = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    return weights / weights.sum(dim=-1, keepdim=True)


def _overflows(logits, temperature):
    weights = torch.exp(logits / temperature)
    return weights / weights.sum(dim=-1, keepdim=True)


def _in_numpy(logits, temperature):
    scaled = logits.numpy() / temperature
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _divides_in_place(logits, temperature):
    logits /= temperature
    return logits.softmax(-1)


def _by_powers(logits, temperature):
    powers = logits.softmax(-1) ** (1 / temperature)
    return powers / powers.sum(-1, keepdim=True)


RIGHT["4.2"] = [
    lambda logits, t: F.softmax(logits / t, dim=-1),
    lambda logits, t: (logits * (1 / t)).softmax(logits.ndim - 1),
    lambda logits, t: (logits / t - (logits / t).logsumexp(-1, keepdim=True)).exp(),
    lambda logits, t: torch.nn.Softmax(dim=-1)(logits.double() / t).tolist(),
    _by_hand,
    _in_numpy,
    _by_powers,
]
WRONG["4.2"] = [
    ("multiplied by the temperature", lambda logits, t: (logits * t).softmax(-1)),
    ("divides the probabilities", lambda logits, t: logits.softmax(-1) / t),
    ("raised to the temperature", lambda logits, t: logits.softmax(-1).pow(t)),
    ("raised to 1 / T", lambda logits, t: logits.softmax(-1) ** (1 / t)),
    ("not used", lambda logits, t: logits.softmax(-1)),
    ("along the first axis", lambda logits, t: (logits / t).softmax(dim=0)),
    ("along the second axis", lambda logits, t: (logits / t).softmax(dim=1)),
    ("not used", lambda logits, t: (logits - t).softmax(-1)),
    ("a sign is turned", lambda logits, t: F.softmax(-logits / t, dim=-1)),
    ("square of the temperature", lambda logits, t: (logits / t / t).softmax(-1)),
    ("root of the temperature", lambda logits, t: (logits / math.sqrt(t)).softmax(-1)),
    ("without the exponential", lambda logits, t: logits / t / (logits / t).sum(-1, keepdim=True)),
    ("of the whole batch", lambda logits, t: _overflows(logits - logits.max(), t)),
    ("guesses its axis", lambda logits, t: F.softmax(logits / t)),
    ("all rows together", lambda logits, t: (logits / t).flatten().softmax(0).reshape(logits.shape)),
    ("log-probabilities", lambda logits, t: (logits / t).log_softmax(-1)),
    ("divided scores", lambda logits, t: logits / t),
    ("not divided by their sum", lambda logits, t: torch.exp(logits / t)),
    ("overflow", _overflows),
    ("taken twice", lambda logits, t: (logits.softmax(-1) / t).softmax(-1)),
    ("do not sum to 1", lambda logits, t: (logits / t).sigmoid()),
    ("changes its argument 1", _divides_in_place),
    ("raised RuntimeError", lambda logits, t: torch.exp(logits / t) / torch.exp(logits / t).sum(-1)),
    ("rounded", lambda logits, t: (logits / t).softmax(-1).round(decimals=3)),
]

# 4.3 greedy as a limit


def _greedy(logits, temperature):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return _from_the_highest(logits, temperature)


def _from_the_highest(logits, temperature):
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)


def _scattered(logits, temperature):
    if not temperature:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    return (logits.double() / temperature).softmax(-1)


def _in_whole_numbers(logits, temperature):
    if temperature > 0:
        return _from_the_highest(logits, temperature)
    return (torch.arange(logits.shape[-1]) == logits.argmax(-1, keepdim=True)).int()


def _or(cold, warm=lambda logits, t: (logits / t).softmax(-1), limit=0.0):
    return lambda logits, t: cold(logits) if t <= limit else warm(logits, t)


def _one(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


def _at_topk(logits):
    return torch.zeros_like(logits).scatter(-1, logits.topk(1).indices, 1.0)


def _equal_highest(logits):
    return (logits == logits.max(-1, keepdim=True).values).float()


RIGHT["4.3"] = [
    _greedy,
    _scattered,
    _in_whole_numbers,
    _or(_one, limit=1e-10),
    _or(lambda x: _one(x).bool(), _from_the_highest),
]
WRONG["4.3"] = [
    ("divides by zero", lambda logits, t: (logits / t).softmax(-1)),
    ("this is the id of the highest score;", _or(lambda x: x.argmax(-1))),
    ("with an axis", _or(lambda x: x.argmax(-1, keepdim=True))),
    ("treated as 1", lambda logits, t: (logits / (t or 1)).softmax(-1)),
    ("share the probability", lambda logits, t: (logits / (t + 1e-8)).softmax(-1)),
    ("share the probability", lambda logits, t: (logits / max(t, 1e-6)).softmax(-1)),
    ("share the probability", _or(lambda x: _equal_highest(x) / _equal_highest(x).sum(-1, keepdim=True))),
    ("get a 1 each", _or(_equal_highest)),
    ("the highest id of several", _or(lambda x: _one(x.flip(-1)).flip(-1))),
    ("makes no promise for equals", _or(_at_topk, _from_the_highest)),
    ("makes no promise for equals", _or(lambda x: F.one_hot(x.sort(descending=True).indices[..., 0], x.shape[-1]))),
    ("in the whole batch", _or(lambda x: F.one_hot(x.argmax(), x.shape[-1]), _from_the_highest)),
    ("along the first axis", _or(lambda x: F.one_hot(x.argmax(dim=0), x.shape[-1]), _from_the_highest)),
    ("of the whole batch", _or(_one, lambda x, t: _overflows(x - x.max(), t))),
    ("the lowest score is taken", _or(lambda x: F.one_hot(x.argmin(-1), x.shape[-1]))),
    ("one token is chosen for the whole batch", _or(lambda x: (x == x.max()).float())),
    ("the score stands", _or(lambda x: x.where(_one(x) == 1, torch.tensor(0.0)))),
    ("keeps its size", _or(lambda x: x.softmax(-1) * _one(x))),
    ("all tokens are equally likely", _or(lambda x: torch.ones_like(x) / x.shape[-1])),
    ("every temperature is treated as 0", lambda logits, t: _one(logits)),
    ("small temperature is treated as 0", _or(_one, limit=0.1)),
    ("small temperature is treated as 0", _or(_one, limit=0.0015)),
    ("a number is added", lambda logits, t: (logits / (t + 1e-3)).softmax(-1)),
    ("raised to it", _or(_one, lambda logits, t: (logits / max(t, 0.1)).softmax(-1))),
    ("overflow", _or(_one, _overflows)),
    ("multiplied by the temperature", _or(_one, lambda logits, t: (logits * t).softmax(-1))),
    ("not used", _or(_one, lambda logits, t: logits.softmax(-1))),
    ("at a tiny one the divided scores overflow", _or(_one)),
    ("each row's highest", _or(_one, lambda logits, t: ((logits - logits.max()) / t).softmax(-1))),
    ("returns None", lambda logits, t: _one(logits) if t == 0 else None),
    ("raised ValueError", _or(_one, lambda logits, t: (logits / t).softmax(-1) if t > 0.01 else int("cold"))),
]

# 4.4 top-k


def _top_k(logits, k):
    values, order = logits.sort(dim=-1, descending=True, stable=True)
    return torch.full_like(logits, -INF).scatter(-1, order[..., :k], values[..., :k])


def _by_rank(logits, k):
    order = torch.argsort(-logits, dim=-1, stable=True)
    return torch.where(order.argsort(-1) < k, logits, -INF)


def _by_counting(logits, k):
    ids = torch.arange(logits.shape[-1])
    higher = logits[..., None, :] > logits[..., :, None]
    equal = (logits[..., None, :] == logits[..., :, None]) & (ids[None, :] < ids[:, None])
    return logits.masked_fill((higher | equal).sum(-1) >= k, -INF)


def _row_after_row(logits, k):
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    kept = [sorted(range(len(row)), key=lambda i, row=row: (-row[i], i))[:k] for row in rows]
    whole = [[x if i in keep else -INF for i, x in enumerate(row)] for row, keep in zip(rows, kept, strict=True)]
    return torch.tensor(whole).view(logits.shape)


def _threshold(logits, k, filling=-INF):
    k = min(k, logits.shape[-1])
    return torch.where(logits < logits.topk(k).values[..., -1:], filling, logits)


def _usual(logits, k):
    logits = logits.clone()
    logits[logits < torch.topk(logits, k).values[..., [-1]]] = -INF
    return logits


def _usual_in_place(logits, k):
    logits[logits < torch.topk(logits, min(k, logits.shape[-1])).values[..., [-1]]] = -INF
    return logits


def _from_topk(logits, k):
    values, ids = logits.topk(k)
    return torch.full_like(logits, -INF).scatter(-1, ids, values)


def _too_large(logits, k):
    logits.topk(k)
    return _top_k(logits, k)


def _gathered_mask(logits, k):
    order = logits.sort(descending=True, stable=True).indices
    dropped = torch.zeros_like(logits, dtype=torch.bool)
    dropped[..., k:] = True
    return logits.masked_fill(dropped.gather(-1, order), -INF)


def _cut_in_sorted_order(logits, k):
    values, order = logits.sort(descending=True, stable=True)
    return values.scatter(-1, order[..., k:], -INF)


def _filled(filling):
    return lambda logits, k: torch.where(_top_k(logits, k).isinf(), filling, logits)


def _first_row(logits, k):
    order = logits.reshape(-1, logits.shape[-1])[0].argsort(descending=True, stable=True)
    kept = torch.full_like(logits, -INF)
    kept[..., order[:k]] = logits[..., order[:k]]
    return kept


RIGHT["4.4"] = [_top_k, _by_rank, _by_counting, _row_after_row, lambda x, k: _top_k(x.double(), k).numpy()]
WRONG["4.4"] = [
    ("a threshold cannot part equals", _threshold),
    ("a threshold cannot part equals", _usual),
    ("changes its argument 1", _usual_in_place),
    (
        "itself is removed",
        lambda x, k: _top_k(x, k).where(x > x.sort(-1, True)[0][..., [min(k, x.shape[-1]) - 1]], -INF),
    ),
    ("larger than the vocabulary", _too_large),
    ("makes no promise", _from_topk),
    ("makes no promise", lambda x, k: _from_topk(x, min(k, x.shape[-1]))),
    ("the higher ids stay", lambda x, k: _top_k(x.flip(-1), k).flip(-1)),
    ("k lowest scores stay", lambda x, k: torch.where(_top_k(-x, k) > -INF, x, -INF)),
    ("highest scores are removed", lambda x, k: torch.where(_top_k(x, k) > -INF, -INF, x)),
    ("k scores are removed", lambda x, k: _top_k(x, max(0, x.shape[-1] - k))),
    ("one score too many", lambda x, k: _top_k(x, k + 1)),
    ("sorted order", lambda x, k: _top_k(x.sort(descending=True).values, k)),
    ("alone", lambda x, k: x.topk(min(k, x.shape[-1])).values),
    ("these are the ids", lambda x, k: x.argsort(descending=True, stable=True)[..., :k]),
    ("the first row decides", _first_row),
    ("in the whole batch", lambda x, k: _top_k(x.flatten(), k).view_as(x)),
    ("along the first axis", lambda x, k: _top_k(x.transpose(0, -1), k).transpose(0, -1)),
    ("a softmax follows", lambda x, k: _top_k(x, k).softmax(-1)),
    ("these are probabilities, cut", lambda x, k: _top_k(x.softmax(-1), k)),
    ("log-probabilities, cut", lambda x, k: _top_k(x.log_softmax(-1), k)),
    ("read backwards", _gathered_mask),
    ("read backwards", lambda x, k: x.masked_fill(x.sort(descending=True, stable=True).indices >= k, -INF)),
    ("of the unsorted scores", _cut_in_sorted_order),
    ("the first k ids", lambda x, k: torch.cat([x[..., :k], torch.full_like(x[..., k:], -INF)], -1)),
    ("nothing is removed", lambda x, k: x),
    ("this is a mask", lambda x, k: _top_k(x, k) > -INF),
    ("became 0", _filled(0.0)),
    ("became 0", lambda x, k: _threshold(x, k, 0.0)),
    ("a low number", _filled(-1e9)),
    ("its sign is minus", _filled(INF)),
    ("more than k scores stay", lambda x, k: _top_k(x, 2 * k)),
    ("fewer than k", lambda x, k: _top_k(x, 1)),
    ("NaN", lambda x, k: _top_k(x, k) * 0),
]

# 4.5 top-p


def _top_p(probs, p):
    values, order = probs.sort(dim=-1, descending=True)
    values = values.masked_fill(values.cumsum(-1) - values >= p, 0.0)
    kept = torch.zeros_like(probs).scatter(-1, order, values)
    return kept / kept.sum(-1, keepdim=True)


def _by_shifting(probs, p):
    values, order = torch.sort(probs, descending=True)
    remove = values.cumsum(-1) >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return F.normalize(probs.masked_fill(remove.gather(-1, order.argsort(-1)), 0.0), p=1, dim=-1)


def _with_loops(probs, p):
    kept = torch.zeros_like(probs).flatten(0, -2) if probs.ndim > 1 else torch.zeros(1, len(probs))
    for row, out in zip(probs.reshape(kept.shape), kept, strict=True):
        total = 0.0
        for i in sorted(range(len(row)), key=lambda i, row=row: -row[i]):
            if total >= p:
                break
            out[i] = row[i]
            total += row[i].item()
        out /= out.sum()
    return kept.view(probs.shape)


def _by_scores(probs, p):
    return torch.where(_top_p(probs, p) > 0, probs.log(), -INF).softmax(-1)


def _crossing(probs, p, at_least_one, equal=True):
    values, order = probs.sort(descending=True)
    keep = values.cumsum(-1) <= p if equal else values.cumsum(-1) < p
    keep[..., 0] = keep[..., 0] | at_least_one
    kept = torch.zeros_like(probs).scatter(-1, order, values * keep)
    return kept / kept.sum(-1, keepdim=True)


def _one_more(probs, p):
    values, order = probs.sort(descending=True)
    count = (values.cumsum(-1) < p).sum(-1, keepdim=True) + 2
    kept = torch.zeros_like(probs).scatter(-1, order, values * (torch.arange(probs.shape[-1]) < count))
    return kept / kept.sum(-1, keepdim=True)


def _mask_of(probs, p, place):
    values, order = probs.sort(descending=True)
    return place(values.cumsum(-1) - values < p, order)


def _divided(kept):
    return kept / kept.sum(-1, keepdim=True)


def _ascending(probs, p):
    values, order = probs.sort()
    keep = values.cumsum(-1) - values < p
    return _divided(torch.zeros_like(probs).scatter(-1, order, values * keep))


def _values_in_order(probs, p):
    values = probs.sort(descending=True).values
    return _divided(values * (values.cumsum(-1) - values < p))


def _kept_in_order(probs, p, bring_back):
    values, order = probs.sort(descending=True)
    return bring_back(values.masked_fill(values.cumsum(-1) - values >= p, 0.0), -1, order)


def _to_the_inverse(values, axis, order):
    return torch.zeros_like(values).scatter(axis, order.argsort(axis), values)


def _scatters_unsorted(probs, p):
    values, order = probs.sort(descending=True)
    keep = values.cumsum(-1) - values < p
    return _divided(torch.zeros_like(probs).scatter(-1, order, probs * keep))


def _until_above(probs, p, keep=None):
    values, order = probs.sort(descending=True)
    keep = keep(values) if keep else values.cumsum(-1) - values <= p
    return _divided(torch.zeros_like(probs).scatter(-1, order, values * keep))


def _set_of_first(probs, p):
    return _divided(probs * (_top_p(probs.reshape(-1, probs.shape[-1])[0], p) > 0))


RIGHT["4.5"] = [_top_p, _by_shifting, _with_loops, _by_scores, lambda x, p: _top_p(x.double(), p).tolist()]
WRONG["4.5"] = [
    ("nothing is left", lambda x, p: _crossing(x, p, at_least_one=False)),
    ("reaches p is missing", lambda x, p: _crossing(x, p, at_least_one=True)),
    ("reaches p is missing", lambda x, p: _crossing(x, p, at_least_one=True, equal=False)),
    ("one token too many", _one_more),
    ("does not sum to 1", lambda x, p: x * (_top_p(x, p) > 0)),
    ("flattens", lambda x, p: x.masked_fill(_top_p(x, p) == 0, -INF).softmax(-1)),
    ("each token with a probability of at least p", lambda x, p: _divided(x * (x >= p))),
    ("compared with single probabilities", lambda x, p: _divided(x * (x >= 1 - p))),
    ("share of the highest", lambda x, p: _divided(x * (x >= p * x.amax(-1, keepdim=True)))),
    ("stand in sorted order; each", _values_in_order),
    ("the mask stands in sorted order", lambda x, p: _divided(x * _mask_of(x, p, lambda keep, order: keep))),
    ("the wrong way", lambda x, p: _divided(x * _mask_of(x, p, lambda keep, order: keep.gather(-1, order)))),
    ("as `gather` or the inverse", lambda x, p: _divided(_kept_in_order(x, p, torch.Tensor.gather))),
    ("as `gather` or the inverse", lambda x, p: _divided(_kept_in_order(x, p, _to_the_inverse))),
    ("in the order of the ids; there", _scatters_unsorted),
    ("are still in sorted order", lambda x, p: _divided(x.sort(descending=True).values * (_top_p(x, p) > 0))),
    ("just reached p", _until_above),
    ("from row to row", lambda x, p: _until_above(x, p, lambda v: v.cumsum(0) - v < p)),
    ("from row to row", lambda x, p: _until_above(x, p, lambda v: v.flatten().cumsum(0).view_as(v) - v < p)),
    ("all rows together", lambda x, p: x * (_top_p(x, p) > 0) / x[_top_p(x, p) > 0].sum()),
    ("divided by p", lambda x, p: x * (_top_p(x, p) > 0) / p),
    ("only the likeliest", lambda x, p: F.one_hot(x.argmax(-1), x.shape[-1]).float()),
    ("the first row decides", _set_of_first),
    ("from the least likely", _ascending),
    ("in the order of the ids", lambda x, p: _divided(x * (x.cumsum(-1) - x < p))),
    ("tail", lambda x, p: _top_p(x, 1 - p)),
    ("along the first axis", lambda x, p: _top_p(x.transpose(0, -1), p).transpose(0, -1)),
    ("nothing is removed", lambda x, p: x),
    ("this is a mask", lambda x, p: _top_p(x, p) > 0),
    ("became -inf", lambda x, p: _top_p(x, p).masked_fill(_top_p(x, p) == 0, -INF)),
    ("changes its argument 1", lambda x, p: _divided(x.mul_(_top_p(x, p) > 0))),
    ("raised", lambda x, p: _top_p(x, p)[99]),
]

# 4.6 the loop


def _probs(logits, temperature):
    return (logits / temperature).softmax(-1)


def _multinomial(probs, generator):
    return torch.multinomial(probs, 1, generator=generator)


def _loop(draw=_multinomial, probs=_probs, see=lambda ids, n_ctx: ids[:, -n_ctx:], join=None, place=-1):
    @torch.no_grad()
    def generate_tokens(model, ids, max_new_tokens, temperature, generator):
        for _ in range(max_new_tokens):
            logits = model(see(ids, model.config.n_ctx))[:, place]
            new = draw(probs(logits, temperature), generator)
            ids = join(ids, new) if join else torch.cat([ids, new], dim=1)
        return ids

    return generate_tokens


def _cumulated(probs, generator):
    u = torch.rand(len(probs), 1, generator=generator)
    return (probs.cumsum(-1) <= u).sum(-1, keepdim=True).clamp(max=probs.shape[-1] - 1)


def _gumbel(probs, generator):
    waits = torch.empty_like(probs).exponential_(generator=generator)
    return (probs / waits).argmax(-1, keepdim=True)


def _by_rows(probs, generator):
    return torch.stack([torch.multinomial(row, 1, generator=generator) for row in probs])


def _into_room(model, ids, max_new_tokens, temperature, generator):
    rows, length = ids.shape
    whole = torch.zeros(rows, length + max_new_tokens, dtype=ids.dtype)
    whole[:, :length] = ids
    for end in range(length, length + max_new_tokens):
        logits = model(whole[:, max(0, end - model.config.n_ctx) : end])[:, -1]
        whole[:, end : end + 1] = _multinomial(_probs(logits, temperature), generator)
    return whole


def _in_lists(model, ids, max_new_tokens, temperature, generator):
    texts = ids.tolist()
    for _ in range(max_new_tokens):
        for text in texts:
            logits = model(torch.tensor([text[-model.config.n_ctx :]]))[0, -1]
            text.append(_multinomial(_probs(logits, temperature), generator).item())
    return texts


def _collected(model, ids, max_new_tokens, temperature, generator):
    new = ids
    for _ in range(max_new_tokens):
        new = torch.cat([new, _loop()(model, new, 1, temperature, generator)[:, -1:]], 1)
    return torch.cat([ids, new[:, ids.shape[1] :]], 1)


def _and(change, more=0):
    return lambda model, ids, n, *rest: change(_loop()(model, ids, n + more, *rest), ids)


def _stacked(model, ids, max_new_tokens, temperature, generator):
    new = []
    for _ in range(max_new_tokens):
        whole = torch.cat([ids, *new], 1)
        new.append(_loop()(model, whole, 1, temperature, generator)[:, -1:])
    return torch.cat([ids, torch.cat(new, 1)], 1)


def _prompt_only(model, ids, max_new_tokens, temperature, generator):
    logits = model(ids[:, -model.config.n_ctx :])[:, -1]
    new = [_multinomial(_probs(logits, temperature), generator) for _ in range(max_new_tokens)]
    return torch.cat([ids, *new], 1)


def _crops_for_good(model, ids, max_new_tokens, temperature, generator):
    for _ in range(max_new_tokens):
        ids = ids[:, -model.config.n_ctx :]
        ids = torch.cat([ids, _multinomial(_probs(model(ids)[:, -1], temperature), generator)], 1)
    return ids


def _returns_early(model, ids, max_new_tokens, *rest):
    for _ in range(max_new_tokens):
        return _loop()(model, ids, 1, *rest)
    return ids


def _seeds_each_step(probs, generator):
    return torch.multinomial(probs, 1, generator=torch.Generator().manual_seed(generator.initial_seed()))


def _seeds_once(model, ids, max_new_tokens, temperature, generator):
    return _loop()(model, ids, max_new_tokens, temperature, torch.Generator().manual_seed(1))


def _seeds_torch(model, ids, max_new_tokens, temperature, generator):
    torch.manual_seed(generator.initial_seed())
    return _loop()(model, ids, max_new_tokens, temperature, None)


RIGHT["4.6"] = [
    _loop(),
    _loop(_cumulated),
    _loop(_gumbel),
    _loop(_by_rows),
    _loop(probs=lambda logits, t: _probs(logits - logits.amax(-1, keepdim=True), t)),
    _into_room,
    _in_lists,
    _collected,
]
WRONG["4.6"] = [
    ("only the new tokens", _and(lambda ids, prompt: ids[:, prompt.shape[1] :])),
    ("this is the prompt alone", _and(lambda ids, prompt: prompt)),
    ("only the last token drawn", _and(lambda ids, prompt: ids[:, -1:])),
    ("one token too many", _and(lambda ids, prompt: ids, more=1)),
    ("one token is missing", _and(lambda ids, prompt: ids, more=-1)),
    ("a single token is made", _returns_early),
    ("longer than the context", _loop(see=lambda ids, n_ctx: ids)),
    ("given the start", _loop(see=lambda ids, n_ctx: ids[:, :n_ctx])),
    ("one token fewer", _loop(see=lambda ids, n_ctx: ids[:, -n_ctx + 1 :])),
    ("the last token only", _loop(see=lambda ids, n_ctx: ids[:, -1:])),
    ("loses its start", _crops_for_good),
    ("reads the prompt again", _prompt_only),
    ("after the first token", _loop(place=0)),
    ("in front of the text", _loop(join=lambda ids, new: torch.cat([new, ids], 1))),
    ("the last token is replaced", _loop(join=lambda ids, new: torch.cat([ids[:, :-1], new], 1))),
    ("a row of its own", _loop(join=lambda ids, new: torch.cat([ids, new]))),
    ("the first row's token", _loop(join=lambda ids, new: torch.cat([ids, new[:1].expand(len(ids), 1)], 1))),
    ("only the first row of the batch", lambda model, ids, *rest: _loop()(model, ids[:1], *rest)),
    ("max_new_tokens = 0", _stacked),
    ("is a softmax missing", _loop(probs=lambda logits, t: logits / t)),
    ("along the vocabulary", _loop(probs=lambda logits, t: (logits / t).softmax(0))),
    ("does not follow its probabilities", _loop(lambda p, g: torch.randint(p.shape[-1], (len(p), 1), generator=g))),
    ("likeliest token is taken", _loop(lambda probs, generator: probs.argmax(-1, keepdim=True))),
    ("once and for all", _loop(_seeds_each_step)),
    ("all rows draw the same", _loop(lambda p, g: (p.cumsum(-1) < torch.rand(1, generator=g)).sum(-1, keepdim=True))),
    ("other tokens the second time", _loop(lambda probs, generator: torch.multinomial(probs, 1))),
    ("every seed gives the same", _seeds_once),
    ("PyTorch's own generator", _seeds_torch),
    ("no effect", _loop(probs=lambda logits, t: logits.softmax(-1))),
    ("no effect", _loop(probs=lambda logits, t: logits.softmax(-1) / t)),
    ("high temperature sharpens", _loop(probs=lambda logits, t: (logits * t).softmax(-1))),
    ("no effect here", _loop(probs=lambda logits, t: (logits / max(t, 1.0)).softmax(-1))),
    ("twice", _loop(probs=lambda logits, t: (logits / t / t).softmax(-1))),
    ("as floats", _and(lambda ids, prompt: ids.float())),
    ("is cropped as well", _and(lambda ids, prompt: ids[:, -4:])),
    ("as often as they should", _loop(probs=lambda logits, t: (logits / t**3).softmax(-1))),
    ("raised", _loop(join=lambda ids, new: torch.cat([ids, new.squeeze(1)], 1))),
    ("changes its argument 2", _loop(join=lambda ids, new: torch.cat([ids.zero_(), new], 1))),
]
