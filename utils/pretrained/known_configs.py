"""A few published configurations, as their config.json files give them (what concerns sizes, form and numbers).

The files are those of openai-community/gpt2, meta-llama/Meta-Llama-3-8B, meta-llama/Llama-2-7b-hf,
mistralai/Mistral-7B-v0.1, Qwen/Qwen2.5-0.5B and HuggingFaceTB/SmolLM2-135M. Each value was compared with two or more
stored copies of its file.
"""

SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
NO_BIAS = {"attention_bias": False}


def _like_llama(kind, V, n, sizes, tied, dtype, eps=1e-5, window=None, bias=None, **rope):
    """The keys in the order of the files: what only some of them hold stands in window, bias and rope."""
    return {
        **{"model_type": kind, "vocab_size": V, "max_position_embeddings": n, **(window or {})},
        **dict(zip(SIZES, sizes, strict=True)),
        **{**(bias or {}), "hidden_act": "silu", "rms_norm_eps": eps},
        **{**rope, "tie_word_embeddings": tied, "torch_dtype": dtype},
    }


KNOWN_CONFIGS = {
    "GPT-2 small": {
        "model_type": "gpt2",
        "vocab_size": 50_257,
        "n_positions": 1_024,
        "n_ctx": 1_024,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
    },
    "Llama-3-8B": _like_llama(
        "llama", 128_256, 8_192, (4_096, 14_336, 32, 32, 8), False, "bfloat16", bias=NO_BIAS, rope_theta=500_000.0
    ),
    "Llama-2-7B": _like_llama("llama", 32_000, 4_096, (4_096, 11_008, 32, 32, 32), False, "float16", rope_scaling=None),
    "Mistral-7B": _like_llama(
        "mistral",
        32_000,
        32_768,
        (4_096, 14_336, 32, 32, 8),
        False,
        "bfloat16",
        window={"sliding_window": 4_096},
        rope_theta=10_000.0,
    ),
    "Qwen2.5-0.5B": _like_llama(
        "qwen2",
        151_936,
        32_768,
        (896, 4_864, 24, 14, 2),
        True,
        "bfloat16",
        eps=1e-6,
        window={"use_sliding_window": False},
        rope_theta=1_000_000.0,
    ),
    "SmolLM2-135M": _like_llama(
        "llama", 49_152, 8_192, (576, 1_536, 30, 9, 3), True, "bfloat16", bias=NO_BIAS, rope_theta=100_000
    ),
}
