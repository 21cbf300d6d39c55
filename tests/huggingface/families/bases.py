"""Bases without a head, and positions of Phi-3.5-MoE."""

import transformers as hf

from . import Case

HEADS = dict(vocab_size=283, hidden_size=18, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, intermediate_size=29,
             max_position_embeddings=96, tie_word_embeddings=True)

CASES = {
    "llama-base": Case(hf.LlamaConfig(**HEADS, head_dim=10), base=True),
    "qwen2-base": Case(hf.Qwen2Config(**{**HEADS, "hidden_size": 24}, use_sliding_window=True, sliding_window=7, max_window_layers=1), base=True),
    "qwen3-base": Case(hf.Qwen3Config(**HEADS, head_dim=10), base=True),
    "phimoe-longrope": hf.PhimoeConfig(
        vocab_size=283, hidden_size=18, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, intermediate_size=29,
        num_local_experts=5, sliding_window=96, attention_bias=True, lm_head_bias=True, input_jitter_noise=0.01,
        max_position_embeddings=96, original_max_position_embeddings=64, rope_parameters=dict(
            rope_type="longrope", rope_theta=700.0, original_max_position_embeddings=64, short_mscale=1.3, long_mscale=1.3,
            short_factor=[1.0, 1.5, 2.5], long_factor=[1.0, 4.0, 8.0])),
    "mistral-base": Case(hf.MistralConfig(**HEADS, head_dim=8, sliding_window=5), base=True),
}
