"""A student's own parts, put together with the weights of the trained model: do they give its logits?"""

import torch

from utils.check import progress
from utils.check.calling import Wrong, call
from utils.check.compare import as_array
from utils.check.engine import NOT_ATTEMPTED, PASSED, Verdict, verdict_of
from utils.check.isolation import isolated
from utils.pretrained import load_toy_gpt
from utils.toy_language import ToyLanguage

PARTS = ("2.3", "2.4", "2.5", "2.6")
TOLERANCE = 1e-5  # of the largest logit: right parts that add in another order round differently


def your_gpt() -> Verdict:
    """Whether the functions passed in exercises 2.3 to 2.6 give the trained model's logits, from its weights.

    Not attempted, with the exercises still open, unless all four are passed in this kernel.
    """
    return verdict_of(_assembled)


def _assembled():
    still_open = [number for number in PARTS if not progress.answers(number)]
    if still_open:
        text = "your GPT is made of your own answers; run and pass first, in this notebook,"
        return NOT_ATTEMPTED, f"{text} {', '.join(still_open)}. Then run this cell again."
    with isolated(), torch.no_grad():
        logits, wanted = _logits(*(part for number in PARTS for part in progress.answers(number)))
    start = "your parts, with the trained model's weights, give"
    if logits.shape != wanted.shape:
        raise Wrong(f"{start} logits of shape {tuple(logits.shape)}, and {tuple(wanted.shape)} is wanted.")
    largest = (logits - wanted).abs().max().item()
    if not largest < TOLERANCE * wanted.abs().max():
        raise Wrong(f"{start} other logits than the model; the largest difference is {largest:.2g}.")
    return PASSED, f"{start} its logits for 3 × 10 tokens, to {TOLERANCE:.5f} of the largest logit."


def _logits(attend, split_heads, merge_heads, pre_norm_block, gpt_forward):
    """The logits (3, 10, V) of a student's parts, and those of the model whose weights they use."""
    model = load_toy_gpt()
    ids = ToyLanguage().stories(3, seed=0)[0][:, :10]  # (3, 10)

    def attention(layer):
        def attn(x):
            parts = layer.c_attn(_tensor(x)).chunk(3, dim=-1)
            heads = [_tensor(split_heads(part, layer.n_head)) for part in parts]
            return layer.c_proj(_tensor(merge_heads(_tensor(attend(*heads)))))

        return attn

    def block(layer):
        return lambda x: _tensor(pre_norm_block(_tensor(x), layer.ln_1, attention(layer.attn), layer.ln_2, layer.mlp))

    def forward(*case):
        return _tensor(gpt_forward(*case))

    tables = model.wte.weight.detach(), model.wpe.weight.detach()
    return call(forward, ids, *tables, [block(layer) for layer in model.h], model.ln_f), model(ids)


def _tensor(value):
    """What a student's function returns, in whatever form its check accepted, as a float32 tensor."""
    return torch.as_tensor(as_array(value), dtype=torch.float32)
