"""Variants of Llama, Mistral, Qwen2, Qwen3, Phi-3, OLMo 2, Mixtral, gpt-oss and GPT-2."""

import transformers as hf

from . import Case

SIZES = dict(vocab_size=301, hidden_size=20, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=37, max_position_embeddings=64)
ODD = dict(vocab_size=283, hidden_size=18, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1,
           intermediate_size=29, max_position_embeddings=96)
HEAD = dict(head_dim=8)


def rope(kind, **keys):
    return {"rope_parameters": dict(rope_type=kind, rope_theta=1234.5, **keys)}


def spread(count, first, step):
    return [first + step * i for i in range(count)]


LLAMA_3 = dict(factor=3.7, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=24)

CASES = {
    "llama-biases": hf.LlamaConfig(**SIZES, head_dim=10, attention_bias=True, mlp_bias=True, hidden_act="gelu",
                                   **rope("llama3", **LLAMA_3)),
    "llama-linear": hf.LlamaConfig(**ODD, **HEAD, tie_word_embeddings=True, hidden_act="relu2", mlp_bias=True,
                                   **rope("linear", factor=2.5)),
    "llama-dynamic": hf.LlamaConfig(**SIZES, **HEAD, hidden_act="quick_gelu", **rope("dynamic", factor=3.0)),
    # Longer samples than the context: transformers takes other frequencies at each length.
    "llama-stretched": Case(hf.LlamaConfig(**{**ODD, "max_position_embeddings": 32}, **HEAD, attention_bias=True,
                                           **rope("dynamic", factor=3.0)), generates=False),
    "llama-yarn": hf.LlamaConfig(**SIZES, head_dim=10, hidden_act="gelu_new", tie_word_embeddings=True, rms_norm_eps=1e-3,
                                 **rope("yarn", factor=4.0, beta_fast=8.0, beta_slow=2.0, mscale=0.7, mscale_all_dim=1.0,
                                        original_max_position_embeddings=16, truncate=False)),
    "llama-longrope": hf.LlamaConfig(**ODD, **HEAD, hidden_act="mish", **rope(
        "longrope", factor=8.0, short_factor=spread(4, 1.0, 0.3), long_factor=spread(4, 1.5, 2.0),
        original_max_position_embeddings=64)),
}

CASES |= {
    "mistral-window": hf.MistralConfig(**SIZES, head_dim=10, sliding_window=7, hidden_act="gelu", tie_word_embeddings=True,
                                       **rope("yarn", factor=8.0, original_max_position_embeddings=8)),
    "mistral-plain": hf.MistralConfig(**{**ODD, "num_attention_heads": 8, "num_key_value_heads": 8}, head_dim=4,
                                      sliding_window=None, **rope("linear", factor=3.0)),
    "qwen2-window": hf.Qwen2Config(**{**SIZES, "hidden_size": 24}, use_sliding_window=True, sliding_window=7,
                                   max_window_layers=2, **rope("yarn", factor=4.0, original_max_position_embeddings=16,
                                                               attention_factor=1.25)),
    "qwen2-layers": hf.Qwen2Config(**ODD, use_sliding_window=True, sliding_window=5, tie_word_embeddings=True,
                                   hidden_act="relu", layer_types=["full_attention", "sliding_attention"] * 2,
                                   **rope("dynamic", factor=2.0)),
    "phi3-part": hf.Phi3Config(**{**SIZES, "hidden_size": 32}, pad_token_id=0, sliding_window=262144,
                               partial_rotary_factor=0.75, tie_word_embeddings=True, original_max_position_embeddings=48,
                               rope_parameters=dict(rope_type="longrope", rope_theta=1234.5, partial_rotary_factor=0.75,
                                                    short_factor=spread(3, 1.0, 0.2), long_factor=spread(3, 1.5, 3.0))),
    # Longer samples than the original length: transformers takes the other factors for shorter texts.
    "phi3-long": Case(hf.Phi3Config(**ODD, pad_token_id=0, sliding_window=11, original_max_position_embeddings=24,
                                    hidden_act="gelu", rope_parameters=dict(
                                        rope_type="longrope", rope_theta=1234.5, short_factor=spread(3, 1.0, 0.2),
                                        long_factor=spread(3, 1.5, 3.0))), generates=False),
    "phi3-rotated": hf.Phi3Config(**{**SIZES, "hidden_size": 40}, pad_token_id=0, hidden_act="gelu_pytorch_tanh",
                                  rope_parameters=dict(rope_type="default", rope_theta=500.0, partial_rotary_factor=0.4)),
    "olmo2-biases": hf.Olmo2Config(**SIZES, head_dim=10, attention_bias=True, hidden_act="gelu",
                                   **rope("llama3", **LLAMA_3)),
    "olmo2-yarn": hf.Olmo2Config(**ODD, tie_word_embeddings=True, rms_norm_eps=1e-3, hidden_act="relu6",
                                 **rope("yarn", factor=4.0, original_max_position_embeddings=16)),
}

CASES |= {
    "qwen3-window": hf.Qwen3Config(**SIZES, head_dim=8, attention_bias=True, use_sliding_window=True, sliding_window=7,
                                   max_window_layers=1, hidden_act="gelu",
                                   **rope("yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.8,
                                          mscale_all_dim=1.1, truncate=False)),
    "qwen3-linear": hf.Qwen3Config(**ODD, head_dim=10, tie_word_embeddings=True, use_sliding_window=True, sliding_window=9,
                                   layer_types=["sliding_attention", "full_attention"] * 2, **rope("linear", factor=4.0)),
    "qwen3-moe-window": hf.Qwen3MoeConfig(
        **{**SIZES, "num_hidden_layers": 4}, head_dim=8, num_experts_per_tok=2, num_experts=5, moe_intermediate_size=13,
        norm_topk_prob=True, decoder_sparse_step=2, mlp_only_layers=[1], attention_bias=True, use_sliding_window=True,
        sliding_window=11, hidden_act="gelu", **rope("llama3", **LLAMA_3)),
    "mixtral-yarn": hf.MixtralConfig(**SIZES, head_dim=10, num_experts_per_tok=2, num_local_experts=5, sliding_window=7,
                                       hidden_act="gelu", **rope("yarn", factor=4.0, original_max_position_embeddings=16)),
    "mixtral-dynamic": hf.MixtralConfig(**ODD, head_dim=6, num_experts_per_tok=3, num_local_experts=4, tie_word_embeddings=True,
                                     **rope("dynamic", factor=4.0)),
    "gpt-oss-plain": hf.GptOssConfig(**SIZES, head_dim=8, num_experts_per_tok=2, num_local_experts=5, attention_bias=False,
                                     sliding_window=7, swiglu_limit=0.7, swiglu_alpha=1.3, **rope("default"),
                                     layer_types=["full_attention", "sliding_attention", "sliding_attention"]),
    "gpt-oss-linear": hf.GptOssConfig(**ODD, head_dim=10, num_experts_per_tok=1, num_local_experts=3, sliding_window=5,
                                      layer_types=["full_attention"] * 3 + ["sliding_attention"], **rope("linear", factor=2.0)),
    "gpt2-gelu": hf.GPT2Config(vocab_size=301, n_positions=64, n_embd=20, n_layer=3, n_head=4, n_inner=37,
                               activation_function="gelu", tie_word_embeddings=False, resid_pdrop=0.0, embd_pdrop=0.0,
                               attn_pdrop=0.0, scale_attn_by_inverse_layer_idx=True),
    "gpt2-unscaled": hf.GPT2Config(vocab_size=283, n_positions=48, n_embd=18, n_layer=4, n_head=3, activation_function="relu",
                                   scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True, resid_pdrop=0.0,
                                   embd_pdrop=0.0, attn_pdrop=0.0, layer_norm_epsilon=1e-3),
}
