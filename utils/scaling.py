"""Scaling: the work that a model takes, what that costs, and which size a budget of work buys.

Work is counted in FLOPs, floating-point operations: one multiplication and one addition make two. N is the number of
all unique parameters, D the number of training tokens.
"""

import math
from numbers import Integral

from utils import validate
from utils.model import GPTConfig

# size N and training tokens D: Brown et al. 2020, Rae et al. 2021, Hoffmann et al. 2022, Meta 2024; GPT-2's tokens
# were never published
KNOWN_MODELS = {
    "GPT-3": (175e9, 300e9),
    "Gopher": (280e9, 300e9),
    "Chinchilla": (70e9, 1.4e12),
    "Llama-3-8B": (8.03e9, 15e12),
}


def matmul_flops(cfg, n_tokens) -> dict[str, int]:
    """FLOPs of one forward pass over one sequence of n_tokens, in every matrix product: an int for each part.

    (m, k) times (k, n) takes 2 m n k. The look-up is none, and the head's product is made whether its table is tied
    or not. Attention scores and the weighted sum count every pair of tokens, those that the mask hides included.
    Left out, as is usual: biases, layer norms, softmax and activation. Raises TypeError for what is no GPTConfig or
    no whole number, ValueError for a number of tokens that the context has no room for.
    """
    validate.instance("cfg", cfg, GPTConfig)
    n_tokens = validate.whole_number("n_tokens", n_tokens)
    if n_tokens > cfg.n_ctx:
        raise ValueError(
            f"n_tokens={n_tokens} is more than the context holds; give a whole number from 1 to {cfg.n_ctx}."
        )
    T, d, L = n_tokens, cfg.n_embd, cfg.n_layer
    return {
        "look-up": 0,
        "queries, keys, values": L * 2 * T * 3 * d * d,
        "attention scores": L * 2 * T * T * d,  # all heads together: H times d_head is d
        "weighted sum": L * 2 * T * d * T,
        "attention output": L * 2 * T * d * d,
        "mlp": L * 2 * (2 * T * cfg.d_ff * d),
        "head": 2 * T * cfg.vocab_size * d,
    }


def training_flops(n_params, n_tokens):
    """FLOPs to train n_params on n_tokens, about: 6 N D (Kaplan et al. 2020, section 2.1).

    Each parameter multiplies and adds once a token in the forward pass, and twice in the backward pass. Kaplan et al.
    leave the tables out of N; for a large model that makes little difference.
    Raises TypeError or ValueError for what is not a number above 0.
    """
    return 6 * _amount("n_params", n_params) * _amount("n_tokens", n_tokens)


def inference_flops(n_params):
    """FLOPs to generate one token with a KV cache, about: 2 N. Raises TypeError or ValueError for no number above 0."""
    return 2 * _amount("n_params", n_params)


def gpu_hours(flops, flops_per_second) -> float:
    """Hours of one GPU for so many FLOPs, at the speed in FLOPs per second that it sustains (not at its peak).

    Raises TypeError or ValueError for what is not a number above 0.
    """
    return _amount("flops", flops) / _amount("flops_per_second", flops_per_second) / 3600


def cost(hours, price_per_hour) -> float:
    """The price of so many GPU-hours, in the currency of price_per_hour.

    Raises TypeError or ValueError for what is not a number above 0.
    """
    return _amount("hours", hours) * _amount("price_per_hour", price_per_hour)


def compute_optimal(flops, tokens_per_param=20) -> tuple[float, float]:
    """The size N and the tokens D that use a budget of FLOPs best -> (N, D).

    From C = 6 N D and D = tokens_per_param * N, the 20 being what Hoffmann et al. 2022 found (table 3): both grow with
    the root of the budget. Raises TypeError or ValueError for what is not a number above 0.
    """
    ratio = _amount("tokens_per_param", tokens_per_param)
    n_params = math.sqrt(_amount("flops", flops) / (6 * ratio))
    return n_params, ratio * n_params


def published_loss(n_params, n_tokens) -> float:
    """Loss in nats per token that Hoffmann et al. 2022 (appendix D.3) fitted: 1.69 + 406.4 / N^0.34 + 410.7 / D^0.28.

    It holds for their text and tokenizer alone. 1.69 is their estimate of the entropy, the rest is what a finite model
    and finite data add. Raises TypeError or ValueError for what is not a number above 0.
    """
    return 1.69 + 406.4 / _amount("n_params", n_params) ** 0.34 + 410.7 / _amount("n_tokens", n_tokens) ** 0.28


def _amount(name, value):
    """`value` as Python's int or float, so that no NumPy integer overflows; it must be above 0 and finite."""
    allowed = "a number above 0"
    validate.number(name, value, allowed)
    if not 0 < value < math.inf:
        raise ValueError(f"{name}={value} is out of range; give {allowed} that is finite.")
    return int(value) if isinstance(value, Integral) else float(value)
