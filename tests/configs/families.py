"""Configurations of every family, as `transformers` writes them today and as earlier versions did."""

from dataclasses import dataclass

import transformers as hf

LLAMA_3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 8192, "rope_type": "llama3"}


@dataclass
class Case:
    """A configuration, and the Titan model with the arguments that `titanc import` must give."""

    name: str
    config: object  # of transformers, or a dictionary as it was published
    model: str
    arguments: dict


def llama_8b(**more):
    """The `config.json` of Llama-3.1-8B, with additional or changed fields."""
    return {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
            "bos_token_id": 128000, "eos_token_id": [128001, 128008], "hidden_act": "silu", "hidden_size": 4096,
            "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 131072,
            "mlp_bias": False, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32,
            "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": LLAMA_3,
            "rope_theta": 500000.0, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
            "transformers_version": "4.43.0", "use_cache": True, "vocab_size": 128256, **more}


LLAMA_ARGUMENTS = dict(layers=32, embed=4096, kv_heads=8, group=4, head=128, ffn=14336, vocab=128256, theta=500000,
                       rope="llama3", factor=8, context=8192)


def published():
    """Published configurations, written from memory, in the form of transformers 4: rope_theta and rope_scaling are
    fields of the top level."""
    return [
        Case("Llama-3.1-8B", llama_8b(), "Llama", LLAMA_ARGUMENTS),
        Case("Llama-2-7b", {
            "_name_or_path": "meta-llama/Llama-2-7b-hf", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1,
            "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
            "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "llama",
            "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "pretraining_tp": 1,
            "rms_norm_eps": 1e-05, "rope_scaling": None, "tie_word_embeddings": False, "torch_dtype": "float16",
            "transformers_version": "4.31.0.dev0", "use_cache": True, "vocab_size": 32000,
        }, "Llama", dict(layers=32, embed=4096, kv_heads=32, group=1, head=128, ffn=11008, vocab=32000)),
        Case("Mistral-7B-v0.3", {
            "architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
            "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
            "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32,
            "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
            "sliding_window": None, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
            "transformers_version": "4.42.0", "use_cache": True, "vocab_size": 32768,
        }, "Mistral", dict(layers=32, embed=4096, kv_heads=8, group=4, head=128, ffn=14336, vocab=32768,
                           theta=1000000)),
        Case("Qwen2.5-0.5B", {
            "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
            "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02,
            "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24,
            "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
            "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": True,
            "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": True,
            "use_sliding_window": False, "vocab_size": 151936,
        }, "Qwen2", dict(layers=24, embed=896, kv_heads=2, group=7, head=64, ffn=4864, vocab=151936, tied=True)),
        Case("Qwen3-30B-A3B", {
            "architectures": ["Qwen3MoeForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
            "bos_token_id": 151643, "decoder_sparse_step": 1, "eos_token_id": 151645, "head_dim": 128,
            "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 6144,
            "max_position_embeddings": 40960, "max_window_layers": 48, "mlp_only_layers": [],
            "model_type": "qwen3_moe", "moe_intermediate_size": 768, "norm_topk_prob": True,
            "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
            "num_key_value_heads": 4, "output_router_logits": False, "rms_norm_eps": 1e-06, "rope_scaling": None,
            "rope_theta": 1000000.0, "router_aux_loss_coef": 0.001, "sliding_window": None,
            "tie_word_embeddings": False, "torch_dtype": "bfloat16", "transformers_version": "4.51.0",
            "use_cache": True, "use_sliding_window": False, "vocab_size": 151936,
        }, "Qwen3", dict(layers=48, embed=2048, group=8, ffn=6144, kv_heads=4, active=8, expert_ffn=768)),
        Case("gpt2-small", {
            "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
            "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
            "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
            "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "summary_activation": None,
            "summary_first_dropout": 0.1, "summary_proj_to_labels": True, "summary_type": "cls_index",
            "summary_use_proj": True,
            "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}}, "vocab_size": 50257,
        }, "Gpt2", dict(layers=12, heads=12, embed_rate=0.1, rate=0.1)),
        Case("DeepSeek-V2-Lite", {
            "architectures": ["DeepseekV2ForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
            "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV2Config"}, "aux_loss_alpha": 0.001,
            "bos_token_id": 100000, "eos_token_id": 100001, "first_k_dense_replace": 1, "hidden_act": "silu",
            "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 10944, "kv_lora_rank": 512,
            "max_position_embeddings": 163840, "model_type": "deepseek_v2", "moe_intermediate_size": 1408,
            "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2,
            "norm_topk_prob": False, "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 27,
            "num_key_value_heads": 16, "pretraining_tp": 1, "q_lora_rank": None, "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06,
            "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 0.707,
                             "mscale_all_dim": 0.707, "original_max_position_embeddings": 4096, "type": "yarn"},
            "rope_theta": 10000, "routed_scaling_factor": 1.0, "scoring_func": "softmax", "seq_aux": True,
            "tie_word_embeddings": False, "topk_group": 1, "topk_method": "greedy", "torch_dtype": "bfloat16",
            "transformers_version": "4.33.1", "use_cache": True, "v_head_dim": 128, "vocab_size": 102400,
        }, "DeepSeek", dict(layers=26, embed=2048, heads=16, ffn=10944, expert_ffn=1408, experts=64, active=6,
                            shared=2, rope="yarn", factor=40, context=4096, mscale=0.707, mscale_all=0.707)),
    ]


def tiny():
    """Small configurations of every family, in the form of the installed transformers."""
    common = dict(vocab_size=96, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=48)
    sizes = dict(layers=4, embed=32, vocab=96)
    rope = {"rope_type": "default", "rope_theta": 5000.0}
    grouped = dict(kv_heads=2, group=2)
    return [
        Case("llama", hf.LlamaConfig(**common, num_key_value_heads=2, rms_norm_eps=1e-5, rope_parameters=rope),
             "Llama", dict(**sizes, **grouped, head=8, ffn=48, theta=5000)),
        Case("llama-tied", hf.LlamaConfig(**common, num_key_value_heads=2, head_dim=6, tie_word_embeddings=True,
                                         rope_parameters={**LLAMA_3, "factor": 4.0, "rope_theta": 500000.0}),
             "Llama", dict(**sizes, **grouped, head=6, ffn=48, theta=500000, eps=1e-6, tied=True,
                           rope="llama3", factor=4, context=8192)),
        Case("mistral", hf.MistralConfig(**common, num_key_value_heads=2, sliding_window=16),
             "Mistral", dict(**sizes, **grouped, head=8, ffn=48, eps=1e-6, window=16)),
        Case("qwen2", hf.Qwen2Config(**common, num_key_value_heads=2),
             "Qwen2", dict(**sizes, **grouped, head=8, ffn=48, theta=10000)),
        Case("qwen3", hf.Qwen3Config(**common, num_key_value_heads=2, head_dim=16),
             "Qwen3", dict(**sizes, group=2, kv_heads=2, head=16, ffn=48, theta=10000)),
        Case("qwen3-yarn", hf.Qwen3Config(**common, num_key_value_heads=2, head_dim=16, rope_parameters={
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 10000.0}),
             "Qwen3", dict(**sizes, group=2, kv_heads=2, head=16, ffn=48, theta=10000, rope="yarn", factor=4, context=64)),
        Case("qwen3-moe", hf.Qwen3MoeConfig(**common, num_key_value_heads=2, head_dim=16, moe_intermediate_size=24,
                                           num_experts=8, num_experts_per_tok=2, norm_topk_prob=True),
             "Qwen3", dict(**sizes, group=2, kv_heads=2, head=16, ffn=48, theta=10000, active=2, experts=8, expert_ffn=24)),
        Case("qwen3-moe-plain", hf.Qwen3MoeConfig(**common, num_key_value_heads=2, head_dim=16, moe_intermediate_size=24,
                                                 num_experts=8, num_experts_per_tok=2),
             "Qwen3", dict(**sizes, group=2, kv_heads=2, head=16, ffn=48, theta=10000, active=2, experts=8, expert_ffn=24,
                           renormalised=False)),
        Case("gemma2", hf.Gemma2Config(**common, num_key_value_heads=2, head_dim=8, query_pre_attn_scalar=12,
                                      sliding_window=16),
             "Gemma2", dict(**sizes, kv_heads=2, head=8, ffn=48, query_size=12, window=16)),
        Case("phi3", hf.Phi3Config(**common, num_key_value_heads=2, sliding_window=12, pad_token_id=0),
             "Phi3", dict(**sizes, **grouped, head=8, ffn=48, window=12)),
        Case("mixtral", hf.MixtralConfig(**common, num_key_value_heads=2, num_local_experts=4),
             "Mixtral", dict(**sizes, group=2, expert_ffn=48, kv_heads=2, head=8, experts=4)),
        Case("deepseek-v3", hf.DeepseekV3Config(**common, num_key_value_heads=4, moe_intermediate_size=16,
                                               n_routed_experts=8, num_experts_per_tok=2, n_group=4, topk_group=2,
                                               first_k_dense_replace=1, q_lora_rank=24, kv_lora_rank=16,
                                               qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6),
             "DeepSeekV3", dict(layers=3, embed=32, vocab=96, heads=4, ffn=48, expert_ffn=16, experts=8, active=2,
                                shared=1, plain=8, turned=4, value=6, kv_rank=16, narrow=True, q_rank=24, scale=2.5,
                                groups=4, kept_groups=2, rate=0)),
        Case("deepseek-v2", hf.DeepseekV2Config(**common, num_key_value_heads=4, moe_intermediate_size=16,
                                               n_routed_experts=8, num_experts_per_tok=2, first_k_dense_replace=1,
                                               q_lora_rank=None, kv_lora_rank=16, qk_nope_head_dim=8,
                                               qk_rope_head_dim=4, v_head_dim=6),
             "DeepSeek", dict(layers=3, embed=32, vocab=96, heads=4, ffn=48, expert_ffn=16, experts=8, active=2,
                              shared=2, plain=8, turned=4, value=6, kv_rank=16)),
        Case("gpt2", hf.GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=4, n_head=4, n_inner=48,
                                  layer_norm_epsilon=1e-6),
             "Gpt2", dict(layers=4, heads=4, head=8, vocab=96, context=64, ffn=48, eps=1e-6, embed_rate=0.1, rate=0.1)),
        Case("gpt-oss", hf.GptOssConfig(**common, num_key_value_heads=2, head_dim=8, num_local_experts=4,
                                       num_experts_per_tok=2, sliding_window=16),
             "GptOss", dict(layers=4, experts=4, embed=32, kv_heads=2, group=2, head=8, expert_ffn=48, active=2,
                            vocab=96, window=16)),
        Case("olmo2", hf.Olmo2Config(**common, num_key_value_heads=2),
             "Olmo2", dict(**sizes, **grouped, head=8, ffn=48, theta=10000, eps=1e-5)),
    ]


ARCHITECTURES = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM",
                 "qwen3": "Qwen3ForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM", "gemma2": "Gemma2ForCausalLM",
                 "phi3": "Phi3ForCausalLM", "mixtral": "MixtralForCausalLM", "deepseek_v2": "DeepseekV2ForCausalLM",
                 "deepseek_v3": "DeepseekV3ForCausalLM", "gpt2": "GPT2LMHeadModel", "gpt_oss": "GptOssForCausalLM",
                 "olmo2": "Olmo2ForCausalLM"}
