"""Mixtures of experts."""

import transformers as hf

# No two dimensions are equal. BALANCE trains the auxiliary loss of transformers.
SIZES = dict(vocab_size=301, hidden_size=20, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
             intermediate_size=37, max_position_embeddings=64)
SQUARE = SIZES | dict(hidden_size=24)  # the size of a head is hidden_size / num_attention_heads
LAYERS = SIZES | dict(num_hidden_layers=5)
BALANCE = dict(output_router_logits=True, router_aux_loss_coef=0.02)
ROUTED = dict(moe_intermediate_size=14, num_experts=5, num_experts_per_tok=3)
LOCAL = dict(num_local_experts=5, num_experts_per_tok=3)
GROUPED = dict(moe_intermediate_size=14, n_routed_experts=12, num_experts_per_tok=3, n_shared_experts=2,
               routed_scaling_factor=1.7)
# Latent attention: no two sizes of it are equal.
LATENT = SQUARE | GROUPED | dict(num_key_value_heads=6, qk_nope_head_dim=10, qk_rope_head_dim=8, v_head_dim=7, kv_lora_rank=9)
YARN = dict(rope_type="yarn", rope_theta=500.0, factor=4.0, original_max_position_embeddings=16)
LLAMA3 = YARN | dict(rope_type="llama3", low_freq_factor=1.0, high_freq_factor=4.0)

CASES = {
    "mixtral-window": hf.MixtralConfig(**SIZES, **BALANCE, **LOCAL, head_dim=10, sliding_window=11, rms_norm_eps=1e-4),
    "qwen3-moe-odd": hf.Qwen3MoeConfig(**LAYERS, **BALANCE, **ROUTED, head_dim=10, decoder_sparse_step=2,
                                       mlp_only_layers=[3]),
    "qwen3-moe-tied": hf.Qwen3MoeConfig(**SIZES, **ROUTED, head_dim=6, norm_topk_prob=True, mlp_only_layers=[0],
                                        tie_word_embeddings=True),
    "qwen2-moe-odd": hf.Qwen2MoeConfig(**LAYERS | SQUARE | dict(num_hidden_layers=5), **BALANCE, **ROUTED,
                                       shared_expert_intermediate_size=18, decoder_sparse_step=2, mlp_only_layers=[3],
                                       norm_topk_prob=True),
    "qwen2-moe-tied": hf.Qwen2MoeConfig(**SQUARE, **ROUTED, qkv_bias=False, shared_expert_intermediate_size=18,
                                        mlp_only_layers=[0], tie_word_embeddings=True, hidden_act="gelu"),
    "olmoe-odd": hf.OlmoeConfig(**SQUARE, **BALANCE, num_experts=5, num_experts_per_tok=3, clip_qkv=0.8,
                                attention_bias=True),
    "olmoe-tied": hf.OlmoeConfig(**SQUARE, num_experts=5, num_experts_per_tok=2, norm_topk_prob=True,
                                 tie_word_embeddings=True, rope_parameters=LLAMA3),
    "phimoe-odd": hf.PhimoeConfig(**SQUARE, **BALANCE, num_local_experts=5, sliding_window=13, attention_bias=True,
                                  lm_head_bias=True),
    "granitemoe-odd": hf.GraniteMoeConfig(**SQUARE, **BALANCE, **LOCAL, embedding_multiplier=12.5, logits_scaling=3.0,
                                          residual_multiplier=0.22, attention_multiplier=0.3),
    "granitemoeshared-tied": hf.GraniteMoeSharedConfig(**SQUARE, **LOCAL, shared_intermediate_size=18,
                                                       attention_bias=True, tie_word_embeddings=True,
                                                       rope_parameters=dict(rope_type="linear", rope_theta=700.0, factor=3.0)),
    "glm4-moe-odd": hf.Glm4MoeConfig(**SIZES, **GROUPED, head_dim=12, n_group=3, topk_group=2, attention_bias=True,
                                     use_qk_norm=True),
    "glm4-moe-tied": hf.Glm4MoeConfig(**SIZES, **GROUPED, head_dim=8, norm_topk_prob=False, first_k_dense_replace=0,
                                      rope_parameters=dict(rope_type="default", rope_theta=500, partial_rotary_factor=0.25),
                                      tie_word_embeddings=True),
    "dots1-odd": hf.Dots1Config(**SIZES, **GROUPED, head_dim=10, norm_topk_prob=True, first_k_dense_replace=1,
                                sliding_window=9, max_window_layers=1),
    "ernie4-5-moe-odd": hf.Ernie4_5_MoeConfig(**LAYERS | SQUARE | dict(num_hidden_layers=5), **BALANCE, moe_intermediate_size=14,
                                              moe_num_experts=5, moe_k=3, moe_num_shared_experts=2, use_bias=True,
                                              moe_layer_start_index=1, moe_layer_interval=2, tie_word_embeddings=False),
    "ernie4-5-moe-tied": hf.Ernie4_5_MoeConfig(**SQUARE, moe_intermediate_size=14, moe_num_experts=5, moe_k=2,
                                               moe_num_shared_experts=0, moe_layer_start_index=0),
    "minimax-m2-odd": hf.MiniMaxM2Config(**SIZES, **BALANCE, **LOCAL, head_dim=12, rotary_dim=6),
    "hunyuan-moe-odd": hf.HunYuanMoEV1Config(**SIZES, head_dim=10, num_experts=5, moe_topk=3),
    "hunyuan-moe-alpha": hf.HunYuanMoEV1Config(**SIZES, head_dim=6, num_experts=5, moe_topk=2, tie_word_embeddings=True,
                                               rope_parameters=dict(rope_type="dynamic", rope_theta=1000., alpha=30.0,
                                                                    factor=1.0)),
    "deepseek-v2-odd": hf.DeepseekV2Config(**LATENT | dict(kv_lora_rank=16), q_lora_rank=None, topk_method="group_limited_greedy", n_group=3, topk_group=2,
                                           first_k_dense_replace=1, rms_norm_eps=1e-4, rope_parameters=YARN),
    "deepseek-v3-odd": hf.DeepseekV3Config(**LATENT, q_lora_rank=11, n_group=3, topk_group=2, first_k_dense_replace=0,
                                           norm_topk_prob=False, rope_interleave=False, rms_norm_eps=1e-5, tie_word_embeddings=True,
                                           rope_parameters=YARN | dict(mscale=1.0, mscale_all_dim=0.7)),
    "deepseek-v3-moonlight": hf.DeepseekV3Config(**LATENT, q_lora_rank=None, n_group=1, topk_group=1, first_k_dense_replace=1,
                                                 rope_theta=50000.0, hidden_act="gelu"),
    "llama4-odd": hf.Llama4TextConfig(**LAYERS, num_local_experts=5, num_experts_per_tok=2, head_dim=10, intermediate_size_mlp=29,
                                      moe_layers=[1, 4], no_rope_layers=[1, 0, 1, 0, 1], attention_chunk_size=7, floor_scale=6,
                                      attn_scale=0.3, attention_bias=True),
    "llama4-tied": hf.Llama4TextConfig(**SIZES, num_local_experts=5, head_dim=6, intermediate_size_mlp=29, use_qk_norm=False,
                                       no_rope_layer_interval=2, attn_temperature_tuning=False, tie_word_embeddings=True,
                                       interleave_moe_layer_step=2),
    "flex-olmo-odd": hf.FlexOlmoConfig(**SQUARE, **BALANCE, pad_token_id=None, num_experts=5, num_experts_per_tok=3, attention_bias=True),
    "solar-open-odd": hf.SolarOpenConfig(**SIZES, **GROUPED, head_dim=10, n_group=3, topk_group=2,
                                        rope_parameters=YARN),
    "glm4-moe-lite-odd": hf.Glm4MoeLiteConfig(**LATENT, q_lora_rank=11, n_group=3, topk_group=2, rope_interleave=False),
    "deepseek-v32-odd": hf.DeepseekV32Config(**LATENT, q_lora_rank=11, n_group=3, topk_group=2, first_k_dense_replace=1,
                                             index_head_dim=12, index_n_heads=3, index_topk=48),
}
