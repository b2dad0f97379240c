"""The vision part of DeepSeek-OCR for vision.py, put together from classes of transformers whose shapes are the same.

The model's own code (deepencoder.py beside its weights) is not in transformers. It is SAM's image encoder with two more convolutions,
CLIP's encoder with what they yield for its patches, and one matrix. Its attention has one matrix for queries, keys and values where
CLIP's has three, and it has no norm behind the last layer.
"""
import copy

import torch
import transformers as tf
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

PUBLISHED = {
    "architectures": ["DeepseekOCRForCausalLM"],
    "auto_map": {"AutoConfig": "modeling_deepseekocr.DeepseekOCRConfig", "AutoModel": "modeling_deepseekocr.DeepseekOCRForCausalLM"},
    "candidate_resolutions": [[1024, 1024]],
    "global_view_pos": "head",
    "language_config": {
        "architectures": ["DeepseekV2ForCausalLM"], "bos_token_id": 0, "eos_token_id": 1, "first_k_dense_replace": 1, "hidden_size": 1280,
        "intermediate_size": 6848, "kv_lora_rank": None, "lm_head": True, "max_position_embeddings": 8192, "moe_intermediate_size": 896, "n_group": 1,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 10, "num_experts_per_tok": 6, "num_hidden_layers": 12,
        "num_key_value_heads": 10, "q_lora_rank": None, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "rm_head": False, "topk_group": 1,
        "topk_method": "greedy", "torch_dtype": "bfloat16", "use_mla": False, "v_head_dim": 0, "vocab_size": 129280},
    "model_type": "deepseek_vl_v2",
    "projector_config": {"input_dim": 2048, "model_type": "mlp_projector", "n_embed": 1280, "projector_type": "linear"},
    "tile_tag": "2D",
    "torch_dtype": "bfloat16",
    "vision_config": {
        "image_size": 1024, "mlp_ratio": 3.7362, "model_name": "deeplip_b_l", "model_type": "vision",
        "width": {
            "clip-l-14-224": {"heads": 16, "image_size": 224, "layers": 24, "patch_size": 14, "width": 1024},
            "sam_vit_b": {"downsample_channels": [512, 1024], "global_attn_indexes": [2, 5, 8, 11], "heads": 12, "layers": 12, "width": 768}}},
    "bos_token_id": 0, "eos_token_id": 1, "first_k_dense_replace": 1, "hidden_size": 1280, "intermediate_size": 6848, "kv_lora_rank": None,
    "lm_head": True, "max_position_embeddings": 8192, "moe_intermediate_size": 896, "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2,
    "num_attention_heads": 10, "num_experts_per_tok": 6, "num_hidden_layers": 12, "num_key_value_heads": 10, "q_lora_rank": None,
    "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "rm_head": False, "topk_group": 1, "topk_method": "greedy", "use_mla": False, "v_head_dim": 0,
    "vocab_size": 129280}

SMALL = copy.deepcopy(PUBLISHED)
SMALL.update(model_type="DeepseekOCR", projector_config={"input_dim": 112, "n_embed": 40, "projector_type": "linear"})
SMALL["vision_config"]["image_size"] = 720
SMALL["vision_config"]["width"] = {
    "clip-l-14-224": {"heads": 4, "image_size": 70, "layers": 3, "patch_size": 10, "width": 56},
    "sam_vit_b": {"downsample_channels": [24, 56], "global_attn_indexes": [0, 3], "heads": 2, "layers": 5, "width": 32}}

CASES = [("deepseek ocr", PUBLISHED), ("deepseek ocr small", SMALL)]


class DeepEncoder(nn.Module):
    """Both towers and the projector, for pictures of side x side pixels."""

    def __init__(self, config, side):
        super().__init__()
        sam, clip = config["vision_config"]["width"]["sam_vit_b"], config["vision_config"]["width"]["clip-l-14-224"]
        half, quarter = sam["downsample_channels"]
        project = config["projector_config"]
        self.sam = tf.SamVisionModel._from_config(tf.SamVisionConfig(
            hidden_size=sam["width"], num_hidden_layers=sam["layers"], num_attention_heads=sam["heads"], global_attn_indexes=sam["global_attn_indexes"],
            image_size=side), attn_implementation="eager")
        self.net_2 = nn.Conv2d(256, half, 3, stride=2, padding=1, bias=False)
        self.net_3 = nn.Conv2d(half, quarter, 3, stride=2, padding=1, bias=False)
        self.clip = tf.CLIPVisionModel._from_config(tf.CLIPVisionConfig(
            hidden_size=clip["width"], intermediate_size=4 * clip["width"], num_hidden_layers=clip["layers"], num_attention_heads=clip["heads"],
            image_size=clip["image_size"], patch_size=clip["patch_size"]), attn_implementation="eager")
        del self.clip.post_layernorm
        self.projector = nn.Linear(project["input_dim"], project["n_embed"])
        self.image_newline = nn.Parameter(torch.zeros(project["n_embed"]))
        self.view_seperator = nn.Parameter(torch.zeros(project["n_embed"]))

    def forward(self, pixels):
        patches = self.net_3(self.net_2(self.sam(pixels).last_hidden_state)).flatten(2).transpose(1, 2)
        token = self.clip.embeddings.class_embedding.expand(1, 1, -1)
        seen = self.clip.pre_layrnorm(torch.cat([token, patches], dim=1))  # positions are added too, which multiplies nothing
        seen = self.clip.encoder(inputs_embeds=seen).last_hidden_state
        return self.projector(torch.cat([seen[:, 1:], patches], dim=-1))


def case(name, config):
    flop, tokens = {}, 0
    for view, side in (("crop", 640), ("vision", config["vision_config"]["image_size"])):
        with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
            model = DeepEncoder(config, side).eval()
            out = model(torch.zeros(1, 3, side, side))
        flop[view] = counter.get_total_flops()
        rows = int(out.shape[1] ** 0.5)
        assert rows * rows == out.shape[1]
        tokens = rows * (rows + 1) + 1  # a token behind each row and one behind the view
    return {"name": name, "config": config, "images": 1, "vision_params": sum(p.numel() for p in model.parameters()), "image_tokens": tokens,
            "flop": dict(sorted(flop.items(), reverse=True))}
