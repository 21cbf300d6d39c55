"""Decoders in the form of Llama."""

import transformers as hf

from . import Case

SIZES = dict(vocab_size=288, hidden_size=18, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2,
             intermediate_size=37,
             max_position_embeddings=64, pad_token_id=None)
WIDE = dict(vocab_size=259, hidden_size=36, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=3,
            intermediate_size=28,
            max_position_embeddings=64, pad_token_id=None)
LATENT = dict(vocab_size=263, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=3,
              intermediate_size=40, max_position_embeddings=64, pad_token_id=None, kv_lora_rank=11, qk_nope_head_dim=7,
              qk_rope_head_dim=4)
HEADS = dict(head_dim=10)
DEFAULT = dict(rope_type="default", rope_theta=5000.0)
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=8)
YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=16)
LONG = dict(rope_type="longrope", rope_theta=10000.0, short_factor=[1.1, 1.7], long_factor=[2.0, 3.0],
            original_max_position_embeddings=48)
KINDS = ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"]

CASES = {
    "arcee": hf.ArceeConfig(**SIZES, **HEADS, rope_parameters=DEFAULT),
    "arcee-tied": hf.ArceeConfig(**WIDE, tie_word_embeddings=True, attention_bias=True, mlp_bias=True, hidden_act="gelu",
                                 rms_norm_eps=1e-4, rope_parameters=LLAMA3),
    "smollm3": hf.SmolLM3Config(**WIDE),
    "smollm3-sliding": hf.SmolLM3Config(**WIDE, tie_word_embeddings=False, use_sliding_window=True, sliding_window=7,
                                        no_rope_layers=[0, 1, 0, 1], layer_types=KINDS, attention_bias=True, mlp_bias=True,
                                        hidden_act="gelu_pytorch_tanh", rope_parameters=DEFAULT),
    "seed-oss": hf.SeedOssConfig(**SIZES, **HEADS, attention_dropout=0.0, residual_dropout=0.0),
    "seed-oss-tied": hf.SeedOssConfig(**WIDE, **HEADS, attention_dropout=0.0, residual_dropout=0.0, tie_word_embeddings=True,
                                      attention_bias=False, attention_out_bias=True, mlp_bias=True, rope_parameters=YARN),
    "ernie4.5": hf.Ernie4_5Config(**SIZES, **HEADS),
    "ernie4.5-untied": hf.Ernie4_5Config(**WIDE, head_dim=8, tie_word_embeddings=False, use_bias=True, rope_parameters=YARN),
    "granite": hf.GraniteConfig(**WIDE, rope_parameters=DEFAULT),
    "granite-multiplied": hf.GraniteConfig(**WIDE, tie_word_embeddings=True, embedding_multiplier=12.0, logits_scaling=8.0,
                                           residual_multiplier=0.22, attention_multiplier=0.3, attention_bias=True,
                                           mlp_bias=True, rope_parameters=YARN),
    "helium": hf.HeliumConfig(**WIDE, head_dim=6),
    "helium-tied": hf.HeliumConfig(**WIDE, head_dim=6, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
                                   hidden_act="quick_gelu", rope_parameters=DEFAULT),
    "ministral": hf.MinistralConfig(**SIZES, **HEADS, sliding_window=7),
    "ministral-kinds": hf.MinistralConfig(**WIDE, head_dim=8, sliding_window=5, layer_types=KINDS, tie_word_embeddings=True,
                                          rope_parameters=YARN),
    "cwm": hf.CwmConfig(**SIZES, **HEADS, sliding_window=7, mlp_bias=True, rope_parameters={**LLAMA3, "rope_theta": 1e6}),
    "cwm-kinds": hf.CwmConfig(**WIDE, head_dim=8, sliding_window=5, layer_types=KINDS, tie_word_embeddings=True,
                              rope_parameters=DEFAULT),
    "hunyuan": hf.HunYuanDenseV1Config(**SIZES, **HEADS),
    "hunyuan-tied": hf.HunYuanDenseV1Config(**WIDE, head_dim=8, tie_word_embeddings=True, attention_bias=True,
                                            rope_parameters=dict(
                                                rope_type="dynamic", alpha=50.0, factor=1.0, beta_fast=32, beta_slow=1,
                                                mscale=1.0, mscale_all_dim=1.0)),
    "olmo": hf.OlmoConfig(**WIDE),
    "olmo-clipped": hf.OlmoConfig(**{**WIDE, "num_key_value_heads": 2}, tie_word_embeddings=True, clip_qkv=0.3,
                                  attention_bias=True, rope_parameters=DEFAULT),
    "olmo3": hf.Olmo3Config(**WIDE, sliding_window=7),
    "olmo3-tied": hf.Olmo3Config(**{**WIDE, "num_key_value_heads": 2}, sliding_window=5, layer_types=KINDS,
                                 attention_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-3, rope_parameters=dict(
                                     sliding_attention=dict(rope_type="default", rope_theta=3000.0), full_attention=YARN)),
    "exaone4": hf.Exaone4Config(**WIDE, sliding_window=7),
    "exaone4-full": hf.Exaone4Config(**{**WIDE, "num_key_value_heads": 2}, sliding_window=None, tie_word_embeddings=True,
                                     layer_types=["full_attention"] * 4,
                                     rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=2.0)),
    "nanochat": hf.NanoChatConfig(**WIDE),
    "nanochat-tied": hf.NanoChatConfig(**{**WIDE, "num_key_value_heads": 2}, tie_word_embeddings=True, attention_bias=True,
                                       final_logit_softcapping=None, hidden_act="gelu", rope_parameters=YARN),
    "apertus": Case(hf.ApertusConfig(**WIDE, rope_parameters=LLAMA3), updated="*.act_fn.[be]*"),  # constants
    "apertus-plain": hf.ApertusConfig(**{**WIDE, "num_key_value_heads": 2}, tie_word_embeddings=True, attention_bias=True,
                                      hidden_act="relu2", rope_parameters=DEFAULT),
    "ministral3": hf.Ministral3Config(**SIZES, **HEADS, sliding_window=7, rope_parameters=dict(
        YARN, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3)),
    "ministral3-tied": hf.Ministral3Config(**WIDE, head_dim=8, tie_word_embeddings=True, rope_parameters=dict(
        LLAMA3, llama_4_scaling_beta=0.1)),
    "nemotron": hf.NemotronConfig(**SIZES, head_dim=12),
    "nemotron-tied": hf.NemotronConfig(**WIDE, head_dim=8, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
                                       hidden_act="gelu", norm_eps=1e-3,
                                       rope_parameters=dict(LLAMA3, partial_rotary_factor=0.25)),
    "stablelm": hf.StableLmConfig(**{**WIDE, "hidden_size": 48}),
    "stablelm-parallel": hf.StableLmConfig(**{**WIDE, "hidden_size": 48, "num_key_value_heads": 2}, use_qkv_bias=True,
                                           qk_layernorm=True, use_parallel_residual=True, tie_word_embeddings=True,
                                           rope_parameters=dict(DEFAULT, partial_rotary_factor=0.5)),
    "glm": hf.GlmConfig(**SIZES, head_dim=12, eos_token_id=1),
    "glm-tied": hf.GlmConfig(**WIDE, head_dim=8, attention_bias=False, tie_word_embeddings=True, eos_token_id=1,
                             rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=3.0, partial_rotary_factor=0.25)),
    "glm4": hf.Glm4Config(**SIZES, head_dim=12, eos_token_id=1),
    "glm4-tied": hf.Glm4Config(**WIDE, head_dim=8, attention_bias=False, tie_word_embeddings=True, eos_token_id=1,
                               rope_parameters=dict(LLAMA3, partial_rotary_factor=0.75)),
    "minicpm3": hf.MiniCPM3Config(**LATENT, q_lora_rank=14, v_head_dim=9, dim_model_base=9,
                                  rope_parameters=dict(YARN, mscale=0.8, mscale_all_dim=0.7)),
    "minicpm3-wide": hf.MiniCPM3Config(**LATENT, q_lora_rank=None, tie_word_embeddings=False, scale_emb=3, scale_depth=0.9,
                                       mlp_bias=True, hidden_act="gelu", rope_parameters=LONG),
    "youtu": hf.YoutuConfig(**LATENT, q_lora_rank=14, v_head_dim=9, rope_parameters=dict(YARN, mscale=0.8, mscale_all_dim=0.7)),
    "youtu-wide": hf.YoutuConfig(**LATENT, q_lora_rank=None, v_head_dim=8, tie_word_embeddings=False, rope_interleave=False),
    "hyperclovax": hf.HyperCLOVAXConfig(**SIZES, **HEADS),
    "hyperclovax-multiplied": hf.HyperCLOVAXConfig(**WIDE, tie_word_embeddings=True, embedding_multiplier=3.0,
                                                   logits_scaling=0.125, residual_multiplier=0.5, attention_multiplier=0.3,
                                                   attention_bias=True, mlp_bias=True, rope_parameters=YARN),
    "jais2": hf.Jais2Config(**SIZES, **HEADS),
    "jais2-tied": hf.Jais2Config(**{**WIDE, "num_key_value_heads": 2}, tie_word_embeddings=True, attention_bias=False,
                                 mlp_bias=False, hidden_act="silu", layer_norm_eps=1e-3, rope_parameters=LLAMA3),
    "granite-swa": hf.GraniteSWAConfig(**WIDE, sliding_window=7, layer_rope_theta=[10000.0, 0, 3000.0, 500.0],
                                       attention_multiplier=0.3, embedding_multiplier=3.0),
    "granite-swa-untied": hf.GraniteSWAConfig(**SIZES, **HEADS, sliding_window=5, tie_word_embeddings=False, logits_scaling=2.0,
                                              residual_multiplier=0.5, attention_bias=True, mlp_bias=True,
                                              rope_parameters=YARN),
}
