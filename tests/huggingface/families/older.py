"""Families whose blocks have layer norms: parallel blocks, learned positions, ALiBi."""

import transformers as hf

from . import Case

NO_DROPOUT = dict(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
# The id of the padding token has no place in the text, because transformers does not train its vector.
TOKENS = dict(bos_token_id=2, eos_token_id=2, pad_token_id=1)

CASES = {
    "gpt-bigcode": hf.GPTBigCodeConfig(**TOKENS, **NO_DROPOUT, vocab_size=256, n_positions=50, n_embd=24, n_layer=3, n_head=4),
    "gpt-bigcode-heads": hf.GPTBigCodeConfig(
        **TOKENS, **NO_DROPOUT, vocab_size=257, n_positions=50, n_embd=24, n_layer=2, n_head=3, n_inner=40, multi_query=False,
        activation_function="relu", layer_norm_epsilon=1e-3, scale_attn_weights=False, tie_word_embeddings=False),
    "gptj": hf.GPTJConfig(**TOKENS, vocab_size=256, n_positions=64, n_embd=24, n_layer=3, n_head=3, rotary_dim=4),
    "gptj-tied": hf.GPTJConfig(**TOKENS, vocab_size=300, n_positions=64, n_embd=40, n_layer=2, n_head=4, rotary_dim=6, n_inner=36,
                               activation_function="silu", layer_norm_epsilon=1e-3, tie_word_embeddings=True),
    "codegen": hf.CodeGenConfig(**TOKENS, vocab_size=256, n_positions=64, n_embd=24, n_layer=3, n_head=4, rotary_dim=4),
    "codegen-wide": hf.CodeGenConfig(**TOKENS, vocab_size=300, n_positions=64, n_embd=80, n_layer=2, n_head=8, rotary_dim=6,
                                     n_inner=36, activation_function="gelu", layer_norm_epsilon=1e-3),
    "gpt-neo": hf.GPTNeoConfig(**TOKENS, vocab_size=256, max_position_embeddings=50, hidden_size=24, num_layers=4,
                               attention_types=[[["global", "local"], 2]], num_heads=3, window_size=5),
    "gpt-neo-local": hf.GPTNeoConfig(
        **TOKENS, vocab_size=300, max_position_embeddings=50, hidden_size=40, num_layers=3, num_heads=4, window_size=7,
        attention_types=[[["local", "local", "global"], 1]], intermediate_size=36, activation_function="relu",
        layer_norm_epsilon=1e-3, tie_word_embeddings=False),
    "opt": hf.OPTConfig(**TOKENS, vocab_size=256, hidden_size=24, num_hidden_layers=3, ffn_dim=40, num_attention_heads=3,
                        max_position_embeddings=50, dropout=0.0),
    "opt-after": hf.OPTConfig(**TOKENS, vocab_size=300, hidden_size=24, num_hidden_layers=2, ffn_dim=40, num_attention_heads=4,
                              max_position_embeddings=50, dropout=0.0, do_layer_norm_before=False,
                              word_embed_proj_dim=14, activation_function="gelu"),
    "opt-plain": hf.OPTConfig(**TOKENS, vocab_size=300, hidden_size=24, num_hidden_layers=2, ffn_dim=40, num_attention_heads=4,
                              max_position_embeddings=50, dropout=0.0, enable_bias=False, tie_word_embeddings=False,
                              layer_norm_elementwise_affine=False, _remove_final_layer_norm=True, word_embed_proj_dim=14),
    "biogpt": hf.BioGptConfig(vocab_size=256, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40,
                              max_position_embeddings=50, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
    "biogpt-untied": hf.BioGptConfig(vocab_size=300, hidden_size=40, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=36, max_position_embeddings=50, hidden_dropout_prob=0.0,
                                     attention_probs_dropout_prob=0.0, scale_embedding=False, hidden_act="silu",
                                     tie_word_embeddings=False),
    "xglm": hf.XGLMConfig(vocab_size=256, d_model=24, num_layers=3, attention_heads=3, ffn_dim=40, max_position_embeddings=64,
                          dropout=0.0, attention_dropout=0.0),
    "xglm-untied": hf.XGLMConfig(vocab_size=300, d_model=20, num_layers=2, attention_heads=4, ffn_dim=36,
                                 max_position_embeddings=64, dropout=0.0, attention_dropout=0.0, scale_embedding=False,
                                 activation_function="relu", tie_word_embeddings=False),
    "bloom": hf.BloomConfig(vocab_size=256, hidden_size=24, n_layer=3, n_head=4),
    "bloom-heads": hf.BloomConfig(vocab_size=300, hidden_size=40, n_layer=2, n_head=5, layer_norm_epsilon=1e-3,
                                  apply_residual_connection_post_layernorm=True, tie_word_embeddings=False),
    "mpt": hf.MptConfig(d_model=24, n_heads=4, n_layers=3, max_seq_len=64, vocab_size=256),
    "mpt-clipped": hf.MptConfig(d_model=40, n_heads=5, n_layers=2, max_seq_len=64, vocab_size=300, tie_word_embeddings=False,
                                attn_config=dict(clip_qkv=0.4, softmax_scale=0.3, alibi_bias_max=16)),
}
