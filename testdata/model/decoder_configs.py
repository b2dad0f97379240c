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
EXPERT_FIELDS = ("n_routed_experts", "n_shared_experts", "num_experts_per_tok", "moe_intermediate_size", "first_k_dense_replace")
EXPERTS = {**DENSE, "num_experts_per_tok": 2, "intermediate_size": 36}
GLM_MOE = {
    **DENSE,
    "head_dim": 10,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 22,
    "first_k_dense_replace": 1,
    "n_group": 4,
    "topk_group": 2,
}
INDEXED = {**MLA, "n_group": 4, "topk_group": 2, "n_shared_experts": 1, "index_n_heads": 5, "index_head_dim": 8, "index_topk": 64}
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 12, "mamba_d_state": 6, "mamba_n_groups": 2}
GATED_DELTA = {
    **DENSE,
    "num_hidden_layers": 5,
    "head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 10,
    "linear_value_head_dim": 14,
}
QWEN_EXPERTS = {"num_experts": 7, "num_experts_per_tok": 3, "moe_intermediate_size": 20, "shared_expert_intermediate_size": 44}
PLAIN = """apertus arcee bitnet cohere cohere2 cwm ernie4_5 exaone4 glm glm4 gpt_neox granite helium hunyuan_v1_dense jais2 nemotron olmo olmo2
    olmo3 persimmon phi seed_oss smollm3 stablelm starcoder2 vaultgemma""".split()
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
    "gemma3n_text": {
        **GEMMA,
        "num_hidden_layers": 7,
        "head_dim": 12,
        "sliding_window": 8,
        "num_kv_shared_layers": 2,
        "layer_types": [SLIDING, SLIDING, FULL, SLIDING, FULL, SLIDING, FULL],
        "intermediate_size": [76, 76, 52, 76, 76, 40, 76],
        "activation_sparsity_pattern": [0.95, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0],
        "vocab_size_per_layer_input": 104,
        "hidden_size_per_layer_input": 14,
        "laurel_rank": 9,
    },
    "gemma4_text": {
        **GEMMA,
        "num_hidden_layers": 7,
        "head_dim": 12,
        "global_head_dim": 20,
        "sliding_window": 8,
        "vocab_size_per_layer_input": 105,
        "hidden_size_per_layer_input": 14,
    },
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
    **{name: DENSE for name in PLAIN},
    **{name: {**DENSE, "pad_token_id": 0} for name in ("glm", "glm4", "smollm3")},
    **{name: {**DENSE, "head_dim": 8} for name in ("helium", "hunyuan_v1_dense")},
    **{name: {"vocab_size": 101, "n_positions": 128, "n_embd": 48, "n_layer": 3, "n_head": 6, "rotary_dim": 4} for name in ("gptj", "codegen")},
    "gpt_bigcode": {"vocab_size": 101, "n_positions": 128, "n_embd": 48, "n_layer": 3, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0},
    "bloom": {"vocab_size": 101, "hidden_size": 48, "n_layer": 3, "n_head": 6},
    "opt": {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6, "ffn_dim": 76, "max_position_embeddings": 64, "word_embed_proj_dim": 48},
    "falcon": {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6},
    "glm4_moe": GLM_MOE,
    "dots1": GLM_MOE,
    "solar_open": GLM_MOE,
    "ernie4_5_moe": {**DENSE, "moe_intermediate_size": 20, "moe_num_experts": 7, "moe_k": 3, "moe_num_shared_experts": 2},
    "hy_v3": {**DENSE, "head_dim": 10, "num_experts": 7, "num_experts_per_tok": 2, "moe_intermediate_size": 20, "num_shared_experts": 1},
    "llama4_text": {
        **DENSE,
        "head_dim": 10,
        "num_local_experts": 5,
        "intermediate_size_mlp": 92,
        "attention_chunk_size": 64,
        "num_hidden_layers": 6,
    },
    "olmoe": {**EXPERTS, "num_experts": 5},
    "granitemoe": {**EXPERTS, "num_local_experts": 5},
    "granitemoeshared": {**EXPERTS, "num_local_experts": 5, "shared_intermediate_size": 28},
    "phimoe": {**EXPERTS, "num_local_experts": 5},
    "minimax_m2": {**EXPERTS, "num_local_experts": 5, "head_dim": 10},
    "dbrx": {
        "vocab_size": 103,
        "d_model": 48,
        "n_heads": 6,
        "n_layers": 3,
        "max_seq_len": 128,
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 20, "moe_num_experts": 5, "moe_top_k": 2},
    },
    "mamba": {"vocab_size": 103, "hidden_size": 48, "num_hidden_layers": 3, "state_size": 6},
    "falcon_mamba": {"vocab_size": 103, "hidden_size": 48, "num_hidden_layers": 3, "state_size": 6},
    "mamba2": {"vocab_size": 103, "hidden_size": 48, "num_hidden_layers": 3, "state_size": 6, "num_heads": 8, "head_dim": 12, "n_groups": 2},
    "bamba": {**DENSE, "attn_layer_indices": [1], **MAMBA},
    "granitemoehybrid": {
        **EXPERTS,
        "num_local_experts": 5,
        "shared_intermediate_size": 28,
        "layer_types": ["mamba", "attention", "mamba"],
        **MAMBA,
    },
    "falcon_h1": {**DENSE, **MAMBA, "mamba_d_ssm": 96},
    "jamba": {
        **EXPERTS,
        "num_hidden_layers": 6,
        "num_experts": 4,
        "mamba_d_state": 6,
        "attn_layer_period": 3,
        "attn_layer_offset": 1,
        "use_mamba_kernels": False,
    },
    "nemotron_h": {
        **DENSE,
        "head_dim": 10,
        "hybrid_override_pattern": "M-M*E",
        "num_hidden_layers": 5,
        "ssm_state_size": 6,
        "mamba_num_heads": 8,
        "mamba_head_dim": 10,
        "n_groups": 2,
        "n_routed_experts": 5,
        "moe_intermediate_size": 20,
        "moe_shared_expert_intermediate_size": 26,
        "use_mamba_kernels": False,
    },
    "qwen3_next": {**GATED_DELTA, **QWEN_EXPERTS},
    "qwen3_5_text": GATED_DELTA,
    "qwen3_5_moe_text": {**GATED_DELTA, **QWEN_EXPERTS},
    "minimax": {**EXPERTS, "num_local_experts": 5, "head_dim": 10, "num_hidden_layers": 4},
    "lfm2": {**DENSE, "layer_types": ["conv", "full_attention", "conv"], "block_multiple_of": 8},
    "lfm2_moe": {
        **DENSE,
        "layer_types": ["conv", "full_attention", "conv"],
        "num_experts": 5,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 20,
        "num_dense_layers": 1,
    },
    "doge": {**DENSE, "keep_window_size": 256},
    "deepseek_v32": INDEXED,
    "glm_moe_dsa": {**INDEXED, "n_group": 1, "topk_group": 1},
    "exaone_moe": {**DENSE, "num_hidden_layers": 5, "sliding_window": 8, "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 20},
    "glm4_moe_lite": {**MLA, "n_shared_experts": 1},
    "hunyuan_v1_moe": {**DENSE, "head_dim": 10, "num_experts": 5, "moe_topk": 2},
    "mimo_v2_flash": {
        **DENSE,
        "num_hidden_layers": 7,
        "num_attention_heads": 12,
        "num_key_value_heads": 3,
        "head_dim": 10,
        "v_head_dim": 6,
        "sliding_window": 8,
        "n_routed_experts": 8,
        "num_experts_per_tok": 3,
        "moe_intermediate_size": 20,
    },
    "gpt_neo": {
        "vocab_size": 101,
        "hidden_size": 48,
        "num_layers": 3,
        "num_heads": 6,
        "max_position_embeddings": 64,
        "window_size": 40,
        "attention_types": [[["global", "local"], 1], [["local"], 1]],
    },
    "mpt": {"vocab_size": 101, "d_model": 48, "n_layers": 3, "n_heads": 6, "max_seq_len": 64},
    "youtu": {key: value for key, value in MLA.items() if key not in EXPERT_FIELDS},
    "minicpm3": {key: value for key, value in MLA.items() if key not in EXPERT_FIELDS},
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
    "gemma3n_text-default": {},
    "gemma3n_text-streams": {"altup_num_inputs": 3, "altup_active_idx": 1, "num_kv_shared_layers": 4, "attention_bias": True, "tie_word_embeddings": False},
    "gemma3n_text-one-stream": {"altup_num_inputs": 1, "altup_correct_scale": False, "num_key_value_heads": 1, "activation_sparsity_pattern": None},
    "gemma3n_text-own-cache": {"num_kv_shared_layers": 0, "layer_types": None, "intermediate_size": 76, "num_hidden_layers": 11, "activation_sparsity_pattern": None},
    "gemma4_text-default": {},
    "gemma4_text-shared": {"num_kv_shared_layers": 3, "use_double_wide_mlp": True, "layer_types": [SLIDING, FULL, SLIDING, FULL, SLIDING, SLIDING, FULL], "attention_bias": True},
    "gemma4_text-one-projection": {
        "attention_k_eq_v": True,
        "num_global_key_value_heads": 1,
        "hidden_size_per_layer_input": 0,
        "layer_types": [SLIDING] * 7,
        "tie_word_embeddings": False,
    },
    "gemma4_text-experts": {"enable_moe_block": True, "num_experts": 5, "top_k_experts": 2, "moe_intermediate_size": 20, "num_global_key_value_heads": 3},
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
    **{name + "-default": {} for name in PLAIN},
    "apertus-silu": {"hidden_act": "silu", "attention_bias": True, "head_dim": 10},
    "arcee-bias": {"mlp_bias": True, "attention_bias": True, "tie_word_embeddings": True},
    "cohere-norms": {"use_qk_norm": True, "attention_bias": True, "tie_word_embeddings": False},
    "cohere2-window": {"sliding_window": 8, "num_hidden_layers": 5, "head_dim": 10},
    "exaone4-window": {"sliding_window": 8, "num_hidden_layers": 5, "sliding_window_pattern": 3},
    "glm-no-bias": {"attention_bias": False, "head_dim": 12},
    "gpt_neox-no-bias": {"attention_bias": False, "use_parallel_residual": False, "tie_word_embeddings": True},
    "nemotron-bias": {"attention_bias": True, "mlp_bias": True, "head_dim": 10},
    "olmo3-window": {"sliding_window": 8, "num_hidden_layers": 5, "attention_bias": True},
    "persimmon-no-norms": {"qk_layernorm": False},
    "phi-norms": {"qk_layernorm": True, "num_key_value_heads": 6},
    "seed_oss-biases": {"attention_bias": False, "attention_out_bias": True, "mlp_bias": True, "head_dim": 10},
    "smollm3-window": {"use_sliding_window": True, "sliding_window": 8, "num_hidden_layers": 5, "no_rope_layer_interval": 2},
    "stablelm-norms": {"qk_layernorm": True, "use_qkv_bias": True, "use_parallel_residual": True},
    "starcoder2-no-bias": {"use_bias": False, "sliding_window": 8, "tie_word_embeddings": False},
    "vaultgemma-window": {"sliding_window": 8, "num_hidden_layers": 4, "head_dim": 10},
    "gptj-default": {},
    "gptj-inner": {"n_inner": 70, "tie_word_embeddings": True},
    "codegen-default": {"n_head": 8},
    "gpt_bigcode-default": {},
    "gpt_bigcode-all-heads": {"multi_query": False, "n_inner": 70},
    "bloom-default": {},
    "opt-default": {},
    "opt-no-bias": {"enable_bias": False, "layer_norm_elementwise_affine": False, "tie_word_embeddings": False},
    "falcon-multi-query": {},
    "falcon-old": {"multi_query": False, "parallel_attn": False, "bias": True, "ffn_hidden_size": 70},
    "falcon-new": {"new_decoder_architecture": True, "num_kv_heads": 2},
    "falcon-new-one-norm": {"new_decoder_architecture": True, "num_kv_heads": 3, "num_ln_in_parallel_attn": 1, "tie_word_embeddings": False},
    "doge-default": {},
    "doge-bias": {"attention_bias": True, "mlp_bias": True, "num_experts": 16, "head_dim": 8},
    "youtu-default": {},
    "minicpm3-default": {},
    "glm4_moe-default": {},
    "glm4_moe-norms": {"use_qk_norm": True, "attention_bias": True, "first_k_dense_replace": 0},
    "dots1-default": {"num_hidden_layers": 4},
    "dots1-bias": {"attention_bias": True, "n_shared_experts": 2},
    "solar_open-default": {"first_k_dense_replace": 0},
    "ernie4_5_moe-default": {"num_hidden_layers": 5},
    "ernie4_5_moe-every-second": {"moe_layer_interval": 2, "moe_layer_end_index": 3, "num_hidden_layers": 6, "tie_word_embeddings": False},
    "ernie4_5_moe-bias": {"use_bias": True, "moe_num_shared_experts": 0, "moe_layer_start_index": 0, "tie_word_embeddings": False},
    "hy_v3-default": {},
    "hy_v3-bias": {"attention_bias": True, "mlp_bias": True, "num_shared_experts": 2, "mlp_layer_types": ["sparse", "dense", "sparse"]},
    "llama4_text-scout": {},
    "llama4_text-maverick": {"interleave_moe_layer_step": 2, "attention_bias": True, "no_rope_layer_interval": 3},
    "llama4_text-chosen": {"moe_layers": [0, 4], "attention_chunk_size": 8, "use_qk_norm": False},
    "olmoe-default": {},
    "granitemoe-default": {},
    "granitemoeshared-default": {},
    "phimoe-default": {"sliding_window": 8},
    "phimoe-bias": {"attention_bias": True, "lm_head_bias": True},
    "minimax_m2-default": {},
    "dbrx-default": {},
    "mamba-default": {},
    "mamba-bias": {"use_bias": True, "use_conv_bias": False, "expand": 3, "conv_kernel": 3, "time_step_rank": 5, "tie_word_embeddings": False},
    "falcon_mamba-default": {},
    "mamba2-default": {},
    "mamba2-bias": {"use_bias": True, "use_conv_bias": False, "expand": 1, "num_heads": 4, "tie_word_embeddings": True},
    "bamba-default": {},
    "bamba-bias": {"attention_bias": True, "mlp_bias": True, "mamba_proj_bias": True, "mamba_conv_bias": False, "mamba_expand": 1, "mamba_n_heads": 4},
    "granitemoehybrid-default": {},
    "granitemoehybrid-dense": {"num_local_experts": 0, "num_experts_per_tok": 0, "attention_bias": True, "mamba_proj_bias": True},
    "falcon_h1-default": {},
    "jamba-default": {},
    "jamba-one-expert": {"num_experts": 1, "mamba_proj_bias": True, "mamba_dt_rank": 5, "mamba_expand": 1},
    "nemotron_h-default": {},
    "nemotron_h-dense": {"hybrid_override_pattern": "M-*-", "num_hidden_layers": 4, "use_bias": True, "mlp_bias": True, "attention_bias": True},
    "nemotron_h-latent": {"moe_latent_size": 28, "mlp_bias": True},
    "deepseek_v32-default": {},
    "deepseek_v32-bias": {"attention_bias": True, "mlp_layer_types": ["sparse", "dense", "sparse", "dense"], "n_shared_experts": 2, "index_n_heads": 3},
    "glm_moe_dsa-default": {},
    "glm_moe_dsa-shared": {"indexer_types": ["full", "shared", "shared", "full"], "attention_bias": True},
    "glm_moe_dsa-every": {"index_topk_freq": 3, "index_skip_topk_offset": 2, "num_hidden_layers": 7},
    "glm_moe_dsa-pattern": {"index_topk_pattern": "FSFS", "first_k_dense_replace": 0, "tie_word_embeddings": True},
    "exaone_moe-default": {},
    "exaone_moe-types": {"layer_types": [FULL, SLIDING, FULL, SLIDING, SLIDING], "mlp_layer_types": ["sparse", "dense", "dense", "sparse", "dense"], "num_shared_experts": 2},
    "glm4_moe_lite-default": {},
    "glm4_moe_lite-bias": {"attention_bias": True, "mlp_layer_types": ["sparse", "dense", "sparse", "dense"], "n_shared_experts": 2},
    "hunyuan_v1_moe-default": {},
    "hunyuan_v1_moe-bias": {"attention_bias": True, "moe_topk": [3, 3, 3], "tie_word_embeddings": True},
    "mimo_v2_flash-default": {},
    "mimo_v2_flash-types": {
        "num_hidden_layers": 4,
        "layer_types": [SLIDING, SLIDING, FULL, FULL],
        "mlp_layer_types": ["sparse", "dense", "sparse", "dense"],
        "attention_bias": True,
        "num_key_value_heads": 1,
    },
    "gpt_neo-default": {},
    "gpt_neo-inner": {"intermediate_size": 70, "attention_types": [[["global"], 3]], "tie_word_embeddings": False},
    "mpt-default": {},
    "mpt-untied": {"tie_word_embeddings": False, "n_heads": 3},
    "qwen3_next-default": {},
    "qwen3_next-mixed": {"mlp_only_layers": [1], "decoder_sparse_step": 2, "attention_bias": True, "linear_num_key_heads": 4},
    "qwen3_5_text-default": {},
    "qwen3_5_moe_text-default": {},
    "minimax-default": {},
    "minimax-linear-only": {"layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"]},
    "lfm2-default": {},
    "lfm2-chosen": {"layer_types": None, "full_attn_idxs": [1], "conv_bias": True, "block_auto_adjust_ff_dim": False, "conv_L_cache": 4},
    "lfm2_moe-default": {},
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
    with open(os.path.join(HERE, "decoder_provenance.json")) as f:
        provenance = json.load(f)
    for spec in real:
        if spec.name == "deepseek-ocr-decoder-mla":
            spec.cases = [(1, 681, 16)]
        elif provenance[spec.name]["said"] or spec.name == "gpt-bigcode":  # one case each: they are many
            spec.cases = [(1, 40 if spec.name == "jamba-v0.1" else 681, 2)]  # its state space is a loop over tokens
    return [*small(), *real]
