"""Decoders with recurrences beside or instead of attention: caches hold keys and values only, so they decode without."""

import transformers as hf

from . import Case

RECURRENT = dict(decodes=False)

CASES = {
    "falcon-h1": Case(hf.FalconH1Config(
        vocab_size=301, hidden_size=24, intermediate_size=37, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        mamba_n_heads=6, mamba_d_ssm=30, mamba_d_head=5, mamba_d_state=7, mamba_n_groups=2, mamba_d_conv=3, mamba_chunk_size=16,
        time_step_limit=(0.0, 0.5), embedding_multiplier=1.5, lm_head_multiplier=0.7, key_multiplier=0.6,
        attention_in_multiplier=1.2, attention_out_multiplier=0.9, ssm_in_multiplier=0.8, ssm_out_multiplier=1.1,
        ssm_multipliers=[0.9, 1.2, 0.8, 1.1, 0.7], mlp_multipliers=[1.3, 0.6], max_position_embeddings=64), **RECURRENT),
    "falcon-h1-odd": Case(hf.FalconH1Config(
        vocab_size=283, hidden_size=20, intermediate_size=29, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
        head_dim=8, mamba_n_heads=4, mamba_d_ssm=28, mamba_d_head=7, mamba_d_state=5, mamba_n_groups=2, mamba_rms_norm=True,
        mamba_conv_bias=False, mamba_proj_bias=True, projectors_bias=True, attention_bias=True, mlp_bias=True, hidden_act="gelu",
        time_step_limit=(0.01, 0.4), rms_norm_eps=1e-4, tie_word_embeddings=True, max_position_embeddings=96,
        rope_parameters=dict(rope_type="linear", rope_theta=700.0, factor=2.0)), **RECURRENT),
    "falcon-h1-after": Case(hf.FalconH1Config(
        vocab_size=283, hidden_size=16, intermediate_size=23, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
        mamba_n_heads=4, mamba_d_ssm=12, mamba_d_head=3, mamba_d_state=5, mamba_n_groups=1, mamba_rms_norm=True,
        mamba_norm_before_gate=False, mamba_chunk_size=7, max_position_embeddings=64), **RECURRENT),
    "granitemoehybrid": Case(hf.GraniteMoeHybridConfig(
        vocab_size=301, hidden_size=24, intermediate_size=13, shared_intermediate_size=37, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, num_local_experts=5, num_experts_per_tok=2, mamba_n_heads=8, mamba_d_head=9,
        mamba_expand=3, mamba_d_state=7, mamba_n_groups=2, mamba_d_conv=3, mamba_chunk_size=16, layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"],
        embedding_multiplier=1.5, logits_scaling=2.0, residual_multiplier=0.7, attention_multiplier=0.3,
        position_embedding_type="rope", output_router_logits=True, router_aux_loss_coef=0.02, tie_word_embeddings=True,
        max_position_embeddings=64), **RECURRENT),
    "granitemoehybrid-dense": Case(hf.GraniteMoeHybridConfig(
        vocab_size=283, hidden_size=18, intermediate_size=13, shared_intermediate_size=29, num_hidden_layers=3,
        num_attention_heads=3, num_key_value_heads=1, num_local_experts=0, num_experts_per_tok=0, mamba_n_heads=4, mamba_d_head=9,
        mamba_d_state=5, mamba_n_groups=1, mamba_conv_bias=False, mamba_proj_bias=True, attention_bias=True,
        time_step_limit=(0.01, 0.3), layer_types=["linear_attention", "full_attention", "linear_attention"], rms_norm_eps=1e-4,
        hidden_act="gelu", max_position_embeddings=96), **RECURRENT),
    "nemotron-h": Case(hf.NemotronHConfig(
        vocab_size=301, hidden_size=20, intermediate_size=37, num_attention_heads=4, num_key_value_heads=2, head_dim=6,
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"], mamba_num_heads=6,
        mamba_head_dim=5, n_groups=2, ssm_state_size=7, conv_kernel=3, chunk_size=16, time_step_min=0.3,
        max_position_embeddings=64), **RECURRENT),
    "nemotron-h-experts": Case(hf.NemotronHConfig(
        vocab_size=283, hidden_size=18, intermediate_size=29, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
        layers_block_type=["moe", "linear_attention", "full_attention", "moe", "mlp"], mamba_num_heads=4, mamba_head_dim=7,
        n_groups=4, ssm_state_size=5, chunk_size=7, use_bias=True, use_conv_bias=False, mlp_bias=True, mamba_hidden_act="gelu",
        mlp_hidden_act="silu", n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=13, n_group=3, topk_group=2,
        moe_shared_expert_intermediate_size=11, moe_latent_size=9, routed_scaling_factor=1.7, layer_norm_epsilon=1e-4,
        max_position_embeddings=96), **RECURRENT),
    "nemotron-h-narrow": Case(hf.NemotronHConfig(
        vocab_size=283, hidden_size=18, intermediate_size=29, num_attention_heads=2, num_key_value_heads=2, head_dim=8,
        layers_block_type=["full_attention", "linear_attention", "moe"], mamba_num_heads=4, mamba_head_dim=7, n_groups=1, ssm_state_size=5,
        n_routed_experts=5, num_experts_per_tok=3, moe_intermediate_size=13, moe_shared_expert_intermediate_size=11,
        norm_topk_prob=False, max_position_embeddings=64), **RECURRENT),
    "mamba": Case(hf.MambaConfig(
        vocab_size=301, hidden_size=20, state_size=5, num_hidden_layers=2, time_step_rank=3), **RECURRENT),
    "mamba-odd": Case(hf.MambaConfig(
        vocab_size=283, hidden_size=18, state_size=7, num_hidden_layers=3, expand=3, conv_kernel=3, use_bias=True,
        use_conv_bias=False, hidden_act="gelu", layer_norm_epsilon=1e-4, tie_word_embeddings=False), **RECURRENT),
    "falcon-mamba": Case(hf.FalconMambaConfig(
        vocab_size=301, hidden_size=20, state_size=5, num_hidden_layers=2, time_step_rank=3, mixer_rms_eps=1e-3,
        tie_word_embeddings=False), **RECURRENT),
    "jamba": Case(hf.JambaConfig(
        vocab_size=301, hidden_size=20, intermediate_size=29, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
        attn_layer_period=3, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1, num_experts=5,
        num_experts_per_tok=2, mamba_d_state=7, mamba_dt_rank=3, output_router_logits=True, router_aux_loss_coef=0.02,
        max_position_embeddings=64), **RECURRENT),
    "jamba-odd": Case(hf.JambaConfig(
        vocab_size=283, hidden_size=18, intermediate_size=23, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
        head_dim=8, attn_layer_period=2, attn_layer_offset=0, expert_layer_period=3, expert_layer_offset=0, num_experts=6,
        num_experts_per_tok=3, mamba_d_state=5, mamba_d_conv=3, mamba_expand=3, mamba_conv_bias=False, mamba_proj_bias=True,
        hidden_act="gelu", rms_norm_eps=1e-4, tie_word_embeddings=True, max_position_embeddings=96), **RECURRENT),
}
