"""The configurations that decoder.py measures: each family small, with odd but legal sizes, and the published ones."""
import json
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 10000.0}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
    "rope_theta": 500000.0,
}
SLIDING, FULL = "sliding_attention", "full_attention"
ABSENT = object()  # a field that a variant takes out of its family's

# The fields that all configurations of a family begin with.
DENSE = {
    "vocab_size": 103,
    "hidden_size": 48,
    "intermediate_size": 76,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
GEMMA = {**DENSE, "head_dim": 24, "bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0}
MLA = {
    **DENSE,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "kv_lora_rank": 20,
    "q_lora_rank": 28,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 6,
    "v_head_dim": 14,
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 22,
    "first_k_dense_replace": 1,
}
FAMILIES = {
    "gpt2": {"vocab_size": 101, "n_positions": 128, "n_embd": 48, "n_layer": 3, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0},
    "llama": DENSE,
    "mistral": {**DENSE, "sliding_window": 8},
    "qwen2": DENSE,
    "qwen3": {**DENSE, "head_dim": 128, "num_attention_heads": 4},
    "gemma": GEMMA,
    "gemma2": {**GEMMA, "num_hidden_layers": 5, "sliding_window": 8},
    "gemma3_text": {**GEMMA, "num_hidden_layers": 8, "sliding_window": 8},
    "gemma3": {},
    "phi3": {**DENSE, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "original_max_position_embeddings": 256},
    "gpt_oss": {
        **DENSE,
        "head_dim": 16,
        "num_local_experts": 5,
        "num_experts_per_tok": 2,
        "sliding_window": 8,
        "intermediate_size": 36,
    },
    "mixtral": {**DENSE, "num_local_experts": 5, "num_experts_per_tok": 2},
    "qwen2_moe": {
        **DENSE,
        "num_hidden_layers": 5,
        "moe_intermediate_size": 20,
        "shared_expert_intermediate_size": 44,
        "num_experts": 7,
        "num_experts_per_tok": 3,
    },
    "qwen3_moe": {
        **DENSE,
        "num_hidden_layers": 5,
        "head_dim": 16,
        "moe_intermediate_size": 20,
        "num_experts": 7,
        "num_experts_per_tok": 3,
    },
    "deepseek_v2": MLA,
    "deepseek_v3": {**MLA, "n_group": 4, "topk_group": 2, "n_shared_experts": 1},
}

# What each small configuration changes in its family's fields. The first of a family is stored with every default, too.
VARIANTS = {
    "gpt2-default": {},
    "gpt2-inner": {"n_inner": 100, "n_layer": 5},
    "gpt2-untied": {"tie_word_embeddings": False, "n_head": 1},
    "gpt2-wide-heads": {"n_embd": 66, "n_head": 11, "n_inner": 66, "n_layer": 1, "reorder_and_upcast_attn": True},
    "llama-gqa": {},
    "llama-mqa": {"num_key_value_heads": 1, "num_attention_heads": 12},
    "llama-mha": {"num_key_value_heads": None, "num_hidden_layers": 7},
    "llama-bias": {"attention_bias": True, "mlp_bias": True},
    "llama-attention-bias": {"attention_bias": True, "head_dim": 22, "num_key_value_heads": 3},
    "llama-mlp-bias": {"mlp_bias": True, "num_attention_heads": 3, "num_key_value_heads": 1},
    "llama-head-dim-tied": {"head_dim": 20, "tie_word_embeddings": True},
    "llama-scaled": {"rope_parameters": LLAMA3, "head_dim": 4, "num_hidden_layers": 1},
    "mistral-window": {},
    "mistral-no-window": {"sliding_window": None, "num_key_value_heads": 6},
    "mistral-head-dim": {"head_dim": 10, "sliding_window": 6, "num_key_value_heads": 1, "tie_word_embeddings": True},
    "mistral-wide-window": {"sliding_window": 64, "num_hidden_layers": 2},
    "mistral-floor": {"hidden_size": 50, "num_key_value_heads": 3},
    "qwen2-default": {},
    "qwen2-window": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 2, "num_hidden_layers": 5},
    "qwen2-window-all": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0, "num_key_value_heads": 1},
    "qwen2-window-none": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 3},
    "qwen2-window-off": {"use_sliding_window": False, "sliding_window": 8, "max_window_layers": 1, "tie_word_embeddings": True},
    "qwen2-layer-types": {"use_sliding_window": True, "sliding_window": 8, "layer_types": [FULL, SLIDING, FULL]},
    "qwen2-floor": {"hidden_size": 50, "num_attention_heads": 4, "num_key_value_heads": 4, "tie_word_embeddings": True},
    "qwen2-head-dim": {"head_dim": 14, "num_key_value_heads": 3},
    "qwen3-default": {},
    "qwen3-tied": {"tie_word_embeddings": True, "num_key_value_heads": 1, "head_dim": 18},
    "qwen3-bias": {"attention_bias": True, "num_key_value_heads": 4, "head_dim": 12},
    "qwen3-window": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1, "head_dim": 32},
    "gemma-tied": {},
    "gemma-mqa": {"num_key_value_heads": 1, "num_attention_heads": 5, "head_dim": 26},
    "gemma-mha-bias": {"num_key_value_heads": 6, "attention_bias": True},
    "gemma-untied": {"tie_word_embeddings": False, "head_dim": 8, "hidden_size": 50},
    "gemma2-alternating": {},
    "gemma2-wide-heads": {"head_dim": 256, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 2},
    "gemma2-bias-untied": {"attention_bias": True, "tie_word_embeddings": False, "num_key_value_heads": 6, "num_hidden_layers": 3},
    "gemma2-layer-types": {"layer_types": [FULL, FULL, SLIDING, FULL, FULL], "query_pre_attn_scalar": 24},
    "gemma2-no-softcap": {"attn_logit_softcapping": None, "final_logit_softcapping": None, "sliding_window": 6},
    "gemma3-pattern": {},
    "gemma3-partial": {"num_hidden_layers": 5, "num_key_value_heads": 1, "num_attention_heads": 4},
    "gemma3-whole": {"num_hidden_layers": 12, "head_dim": 32, "num_attention_heads": 3, "num_key_value_heads": 3},
    "gemma3-pattern-3": {"sliding_window_pattern": 3, "num_hidden_layers": 7, "attention_bias": True},
    "gemma3-full-only": {"layer_types": [FULL, FULL], "num_hidden_layers": 2, "tie_word_embeddings": False},
    "gemma3-sliding-only": {"num_hidden_layers": 2, "sliding_window": 7},
    "phi3-default": {},
    "phi3-window": {"sliding_window": 8, "num_key_value_heads": 6},
    "phi3-partial-rotary": {"hidden_size": 96, "partial_rotary_factor": 0.75, "num_key_value_heads": 1, "tie_word_embeddings": True},
    "phi3-floor": {"hidden_size": 50, "num_key_value_heads": 3, "sliding_window": 64, "num_hidden_layers": 4},
    "gpt_oss-alternating": {},
    "gpt_oss-mqa": {"num_key_value_heads": 1, "num_hidden_layers": 4, "num_local_experts": 3, "num_experts_per_tok": 1},
    "gpt_oss-mha-no-bias": {"num_key_value_heads": 6, "attention_bias": False, "head_dim": 8, "tie_word_embeddings": True},
    "gpt_oss-layer-types": {"layer_types": [FULL, FULL, SLIDING], "num_experts_per_tok": 5, "head_dim": 10},
    "gpt_oss-sliding-only": {"num_hidden_layers": 1, "hidden_size": 50, "sliding_window": 6},
    "mixtral-default": {},
    "mixtral-window": {"sliding_window": 8, "num_key_value_heads": 1},
    "mixtral-head-dim": {"head_dim": 14, "num_key_value_heads": 6, "num_experts_per_tok": 1, "tie_word_embeddings": True},
    "mixtral-all-experts": {"num_local_experts": 3, "num_experts_per_tok": 3, "head_dim": None, "num_hidden_layers": 2},
    "qwen2_moe-default": {},
    "qwen2_moe-sparse-step": {"decoder_sparse_step": 2, "num_key_value_heads": 6},
    "qwen2_moe-mlp-only": {"mlp_only_layers": [0, 3], "qkv_bias": False, "tie_word_embeddings": True},
    "qwen2_moe-mixed": {"mlp_only_layers": [1], "decoder_sparse_step": 2, "num_hidden_layers": 7, "num_key_value_heads": 1},
    "qwen2_moe-window": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 3},
    "qwen2_moe-no-experts": {"num_experts": 0, "num_hidden_layers": 2},
    "qwen3_moe-default": {},
    "qwen3_moe-mlp-only": {"mlp_only_layers": [0, 4], "attention_bias": True, "head_dim": 10},
    "qwen3_moe-sparse-step": {"decoder_sparse_step": 3, "num_hidden_layers": 8, "num_key_value_heads": 1},
    "qwen3_moe-mixed": {"decoder_sparse_step": 2, "mlp_only_layers": [3], "tie_word_embeddings": True, "num_key_value_heads": 6},
    "qwen3_moe-window": {"use_sliding_window": True, "sliding_window": 8, "num_experts_per_tok": 1},
    "qwen3_moe-floor": {"head_dim": ABSENT, "hidden_size": 50},
    "deepseek_v2-q-lora": {},
    "deepseek_v2-no-q-lora": {"q_lora_rank": None, "n_shared_experts": 1},
    "deepseek_v2-all-moe": {"first_k_dense_replace": 0, "attention_bias": True, "num_experts_per_tok": 1},
    "deepseek_v2-three-dense": {"first_k_dense_replace": 3, "q_lora_rank": None, "attention_bias": True, "num_hidden_layers": 5},
    "deepseek_v2-all-dense": {"first_k_dense_replace": 9, "tie_word_embeddings": True, "num_hidden_layers": 3},
    "deepseek_v2-no-shared": {"n_shared_experts": 0, "v_head_dim": 10, "num_attention_heads": 3, "num_key_value_heads": 3},
    "deepseek_v2-mlp-bias": {"mlp_bias": True, "n_shared_experts": 3, "first_k_dense_replace": 2},
    "deepseek_v2-groups": {
        "topk_method": "group_limited_greedy",
        "n_group": 4,
        "topk_group": 2,
        "rope_parameters": YARN,
        "num_key_value_heads": None,
    },
    "deepseek_v3-q-lora": {},
    "deepseek_v3-no-q-lora": {"q_lora_rank": None, "first_k_dense_replace": 0, "rope_interleave": False},
    "deepseek_v3-bias": {"attention_bias": True, "first_k_dense_replace": 3, "n_shared_experts": 2, "num_hidden_layers": 5},
    "deepseek_v3-all-dense": {"first_k_dense_replace": 4, "tie_word_embeddings": True, "v_head_dim": 10},
    "deepseek_v3-no-mtp": {"num_nextn_predict_layers": 0, "rope_parameters": YARN, "num_attention_heads": 6, "num_key_value_heads": 6},
}

# A picture model whose text side is measured without a picture; its parameters are those of both sides.
GEMMA3_PICTURES = {
    "model_type": "gemma3",
    "text_config": {**FAMILIES["gemma3_text"], "model_type": "gemma3_text"},
    "vision_config": {
        "model_type": "siglip_vision_model",
        "hidden_size": 24,
        "intermediate_size": 36,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "image_size": 32,
        "patch_size": 8,
    },
    "mm_tokens_per_image": 4,
    "image_token_index": 102,
    "boi_token_index": 100,
    "eoi_token_index": 101,
}


@dataclass
class Spec:
    """One configuration to measure, with the name of its class where its model_type alone does not say it."""

    name: str
    config: dict
    real: bool = False
    full: bool = False
    dtype: str = "float32"
    architecture: str | None = None
    cases: list = field(default_factory=list)


def small():
    """The small configurations, each family's first one also in full."""
    met = set()
    for name, changes in VARIANTS.items():
        family = name.split("-")[0]
        model_type = "gemma3_text" if family == "gemma3" else family
        config = {"model_type": model_type, **FAMILIES[model_type], **changes}
        config = {key: value for key, value in config.items() if value is not ABSENT}
        yield Spec(name, config, full=family not in met)
        met.add(family)
    yield Spec("gemma3-pictures", GEMMA3_PICTURES, full=True, architecture="Gemma3ForConditionalGeneration")


def published():
    """Published sizes: the fields that shape the model, in the names of each file's own time."""
    with open(os.path.join(HERE, "decoder_published.json")) as f:
        for name, config in json.load(f).items():
            yield Spec(name, config, real=True, dtype="bfloat16")


def fixtures():
    """All configurations that decoder.py measures."""
    real = list(published())
    for spec in real:
        if spec.name == "deepseek-ocr-decoder-mla":
            spec.cases = [(1, 681, 16)]
    return [*small(), *real]
