"""Models of texts beside pictures, which are imported alone."""

import transformers as hf

from . import Case

TEXT = dict(vocab_size=283, hidden_size=24, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2,
            intermediate_size=29, max_position_embeddings=96)
PICTURES = dict(hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4)
QWEN_PICTURES = dict(depth=1, num_heads=2, patch_size=4)
SECTIONS = dict(rope_type="default", rope_theta=700.0, mrope_section=[2, 1, 1])

CASES = {
    "gemma3-text": Case(hf.Gemma3Config(
        text_config=hf.Gemma3TextConfig(**TEXT, head_dim=10, query_pre_attn_scalar=12, sliding_window=7),
        vision_config=PICTURES, mm_tokens_per_image=4), part=True),
    "qwen2-vl-text": Case(hf.Qwen2VLConfig(
        text_config=dict(**TEXT, rope_parameters={**SECTIONS, "mrope_section": [1, 1, 0]}),
        vision_config=dict(**QWEN_PICTURES, embed_dim=8, hidden_size=24, mlp_ratio=2)), part=True),
    "qwen2-5-vl-text": Case(hf.Qwen2_5_VLConfig(
        text_config=dict(**TEXT, rope_parameters={**SECTIONS, "mrope_section": [1, 1, 0]}, tie_word_embeddings=True),
        vision_config=dict(**QWEN_PICTURES, hidden_size=8, intermediate_size=12, out_hidden_size=24, window_size=8),
        tie_word_embeddings=True), part=True),
    "qwen3-vl-text": Case(hf.Qwen3VLConfig(
        text_config=dict(**TEXT, head_dim=8, rope_parameters={**SECTIONS, "mrope_interleaved": True}),
        vision_config=dict(**QWEN_PICTURES, hidden_size=8, intermediate_size=12, out_hidden_size=24, num_position_embeddings=4,
                           deepstack_visual_indexes=[0])), part=True),
    "mistral3-text": Case(hf.Mistral3Config(
        text_config=hf.MistralConfig(**TEXT, head_dim=10, sliding_window=None),
        vision_config=hf.PixtralVisionConfig(**PICTURES), vision_feature_layer=-1, tie_word_embeddings=False), part=True),
}
