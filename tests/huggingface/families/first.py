"""Llama."""

import transformers as hf

CASES = {
    "llama-odd": hf.LlamaConfig(vocab_size=301, hidden_size=18, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
                                intermediate_size=37, head_dim=10, max_position_embeddings=64, rms_norm_eps=1e-4),
}
