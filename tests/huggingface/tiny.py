"""A tiny model of each family: the configuration of `transformers`, and the same model in Titan.

All dimensions have different sizes, so that tests detect transposed ones.
"""

from dataclasses import dataclass

import transformers as hf

SIZES = dict(vocab_size=256, hidden_size=24, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, intermediate_size=40, max_position_embeddings=64)
HEADS = dict(head_dim=8)
EXPERTS = dict(num_experts_per_tok=2)
LATENT = dict(vocab_size=256, hidden_size=24, num_hidden_layers=3, num_attention_heads=4,
              num_key_value_heads=4, intermediate_size=40, max_position_embeddings=64,
              moe_intermediate_size=20, n_routed_experts=6, num_experts_per_tok=2, kv_lora_rank=10,
              qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6, first_k_dense_replace=1)


@dataclass(frozen=True)
class Family:
    config: object  # of transformers
    module: str  # of the standard library
    model: str  # with its arguments
    splits: str = "kv_heads, ffn, vocab"  # by tensor parallelism
    is_importable: bool = True  # the module declares the configuration of transformers
    updated: str = ""  # buffers that Titan's model updates in a step and that of transformers does not

    @property
    def architecture(self) -> str:
        name = type(self.config).__name__.removesuffix("Config")
        return "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM"


FAMILIES = {
    "llama": Family(hf.LlamaConfig(**SIZES, **HEADS, rms_norm_eps=1e-5), "models.llama",
                    "Llama { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256 }"),
    "llama-tied": Family(
        hf.LlamaConfig(**SIZES, **HEADS, rms_norm_eps=1e-5, tie_word_embeddings=True), "models.llama",
        "Llama { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256, tied = true }"),
    "llama3.1": Family(
        hf.LlamaConfig(**SIZES, **HEADS, rms_norm_eps=1e-5, rope_parameters=dict(
            rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=32)), "models.llama",
        "Llama { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256,"
        " rope = \"llama3\", factor = 8, context = 32 }"),
    "mistral": Family(hf.MistralConfig(**SIZES, **HEADS, rms_norm_eps=1e-5, sliding_window=7), "models.llama",
                      "Mistral { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256,"
                      " window = 7 }"),
    "gpt2": Family(
        hf.GPT2Config(vocab_size=256, n_embd=24, n_layer=3, n_head=4, n_positions=64, resid_pdrop=0.0,
                      embd_pdrop=0.0, attn_pdrop=0.0), "models.gpt2",
        "Gpt2 { layers = 3, heads = 4, head = 6, vocab = 256, context = 64 }", "heads, ffn, vocab"),
    "gemma2": Family(
        hf.Gemma2Config(**SIZES, **HEADS, query_pre_attn_scalar=12, sliding_window=7), "models.gemma2",
        "Gemma2 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256,"
        " query_size = 12, window = 7 }"),
    "qwen2": Family(hf.Qwen2Config(**SIZES), "models.qwen2",
                    "Qwen2 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 6, ffn = 40, vocab = 256,"
                    " theta = 10000 }"),
    "phi3": Family(hf.Phi3Config(**SIZES, sliding_window=7, pad_token_id=0), "models.phi3",
                   "Phi3 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 6, ffn = 40, vocab = 256,"
                   " window = 7 }"),
    "olmo2": Family(hf.Olmo2Config(**SIZES), "models.olmo2",
                    "Olmo2 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 6, ffn = 40, vocab = 256,"
                    " theta = 10000, eps = 1e-5 }"),
    "qwen3": Family(hf.Qwen3Config(**SIZES, **HEADS), "models.qwen3",
                    "Qwen3 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, vocab = 256,"
                    " theta = 10000 }"),
    "qwen3-moe": Family(
        hf.Qwen3MoeConfig(**SIZES, **HEADS, **EXPERTS, num_experts=6, moe_intermediate_size=20,
                          norm_topk_prob=True), "models.qwen3",
        "Qwen3 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, expert_ffn = 20,"
        " experts = 6, active = 2, vocab = 256, theta = 10000 }", "kv_heads, expert_ffn, vocab"),
    "qwen3-moe-plain": Family(
        hf.Qwen3MoeConfig(**SIZES, **HEADS, **EXPERTS, num_experts=6, moe_intermediate_size=20,
                          norm_topk_prob=False), "models.qwen3",
        "Qwen3 { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40, expert_ffn = 20,"
        " experts = 6, active = 2, vocab = 256, theta = 10000, renormalised = false }", "kv_heads, expert_ffn, vocab"),
    "mixtral": Family(
        hf.MixtralConfig(**SIZES, **HEADS, **EXPERTS, num_local_experts=6), "models.mixtral",
        "Mixtral { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, expert_ffn = 40, experts = 6,"
        " active = 2, vocab = 256 }", "kv_heads, experts, vocab"),
    "gpt-oss": Family(
        hf.GptOssConfig(**SIZES, **HEADS, **EXPERTS, num_local_experts=6, sliding_window=7), "models.gpt_oss",
        "GptOss { layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, expert_ffn = 40, experts = 6,"
        " active = 2, vocab = 256, window = 7 }", "kv_heads, expert_ffn, vocab"),
    "phi": Family(
        hf.PhiConfig(vocab_size=256, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                     intermediate_size=40, max_position_embeddings=64), "models.phi",
        "Phi { layers = 3, heads = 4, head = 8, turned = 4, ffn = 40, vocab = 256 }", "heads, ffn, vocab", is_importable=False),
    "deepseek-v2": Family(
        hf.DeepseekV2Config(**LATENT, q_lora_rank=None, n_shared_experts=2, topk_method="greedy"), "models.deepseek",
        "DeepSeek { layers = 2, embed = 24, heads = 4, ffn = 40, expert_ffn = 20, experts = 6, active = 2,"
        " shared = 2, dense_layers = 1, plain = 8, turned = 4, value = 6, kv_rank = 10, vocab = 256 }",
        "heads, ffn, expert_ffn, vocab"),
    "deepseek-v3": Family(
        hf.DeepseekV3Config(**LATENT, q_lora_rank=12, n_shared_experts=1, n_group=3, topk_group=2,
                            routed_scaling_factor=2.5), "models.deepseek",
        "DeepSeekV3 { layers = 2, embed = 24, heads = 4, ffn = 40, expert_ffn = 20, experts = 6, active = 2,"
        " shared = 1, dense_layers = 1, plain = 8, turned = 4, value = 6, kv_rank = 10, vocab = 256,"
        " narrow = true, q_rank = 12, scale = 2.5, groups = 3, kept_groups = 2, rate = 0 }",
        "heads, ffn, expert_ffn, vocab", updated="*.e_score_correction_bias"),
}
