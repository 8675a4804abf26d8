"""The model against GPT-2 of `transformers`, ties under every operation, PyTorch's own tools, and what is refused."""

import copy
import dataclasses
import io
import math
import pickle

import pytest
import torch
import torch.nn.functional as F
from tiny_runs import far, make, random_ids, same
from torch import nn
from torch.nn.utils import prune
from transformers import GPT2Config, GPT2LMHeadModel

from utils.model import GPT, GPTConfig, KVCache
from utils.sampling import generate

V, N_CTX = 200, 32
HF_ACTIVATION = {"gelu_tanh": "gelu_new", "gelu": "gelu", "relu": "relu"}


def next_token_loss(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def transformers_twin(model):
    """GPT2LMHeadModel with the same weights; its Conv1D stores them as (in, out)."""
    c = model.config
    twin = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=c.vocab_size, n_positions=c.n_ctx, n_embd=c.n_embd, n_layer=c.n_layer, n_head=c.n_head,
            n_inner=c.n_inner, activation_function=HF_ACTIVATION[c.activation], tie_word_embeddings=c.tied,
            layer_norm_epsilon=c.layer_norm_epsilon, attn_implementation="eager", bos_token_id=0, eos_token_id=0,
        )
    ).eval()  # fmt: skip
    state = {}
    for name, tensor in model.state_dict().items():
        linear = name.startswith("h.") and tensor.ndim == 2
        state[name if name == "lm_head.weight" else "transformer." + name] = tensor.T if linear else tensor
    twin.to(model.wte.weight.dtype).load_state_dict(state)
    return twin


CONFIGS = [
    {},
    {"tied": False},
    {"activation": "gelu"},
    {"activation": "relu", "n_inner": 96},
    {"n_inner": 64, "layer_norm_epsilon": 1e-2},
    {"n_embd": 48, "n_head": 3, "n_layer": 4, "n_ctx": 7, "vocab_size": 11},
    {"n_embd": 5, "n_head": 1, "n_layer": 1, "n_ctx": 1, "vocab_size": 1},
]


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@torch.no_grad()
def test_logits_are_those_of_transformers(course, loud, changes, dtype, bound):
    config = dataclasses.replace(course, **changes)
    model = loud(config, dtype=dtype)
    ids = random_ids(3, config.n_ctx, config.vocab_size)
    assert far(model(ids), transformers_twin(model)(ids).logits) <= bound


@pytest.mark.parametrize("changes", [{"activation": "gelu"}, {"layer_norm_epsilon": 1e-6}])
@torch.no_grad()
def test_that_comparison_notices_a_small_change(course, loud, changes):
    ids = random_ids(3, N_CTX)
    assert far(loud(dataclasses.replace(course, **changes))(ids), loud(course)(ids)) > 10 * 1e-5


# ---- one Parameter under two names


def saved(thing):
    torch.save(thing, file := io.BytesIO())
    return io.BytesIO(file.getvalue())


def step(module, fresh):
    gpt = find(module)
    next_token_loss(gpt, random_ids(2, 9)).backward()
    torch.optim.SGD(gpt.parameters(), lr=0.1).step()
    return module


def load(module, fresh, cloned=False, assign=False, device="cpu"):
    with torch.device(device):
        other = fresh()
    state = clones(module) if cloned else torch.load(saved(module.state_dict()))
    assert str(other.load_state_dict(state, assign=assign)) == "<All keys matched successfully>"
    return other


def clones(module):  # as a file has them that keeps both names apart
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


def emptied(module, fresh):
    with torch.device("meta"):
        other = fresh().to_empty(device="cpu")
    assert (find(other).lm_head.weight is find(other).wte.weight) == find(other).config.tied  # before it is loaded
    other.load_state_dict(module.state_dict())
    return other


def find(module):
    return next(part for part in module.modules() if isinstance(part, GPT))


CHANGES = {  # what is done to a module that holds a GPT, and whether its numbers are the same afterwards
    "deepcopy": (lambda m, fresh: copy.deepcopy(m), True),
    "pickle": (lambda m, fresh: pickle.loads(pickle.dumps(m)), True),
    "torch.save": (lambda m, fresh: torch.load(saved(m), weights_only=False), True),
    "state_dict": (load, True),
    "state_dict, assign": (lambda m, fresh: load(m, fresh, assign=True), True),
    "clones": (lambda m, fresh: load(m, fresh, cloned=True), True),
    "clones, assign": (lambda m, fresh: load(m, fresh, cloned=True, assign=True), True),
    "meta, assign": (lambda m, fresh: load(m, fresh, cloned=True, assign=True, device="meta"), True),
    "assign to a deepcopy": (lambda m, fresh: load(m, lambda: copy.deepcopy(fresh()), True, True), True),
    "assign to a pickle": (lambda m, fresh: load(m, lambda: pickle.loads(pickle.dumps(fresh())), True, True), True),
    "to_empty": (emptied, True),
    "double and back": (lambda m, fresh: m.double().float(), True),
    "new": (lambda m, fresh: fresh(), False),
    "optimizer step": (step, False),
    "bfloat16": (lambda m, fresh: m.to(torch.bfloat16), False),
    "half": (lambda m, fresh: m.half(), False),
    "double": (lambda m, fresh: m.double(), False),
    "reset_parameters": (lambda m, fresh: find(m).wte.reset_parameters() or m, False),
    "in parts": (lambda m, fresh: m.apply(lambda part: part.to(torch.bfloat16)), False),
}
INSIDE = pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside another module"])
TIED = pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
ASSIGN = pytest.mark.parametrize("assign", [False, True])


@INSIDE
@TIED
@pytest.mark.parametrize(("change", "stays"), CHANGES.values(), ids=CHANGES)
def test_the_tie_survives(course, change, stays, tied, inside):
    config = dataclasses.replace(course, tied=tied)

    def fresh():
        return nn.Sequential(nn.Sequential(GPT(config)), nn.Linear(2, 2)) if inside else GPT(config)

    module, ids = fresh(), random_ids(2, 9)
    before = find(module)(ids).detach()
    module = change(module, fresh)
    model = find(module)
    assert not stays or torch.equal(model(ids), before)
    for _ in range(2):  # also after one more step of an optimizer
        table, head = model.wte.weight, model.lm_head.weight
        assert (head is table, head.data_ptr() == table.data_ptr()) == (tied, tied)
        assert sum(p.numel() for p in model.parameters()) == (114_944 if tied else 127_744)
        with torch.no_grad():
            table[3] = 7
        assert bool((head[3] == 7).all()) == tied
        step(module, fresh)
    assert torch.equal(model.wte.weight, model.lm_head.weight) == tied


@INSIDE
@ASSIGN
@pytest.mark.parametrize("dropped", ["lm_head.weight", "wte.weight"])
def test_a_tied_model_loads_from_either_name(course, dropped, assign, inside):
    source, model = GPT(course), GPT(course)
    target, prefix = (nn.ModuleList([model]), "0.") if inside else (model, "")
    state = {prefix + name: tensor for name, tensor in clones(source).items() if name != dropped}
    target.load_state_dict(state, assign=assign)
    assert prefix + dropped not in state  # the caller's dict is not touched
    assert model.lm_head.weight is model.wte.weight
    assert torch.equal(model(random_ids(2, 9)), source(random_ids(2, 9)))


DIFFERENT = {
    "one number": lambda table: table.clone().index_fill_(0, torch.tensor([7]), 3.0),
    "another type": lambda table: table.double(),
    "a row less": lambda table: table[:-1].clone(),
    "transposed view": lambda table: table.T,
}


@INSIDE
@ASSIGN
@pytest.mark.parametrize("differ", DIFFERENT.values(), ids=DIFFERENT)
def test_two_tables_for_one_are_refused(course, refused, differ, assign, inside):
    config = dataclasses.replace(course, vocab_size=64)  # a square table, so that a transposed one has its shape
    model = GPT(config)
    target, prefix = (nn.ModuleList([model]), "0.") if inside else (model, "")
    state = {prefix + key: tensor for key, tensor in GPT(config).state_dict().items()}
    state[prefix + "lm_head.weight"] = differ(state[prefix + "wte.weight"])
    before = clones(model)
    with refused(ValueError, f"{prefix}wte.weight and {prefix}lm_head.weight differ", "tied=False"):
        target.load_state_dict(state, assign=assign)
    assert same(before, model.state_dict())
    assert model.lm_head.weight is model.wte.weight


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
@pytest.mark.parametrize("name", ["fresh", "loud"])
def test_the_tables_gradient_is_the_sum_of_two(course, loud, name, dtype, bound):
    model = loud(course, dtype=dtype) if name == "loud" else GPT(course).to(dtype)
    twin = GPT(dataclasses.replace(course, tied=False)).to(dtype)
    twin.load_state_dict(model.state_dict())
    ids = random_ids(4, 12)
    for one in (model, twin):
        next_token_loss(one, ids).backward()
        assert [key for key, p in one.named_parameters() if p.grad is None or not p.grad.any()] == []
    read, scored = twin.wte.weight.grad, twin.lm_head.weight.grad
    assert min(read.abs().max(), scored.abs().max()) > 1e-3
    assert (model.wte.weight.grad - (read + scored)).abs().max() <= bound


# ---- fresh weights


def test_one_seed_gives_the_same_weights_tied_or_not():
    tied, untied = (dict(make(seed=5, tied=tied).named_parameters()) for tied in (True, False))
    assert untied.keys() - tied.keys() == {"lm_head.weight"}
    assert same(tied, untied)


@pytest.mark.parametrize("n_layer", [1, 3])
def test_fresh_weights_are_those_of_gpt2(n_layer):
    torch.manual_seed(0)
    for name, tensor in GPT(GPTConfig(500, 100, 64, n_layer, 4, tied=False)).named_parameters():
        if tensor.ndim == 1:
            assert torch.equal(tensor, torch.full_like(tensor, float("ln_" in name and name.endswith("weight"))))
            continue
        std = 0.02 / math.sqrt(2 * n_layer) if name.endswith("c_proj.weight") else 0.02
        count = tensor.numel()  # five standard errors of a mean and of a standard deviation
        assert abs(tensor.mean().item()) < 5 * std / math.sqrt(count), name
        assert tensor.std().item() == pytest.approx(std, rel=5 / math.sqrt(2 * count)), name
        assert tensor.abs().max() < 6 * std, name


@pytest.mark.parametrize("seed", range(3))
@torch.no_grad()
def test_the_first_loss_is_that_of_a_guess_unless_the_table_is_n01(course, seed):
    torch.manual_seed(seed)
    model, ids = GPT(course), random_ids(64, N_CTX + 1, seed=seed)[:, :N_CTX]
    assert next_token_loss(model, ids).item() == pytest.approx(math.log(V), abs=0.03)
    model.wte.reset_parameters()
    assert next_token_loss(model, ids).item() == pytest.approx(63, abs=2)


# ---- how tokens reach each other


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@torch.no_grad()
def test_a_later_token_moves_no_earlier_logit_by_one_bit(course, loud, dtype):
    model = loud(course, dtype=dtype)
    for length in range(2, N_CTX + 1):
        ids = random_ids(3, length, seed=length)
        logits = model(ids)
        for cut in range(1, length):
            other = model(torch.cat([ids[:, :cut], (ids[:, cut:] + 1) % V], dim=1))
            assert torch.equal(other[:, :cut], logits[:, :cut])
            assert (other[:, cut:] != logits[:, cut:]).any(-1).all()


@torch.no_grad()
def test_every_earlier_token_and_its_place_count(course, loud):
    model, ids = loud(course, dtype=torch.float64), random_ids(1, N_CTX)
    changed = (ids + torch.eye(N_CTX, dtype=torch.int64)) % V  # each token once
    swapped = ids[:, [1, 0, *range(2, N_CTX)]]
    last = model(torch.cat([ids, changed, swapped]))[:, -1]
    assert ((last[1:] - last[0]).abs().amax(-1) > 1e-9).all()


@torch.no_grad()
def test_rows_of_a_batch_do_not_meet(course, loud):
    model, ids, order = loud(course), random_ids(8, N_CTX), torch.randperm(8)
    logits = model(ids)
    assert torch.equal(model(ids[order]), logits[order])
    assert far(torch.cat([model(row[None]) for row in ids]), logits) <= 1e-5


# ---- what PyTorch's own tools do to a model


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@torch.no_grad()
def test_a_compiled_model_is_one_graph_with_the_same_logits(course, loud, backend):
    model, ids = loud(course), random_ids(2, 9)
    torch._dynamo.reset()
    assert torch._dynamo.explain(model)(ids).graph_break_count == 0
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    assert torch.equal(compiled(ids), model(ids))
    compiled, cache = torch.compile(model, backend=backend), KVCache(course, 2)
    found = torch.cat([compiled(piece, cache=cache) for piece in ids.split([5, 1, 1, 2], dim=1)], dim=1)
    assert far(found, model(ids)) <= 1e-5


@pytest.mark.parametrize("part", ["h.0.mlp.c_fc", "h.1.attn.c_attn", "lm_head", "wte"])
@TIED
@torch.no_grad()
def test_a_pruned_model_computes_without_the_weights_that_are_gone(course, loud, tied, part):
    model, ids = loud(dataclasses.replace(course, tied=tied)), random_ids(2, 9)
    twin = GPT(dataclasses.replace(course, tied=False))
    twin.load_state_dict(clones(model))
    weight = twin.get_submodule(part).weight
    weight[weight.abs() < weight.abs().flatten().kthvalue(weight.numel() // 4 + 1).values] = 0
    prune.l1_unstructured(model.get_submodule(part), "weight", weight.numel() // 4)
    assert far(model(ids), twin(ids)) <= 1e-5
    assert model.double().float().load_state_dict(model.state_dict()).missing_keys == []  # and stays pruned
    assert far(model(ids), twin(ids)) <= 1e-5
    assert generate(model, ids, 3, temperature=0).shape == (2, 12)


@pytest.mark.parametrize("weight_norm", [nn.utils.weight_norm, nn.utils.parametrizations.weight_norm])
@pytest.mark.filterwarnings("ignore:.*weight_norm.*deprecated:FutureWarning")
def test_weight_norm_takes_length_and_direction_apart_and_both_learn(course, loud, weight_norm):
    model, ids = loud(course), random_ids(2, 9)
    before = model(ids).detach()
    weight_norm(model.h[0].mlp.c_proj)
    found = model(ids)
    assert far(found, before) <= 1e-5
    found.square().sum().backward()
    learning = [p for p in model.h[0].mlp.c_proj.parameters() if p.requires_grad]
    assert len(learning) == 3  # length, direction, bias
    assert all(p.grad.any() for p in learning)


@TIED
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@torch.no_grad()
def test_a_quantised_model_holds_8_bits_a_weight_and_says_nearly_the_same(course, loud, tied):
    model, ids = GPT(dataclasses.replace(course, tied=tied)), random_ids(2, 9)
    small = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    kinds = [type(part) for part in small.modules()]
    assert kinds.count(torch.ao.nn.quantized.dynamic.Linear) == 4 * course.n_layer + 1
    assert small.h[0].mlp.c_fc.weight().dtype == torch.qint8
    assert 0 < far(small(ids), model(ids)) < 0.05
    assert generate(small, ids, 30, temperature=0).shape == (2, 39)


@torch.no_grad()
def test_ids_and_model_on_different_devices(course, refused):
    with torch.device("meta"):
        model = GPT(course)
    assert model(torch.zeros(2, 9, dtype=torch.int64, device="meta")).shape == (2, 9, V)
    for run in (model, lambda ids: generate(model, ids, 1), lambda ids: model(ids, cache=KVCache(course))):
        with refused(ValueError, "ids is on the device cpu", "the model on meta", "ids.to('meta')"):
            run(torch.zeros(1, 4, dtype=torch.int64))
    with refused(ValueError, "ids is on the device meta", "the model on cpu"):
        GPT(course)(torch.zeros(1, 4, dtype=torch.int64, device="meta"))
