"""The oracle for Llama: transformers' own, with the same numbers."""

from transformers import LlamaConfig, LlamaForCausalLM

# the course's names and Hugging Face's
NAMES = {
    "wte": "model.embed_tokens", "h.": "model.layers.", "ln_1": "input_layernorm", "attn": "self_attn",
    "ln_2": "post_attention_layernorm", "ln_f": "model.norm",
}  # fmt: skip


def twin(model, attention="eager"):
    """transformers' Llama with the same numbers."""
    c = model.config
    config = LlamaConfig(
        vocab_size=c.vocab_size, max_position_embeddings=c.n_ctx, hidden_size=c.n_embd, num_hidden_layers=c.n_layer,
        num_attention_heads=c.n_head, num_key_value_heads=c.n_kv_head, intermediate_size=c.n_inner,
        tie_word_embeddings=c.tied, rms_norm_eps=c.rms_norm_eps, attn_implementation=attention,
        rope_parameters={"rope_type": "default", "rope_theta": c.rope_theta},
        bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    other, state = LlamaForCausalLM(config).eval(), {}
    for name, tensor in model.state_dict().items():
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        state[name] = tensor
    other.load_state_dict(state)
    return other
