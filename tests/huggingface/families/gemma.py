"""Gemma, LFM2 and encoders."""

import transformers as hf

from . import Case

SIZES = dict(vocab_size=301, hidden_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=37, head_dim=10, max_position_embeddings=64)
ODD = dict(vocab_size=283, hidden_size=18, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
           intermediate_size=29, head_dim=8, max_position_embeddings=96)

CASES = {
    "gemma": hf.GemmaConfig(**SIZES),
    "gemma-odd": hf.GemmaConfig(**ODD, hidden_act="gelu", attention_bias=True, tie_word_embeddings=False, rms_norm_eps=1e-5,
                                rope_parameters=dict(
                                    rope_type="yarn", rope_theta=5000.0, factor=4.0, original_max_position_embeddings=24)),
    "gemma2": hf.Gemma2Config(**SIZES, query_pre_attn_scalar=12, sliding_window=7, attn_logit_softcapping=3.0,
                              final_logit_softcapping=2.0),
    "gemma2-odd": hf.Gemma2Config(
        **ODD, query_pre_attn_scalar=6, sliding_window=11, attn_logit_softcapping=None, final_logit_softcapping=None,
        hidden_activation="gelu", tie_word_embeddings=False, attention_bias=True, rms_norm_eps=1e-5,
        rope_parameters=dict(rope_type="linear", rope_theta=3000.0, factor=3.0),
        layer_types=["full_attention", "sliding_attention", "sliding_attention", "full_attention"]),
    "gemma3": hf.Gemma3TextConfig(**SIZES, query_pre_attn_scalar=12, sliding_window=7),
    "gemma3-odd": hf.Gemma3TextConfig(
        **ODD, query_pre_attn_scalar=6, sliding_window=11, final_logit_softcapping=3.0, hidden_activation="silu",
        tie_word_embeddings=False, attention_bias=True, rms_norm_eps=1e-5,
        rope_parameters=dict(full_attention=dict(rope_type="linear", factor=8.0, rope_theta=5000.0),
                             sliding_attention=dict(rope_type="default", rope_theta=300.0)),
        layer_types=["sliding_attention", "full_attention", "full_attention", "sliding_attention"]),
    "lfm2": hf.Lfm2Config(
        vocab_size=301, hidden_size=24, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, intermediate_size=40,
        max_position_embeddings=64, block_multiple_of=7, block_ffn_dim_multiplier=1.3,
        layer_types=["conv", "full_attention", "conv"]),
    "lfm2-odd": hf.Lfm2Config(
        vocab_size=283, hidden_size=18, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1, intermediate_size=29,
        max_position_embeddings=96, head_dim=8, conv_L_cache=5, conv_bias=True, block_auto_adjust_ff_dim=False,
        tie_word_embeddings=False, norm_eps=1e-4, rope_parameters=dict(
            rope_type="llama3", rope_theta=700.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=24),
        layer_types=["full_attention", "conv", "conv", "full_attention"]),
    "mamba2": Case(hf.Mamba2Config(
        vocab_size=301, hidden_size=12, num_hidden_layers=2, num_heads=4, head_dim=6, n_groups=2, state_size=5, expand=2,
        chunk_size=16, time_step_limit=(0.0, 0.4)), decodes=False),
    "mamba2-odd": Case(hf.Mamba2Config(
        vocab_size=283, hidden_size=10, num_hidden_layers=3, num_heads=6, head_dim=5, n_groups=3, state_size=7, expand=3,
        chunk_size=7, conv_kernel=3, use_bias=True, use_conv_bias=False, hidden_act="gelu", layer_norm_epsilon=1e-4,
        tie_word_embeddings=True, time_step_limit=(0.01, 0.3)), decodes=False),
    "qwen3-next": Case(hf.Qwen3NextConfig(
        vocab_size=301, hidden_size=20, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
        intermediate_size=29, moe_intermediate_size=14, shared_expert_intermediate_size=9, num_experts=5, num_experts_per_tok=2,
        linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=5, linear_value_head_dim=7,
        max_position_embeddings=64), decodes=False),
    "qwen3-next-odd": Case(hf.Qwen3NextConfig(
        vocab_size=283, hidden_size=18, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, head_dim=12,
        intermediate_size=29, moe_intermediate_size=14, shared_expert_intermediate_size=11, num_experts=6, num_experts_per_tok=3,
        linear_num_key_heads=3, linear_num_value_heads=3, linear_key_head_dim=8, linear_value_head_dim=5, linear_conv_kernel_dim=3,
        layer_types=["full_attention", "linear_attention", "linear_attention"], mlp_only_layers=[1], norm_topk_prob=False,
        attention_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-4, hidden_act="gelu",
        rope_parameters=dict(rope_type="yarn", rope_theta=700.0, factor=4.0, original_max_position_embeddings=24,
                             partial_rotary_factor=0.5), max_position_embeddings=96), decodes=False),
    "qwen3-5": Case(hf.Qwen3_5TextConfig(
        vocab_size=301, hidden_size=20, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
        intermediate_size=29, linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=5, linear_value_head_dim=7,
        layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"],
        max_position_embeddings=64, rope_parameters=dict(rope_type="default", rope_theta=500.0, partial_rotary_factor=0.5,
                                                         mrope_section=[2, 1, 1])), decodes=False),
    "bamba": Case(hf.BambaConfig(
        vocab_size=301, hidden_size=20, intermediate_size=29, num_hidden_layers=3, num_attention_heads=5, num_key_value_heads=1,
        head_dim=8, attn_layer_indices=[1], mamba_n_heads=6, mamba_d_head=10, mamba_d_state=7, mamba_n_groups=2, mamba_expand=3,
        mamba_d_conv=3, mamba_chunk_size=16, attention_bias=True, mlp_bias=True, mamba_proj_bias=True, rms_norm_eps=1e-4,
        tie_word_embeddings=True, time_step_limit=(0.0, 0.5), max_position_embeddings=64), decodes=False),
}
