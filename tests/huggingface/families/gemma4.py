"""Gemma 4."""

import transformers as hf

from . import Case


def with_global_heads(config: dict) -> dict:
    """Published files have the sizes of layers without a window under keys of their own."""
    layers = list(config.pop("per_layer_config").values()) or [{}]
    sizes = {"global_head_dim": layers[0].get("head_dim", config["head_dim"])}
    if "num_key_value_heads" in layers[0]:
        sizes["num_global_key_value_heads"] = layers[0]["num_key_value_heads"]
    return {**config, **sizes}


SIZES = dict(vocab_size=301, hidden_size=20, num_hidden_layers=5, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=37, max_position_embeddings=64, vocab_size_per_layer_input=301)
ODD = dict(vocab_size=283, hidden_size=18, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=3,
           intermediate_size=29, max_position_embeddings=96, vocab_size_per_layer_input=311)
MIXED = ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]

CASES = {
    "gemma4": Case(hf.Gemma4TextConfig(
        **SIZES, head_dim=10, global_head_dim=16, sliding_window=7, hidden_size_per_layer_input=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        num_kv_shared_layers=2, use_double_wide_mlp=True), published=with_global_heads),
    "gemma4-moe": Case(hf.Gemma4TextConfig(
        **ODD, head_dim=8, global_head_dim=12, layer_types=MIXED, sliding_window=11, hidden_size_per_layer_input=0,
        attention_k_eq_v=True, num_global_key_value_heads=2, enable_moe_block=True, num_experts=5, top_k_experts=2,
        moe_intermediate_size=14, final_logit_softcapping=3.0, rms_norm_eps=1e-5), published=with_global_heads),
    "gemma4-odd": Case(hf.Gemma4TextConfig(
        **ODD, head_dim=8, global_head_dim=6, layer_types=MIXED, sliding_window=5, hidden_size_per_layer_input=7,
        attention_bias=True, tie_word_embeddings=False, hidden_activation="silu", use_bidirectional_attention="vision",
        num_kv_shared_layers=1, rope_parameters=dict(
            sliding_attention=dict(rope_type="default", rope_theta=300.0),
            full_attention=dict(rope_type="linear", rope_theta=5000.0, factor=4.0))), published=with_global_heads),
}
