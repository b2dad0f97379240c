#!/usr/bin/env python3
"""Prints fixtures of vision models as JSON: configurations, with parameters and FLOPs as PyTorch counts them.

    python vision.py > vision.json
    python vision.py --only siglip --indent 1

Needs torch, pillow and transformers 5.17; no weights and no GPU: models are built from their configuration on the meta device, or on the CPU
with random weights where their code looks at values. Each object has

    name           of the case
    config         what save_pretrained writes to config.json
    images         pictures the FLOPs are for: 1
    image_size     height and width in pixels of that picture where the tower takes any size, before its processor resizes it
    params         parameters of the whole model; absent where transformers has no code for the decoder
    vision_params  those of towers and projector; absent for models without a decoder
    image_tokens   positions of the prompt that the picture takes; absent for models without a decoder
    flop           vision: FLOPs of one picture, without crops; crop: FLOPs of one crop

FLOPs are FlopCounterMode's with eager attention, less the product that makes a table of rotary positions.
"""
import argparse
import json
import os
import sys

import torch
import transformers as tf
from torch.utils.flop_counter import FlopCounterMode
from transformers import vision_utils
from transformers.models.pixtral.image_processing_pil_pixtral import get_resize_output_image_size
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

import vision_ocr

TEXT = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 320}
LLAMA = dict(TEXT, model_type="llama")
CLIP = {"model_type": "clip_vision_model", "hidden_size": 40, "intermediate_size": 72, "num_hidden_layers": 3, "num_attention_heads": 5,
        "image_size": 56, "patch_size": 14}
SIGLIP = {"model_type": "siglip_vision_model", "hidden_size": 36, "intermediate_size": 52, "num_hidden_layers": 2, "num_attention_heads": 3,
          "image_size": 56, "patch_size": 7}
PIXTRAL = {"model_type": "pixtral", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
           "image_size": 80, "patch_size": 16}
SAM = {"hidden_size": 24, "output_channels": 10, "num_hidden_layers": 5, "num_attention_heads": 3, "image_size": 80, "patch_size": 8,
       "window_size": 4, "global_attn_indexes": [1, 4]}
CLIP_TEXT = {"hidden_size": 32, "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99, "max_position_embeddings": 17}

# Name, class, keywords of its configuration, keys to take out of vision_config as saved (old configurations lack its model_type).
ALONE = [
    ("vit", "ViTModel", {}, []),
    ("vit odd", "ViTModel", dict(hidden_size=60, intermediate_size=77, num_hidden_layers=3, num_attention_heads=4, image_size=50, patch_size=7,
                                 num_channels=1, qkv_bias=False, pooler_output_size=33), []),
    ("vit oblong", "ViTModel", dict(hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, image_size=[48, 80], patch_size=[16, 8]), []),
    ("vit head_dim", "ViTModel", dict(hidden_size=50, intermediate_size=48, num_hidden_layers=2, num_attention_heads=3, image_size=32, head_dim=20), []),
    ("vit classifier", "ViTForImageClassification", dict(num_labels=37), []),
    ("vit classifier of 2", "ViTForImageClassification", dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=64), []),
    ("vit classifier of 5", "ViTForImageClassification", dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
                                                             image_size=64, num_labels=5), []),
    ("vit masked", "ViTForMaskedImageModeling", dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
                                                    image_size=64, patch_size=8, encoder_stride=8), []),
    ("clip vision", "CLIPVisionModel", {}, []),
    ("clip vision large 336", "CLIPVisionModel", dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                                                      image_size=336, patch_size=14, projection_dim=768), []),
    ("clip vision odd", "CLIPVisionModel", dict(CLIP, image_size=61, patch_size=9, num_channels=4), []),
    ("clip vision projection", "CLIPVisionModelWithProjection", dict(CLIP, projection_dim=21), []),
    ("clip vision default projection", "CLIPVisionModelWithProjection", dict(CLIP), []),
    ("clip", "CLIPModel", dict(vision_config=CLIP, text_config=CLIP_TEXT, projection_dim=19), []),
    ("clip untyped", "CLIPModel", dict(vision_config=CLIP, text_config=CLIP_TEXT), ["model_type"]),
    ("clip defaults", "CLIPModel", {}, []),
    ("clip classifier", "CLIPForImageClassification", dict(vision_config=CLIP, text_config=CLIP_TEXT, num_labels=7), []),
    ("siglip vision", "SiglipVisionModel", {}, []),
    ("siglip vision odd", "SiglipVisionModel", dict(SIGLIP, image_size=65, patch_size=8, num_channels=1), []),
    ("siglip vision headless", "SiglipVisionModel", dict(SIGLIP, vision_use_head=False), []),
    ("siglip vision so400m", "SiglipVisionModel", dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16,
                                                       image_size=384, patch_size=14), []),
    ("siglip", "SiglipModel", dict(vision_config=SIGLIP, text_config=CLIP_TEXT), []),
    ("siglip projection", "SiglipModel", dict(vision_config=SIGLIP, text_config=dict(CLIP_TEXT, projection_size=11)), ["model_type"]),
    ("siglip classifier", "SiglipForImageClassification", dict(vision_config=SIGLIP, text_config=CLIP_TEXT, num_labels=3), []),
    ("sam vision", "SamVisionModel", {}, []),
    ("sam vision huge", "SamVisionModel", dict(hidden_size=1280, num_hidden_layers=32, num_attention_heads=16, global_attn_indexes=[7, 15, 23, 31]), []),
    ("sam vision padded", "SamVisionModel", SAM, []),
    ("sam vision fitting", "SamVisionModel", dict(SAM, window_size=5, mlp_ratio=3.7362), []),
    ("sam vision all global", "SamVisionModel", dict(SAM, window_size=0, qkv_bias=False), []),
    ("sam vision all windowed", "SamVisionModel", dict(SAM, global_attn_indexes=[], use_abs_pos=False, num_channels=1), []),
    ("sam vision one window", "SamVisionModel", dict(SAM, window_size=16, mlp_dim=31), []),
    ("sam vision no relative positions", "SamVisionModel", dict(SAM, use_rel_pos=False), []),
    ("sam", "SamModel", dict(vision_config=SAM), []),
    ("sam odd", "SamModel", dict(vision_config=dict(SAM, output_channels=32, num_pos_feats=16),
                                 prompt_encoder_config=dict(hidden_size=32, image_size=80, patch_size=8, mask_input_channels=8, num_point_embeddings=3),
                                 mask_decoder_config=dict(hidden_size=32, mlp_dim=40, num_hidden_layers=3, num_attention_heads=2,
                                                          attention_downsample_rate=4, num_multimask_outputs=2, iou_head_depth=4, iou_head_hidden_dim=24)), []),
    ("pixtral vision", "PixtralVisionModel", PIXTRAL, []),
    ("pixtral vision odd", "PixtralVisionModel", dict(PIXTRAL, image_size=90, patch_size=12, num_channels=1), []),
]

# The same for models with a decoder.
WITH_DECODER = [
    ("llava", "LlavaForConditionalGeneration", dict(vision_config=CLIP, text_config=LLAMA), []),
    ("llava untyped", "LlavaForConditionalGeneration", dict(vision_config=CLIP, text_config=LLAMA), ["model_type"]),
    ("llava full", "LlavaForConditionalGeneration", dict(vision_config=CLIP, text_config=LLAMA, vision_feature_select_strategy="full",
                                                         multimodal_projector_bias=False), []),
    ("llava layers", "LlavaForConditionalGeneration", dict(vision_config=CLIP, text_config=LLAMA, vision_feature_layer=[-2, -1, 1]), []),
    ("llava siglip", "LlavaForConditionalGeneration", dict(vision_config=SIGLIP, text_config=LLAMA, vision_feature_select_strategy="full"), []),
    ("llava siglip default", "LlavaForConditionalGeneration", dict(vision_config=dict(SIGLIP, vision_use_head=False), text_config=LLAMA), []),
    ("llava vit", "LlavaForConditionalGeneration", dict(vision_config=dict(model_type="vit", hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                                                          num_attention_heads=2, image_size=64), text_config=LLAMA), []),
    ("llava pixtral", "LlavaForConditionalGeneration", dict(vision_config=PIXTRAL, text_config=LLAMA, vision_feature_layer=-1,
                                                            vision_feature_select_strategy="full"), []),
    ("llava next", "LlavaNextForConditionalGeneration", dict(vision_config=CLIP, text_config=LLAMA, image_grid_pinpoints=[[56, 112], [112, 112]]), []),
    ("llava next full", "LlavaNextForConditionalGeneration", dict(vision_config=SIGLIP, text_config=LLAMA, image_grid_pinpoints=[[112, 56]],
                                                                  vision_feature_select_strategy="full", vision_feature_layer=[0, 1]), []),
    ("paligemma", "PaliGemmaForConditionalGeneration", dict(vision_config=dict(SIGLIP, vision_use_head=False), projection_dim=48,
                                                            text_config=dict(TEXT, model_type="gemma", head_dim=12)), []),
    ("paligemma with head", "PaliGemmaForConditionalGeneration", dict(vision_config=SIGLIP, projection_dim=48,
                                                                      text_config=dict(TEXT, model_type="gemma", head_dim=12)), ["model_type"]),
    ("gemma3", "Gemma3ForConditionalGeneration", dict(vision_config=dict(SIGLIP, vision_use_head=False), mm_tokens_per_image=16,
                                                      text_config=dict(TEXT, model_type="gemma3_text", head_dim=12)), []),
    ("gemma3 uneven", "Gemma3ForConditionalGeneration", dict(vision_config=SIGLIP, mm_tokens_per_image=10,
                                                             text_config=dict(TEXT, model_type="gemma3_text", head_dim=12)), ["model_type"]),
    ("gemma3 4b vision", "Gemma3ForConditionalGeneration", dict(
        vision_config=dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16, image_size=896, patch_size=14,
                           vision_use_head=False), text_config=dict(TEXT, model_type="gemma3_text", head_dim=12)), []),
    ("mistral3", "Mistral3ForConditionalGeneration", dict(vision_config=PIXTRAL, text_config=dict(TEXT, model_type="mistral", head_dim=16)), []),
    ("mistral3 odd", "Mistral3ForConditionalGeneration", dict(vision_config=dict(PIXTRAL, image_size=112), spatial_merge_size=3,
                                                              multimodal_projector_bias=True, vision_feature_layer=[-1],
                                                              text_config=dict(TEXT, model_type="mistral", head_dim=16)), ["model_type"]),
]

QWEN2 = ("Qwen2VLForConditionalGeneration", dict(
    vision_config=dict(depth=3, embed_dim=40, num_heads=2, hidden_size=48, mlp_ratio=3, patch_size=7, spatial_merge_size=3), text_config=TEXT))
QWEN25 = ("Qwen2_5_VLForConditionalGeneration", dict(
    vision_config=dict(depth=4, hidden_size=40, num_heads=2, out_hidden_size=48, intermediate_size=30, in_channels=1, patch_size=7, window_size=64,
                       fullatt_block_indexes=[1, 3, 9]), text_config=TEXT))
QWEN25_ODD = ("Qwen2_5_VLForConditionalGeneration", dict(
    vision_config=dict(depth=2, hidden_size=48, num_heads=3, out_hidden_size=48, intermediate_size=30, patch_size=6, spatial_merge_size=3, temporal_patch_size=1,
                       window_size=90, fullatt_block_indexes=[]), text_config=dict(TEXT, tie_word_embeddings=True)))
QWEN3 = ("Qwen3VLForConditionalGeneration", dict(
    vision_config=dict(depth=3, hidden_size=40, num_heads=2, out_hidden_size=48, intermediate_size=30, deepstack_visual_indexes=[2, 0], num_position_embeddings=25,
                       patch_size=8), text_config=TEXT))
EXPERTS = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=20)
QWEN3_MOE = ("Qwen3VLMoeForConditionalGeneration", dict(
    vision_config=dict(depth=2, hidden_size=40, num_heads=2, out_hidden_size=48, intermediate_size=30, deepstack_visual_indexes=[1], spatial_merge_size=1),
    text_config=dict(TEXT, decoder_sparse_step=2, **EXPERTS)))
QWEN35 = ("Qwen3_5ForConditionalGeneration", dict(
    vision_config=dict(depth=2, hidden_size=40, num_heads=2, out_hidden_size=48, intermediate_size=30, in_channels=4), text_config=dict(TEXT, num_hidden_layers=4),
    tie_word_embeddings=True))
QWEN35_MOE = ("Qwen3_5MoeForConditionalGeneration", dict(
    vision_config=dict(depth=2, hidden_size=40, num_heads=2, out_hidden_size=48, intermediate_size=30), text_config=dict(TEXT, shared_expert_intermediate_size=28, **EXPERTS)))
OF_PIXTRAL = ("LlavaForConditionalGeneration", dict(vision_config=PIXTRAL, text_config=LLAMA, vision_feature_layer=-1, vision_feature_select_strategy="full"))
MISTRAL3 = ("Mistral3ForConditionalGeneration", dict(vision_config=dict(PIXTRAL, image_size=112), spatial_merge_size=3,
                                                     text_config=dict(TEXT, model_type="mistral", head_dim=16)))

# Models whose towers take pictures of any size: name, class with the keywords of its configuration, height and width of the picture.
SIZED = [
    ("qwen2 vl", QWEN2, None),
    ("qwen2 vl square", QWEN2, (126, 126)),
    ("qwen2 vl oblong", QWEN2, (95, 400)),
    ("qwen2.5 vl", QWEN25, None),
    ("qwen2.5 vl half to even", QWEN25, (35, 49)),
    ("qwen2.5 vl whole windows", QWEN25, (112, 168)),
    ("qwen2.5 vl edges", QWEN25, (150, 200)),
    ("qwen2.5 vl right edge", QWEN25, (112, 200)),
    ("qwen2.5 vl bottom edge", QWEN25, (150, 168)),
    ("qwen2.5 vl lower than a window", QWEN25, (30, 300)),
    ("qwen2.5 vl smaller than a window", QWEN25, (30, 45)),
    ("qwen2.5 vl all windowed", QWEN25_ODD, (100, 333)),
    ("qwen3 vl", QWEN3, None),
    ("qwen3 vl oblong", QWEN3, (150, 90)),
    ("qwen3 vl moe", QWEN3_MOE, (33, 100)),
    ("qwen3.5", QWEN35, (150, 200)),
    ("qwen3.5 moe", QWEN35_MOE, (64, 64)),
    ("pixtral of a size", OF_PIXTRAL, (40, 65)),
    ("pixtral too large", OF_PIXTRAL, (300, 111)),
    ("mistral3 of a size", MISTRAL3, (50, 97)),
    ("mistral3 too large", MISTRAL3, (333, 1000)),
]

# Published ones: name in vision_published.json and the picture. The configurations of Qwen3-VL and Qwen3.5 are those of ai-dynamo/aiconfigurator
# at 095f58a, model_configs/; those of Qwen2-VL and Qwen2.5-VL are written down in the form of their config.json.
PUBLISHED = [
    ("qwen2-vl-2b", (1080, 1920)),
    ("qwen2-vl-7b", (480, 640)),
    ("qwen2.5-vl-3b", (1080, 1920)),
    ("qwen2.5-vl-7b", (1024, 1024)),
    ("qwen2.5-vl-72b", (480, 640)),
    ("qwen3-vl-4b", (1080, 1920)),
    ("qwen3-vl-30b-a3b", (480, 640)),
    ("qwen3.5-27b", (768, 1024)),
]

ON_CPU = ("Pixtral", "Mistral3")  # classes whose code looks at values


def without(saved, keys):
    """Takes keys out of the vision_config of a configuration."""
    for key in keys:
        del saved["vision_config"][key]
    return saved


def build(architecture, saved, device):
    kind = getattr(tf, architecture)
    config = kind.config_class.from_dict(json.loads(json.dumps(saved)))
    config._attn_implementation = "eager"
    for part in config.sub_configs:
        getattr(config, part)._attn_implementation = "eager"
    with torch.device(device):
        return kind(config).eval()


def count(run):
    """FLOPs of a call, less those of modules that make tables of rotary positions."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        run()
    rotary = sum(sum(ops.values()) for name, ops in counter.get_flop_counts().items()
                 if name.rsplit(".", 1)[-1] in ("rotary_emb", "rotary_pos_emb", "patch_positional_embedding"))
    return counter.get_total_flops() - rotary


def numel(parameters):
    return sum(p.numel() for p in parameters)


def size(config):
    side = config.image_size
    return side if isinstance(side, list) else [side, side]


def alone(name, architecture, keywords, keys):
    config = getattr(tf, architecture).config_class(**keywords)
    saved = without(dict(json.loads(config.to_json_string()), architectures=[architecture]), keys)
    device = "cpu" if architecture.startswith(ON_CPU) else "meta"
    model = build(architecture, saved, device)
    vision = getattr(model.config, "vision_config", model.config)
    pixels = torch.zeros(1, vision.num_channels, *size(vision), device=device)
    run = model
    if architecture == "SamModel":
        run = model.get_image_embeddings
    elif hasattr(model, "get_image_features"):
        run = model.get_image_features
    return {"name": name, "config": saved, "images": 1, "params": numel(model.parameters()), "flop": {"vision": count(lambda: run(pixels))}}


def with_decoder(name, architecture, keywords, keys):
    config = getattr(tf, architecture).config_class(**keywords)
    saved = without(dict(json.loads(config.to_json_string()), architectures=[architecture]), keys)
    device = "cpu" if "pixtral" in json.dumps(saved) or architecture.startswith(ON_CPU) else "meta"
    model = build(architecture, saved, device)
    text = {id(p) for p in list(model.model.language_model.parameters()) + list(model.lm_head.parameters())}
    case = {"name": name, "config": saved, "images": 1, "params": numel(model.parameters()),
            "vision_params": numel(p for p in model.parameters() if id(p) not in text)}
    vision = model.config.vision_config
    height, width = size(vision)
    pixels = torch.zeros(1, vision.num_channels, height, width, device=device)
    features = {}

    def run(pictures, **more):
        features["of"] = model.get_image_features(pixel_values=pictures, **more).pooler_output

    if architecture.startswith("LlavaNext"):
        return dict(case, **next_views(model, run, vision, pixels))
    more = {"image_sizes": torch.tensor([[height, width]])} if vision.model_type == "pixtral" else {}
    case["flop"] = {"vision": count(lambda: run(pixels, **more))}
    tokens = features["of"][0].shape[0]
    if vision.model_type == "pixtral":  # PixtralProcessor ends each row with a token
        tokens += height // (vision.patch_size * getattr(model.config, "spatial_merge_size", 1))
    case["image_tokens"] = tokens
    return case


def published(name, image):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vision_published.json")) as f:
        saved = json.load(f)[name]
    return of_size(name, saved["architectures"][0], saved, image)


def sized(name, kind, image):
    architecture, keywords = kind
    config = getattr(tf, architecture).config_class(**keywords)
    return of_size(name, architecture, dict(json.loads(config.to_json_string()), architectures=[architecture]), image)


def of_size(name, architecture, saved, image):
    """A model whose tower takes pictures of any size, with one of image = height and width; parameters alone without."""
    qwen = architecture.startswith("Qwen")
    model = build(architecture, saved, "meta" if qwen else "cpu")
    text = {id(p) for p in list(model.model.language_model.parameters()) + list(model.lm_head.parameters())}
    case = {"name": name, "config": saved, "images": 1, "params": numel(model.parameters()),
            "vision_params": numel(p for p in model.parameters() if id(p) not in text)}
    if image is None:
        return case
    tokens, flop = (qwen_picture if qwen else pixtral_picture)(model, *image)
    return dict(case, image_size=image, image_tokens=tokens, flop={"vision": flop})


def qwen_picture(model, height, width):
    """Positions and FLOPs of one picture. Its processor's limits of pixels, which config.json does not hold, are off."""
    vision, tower = model.config.vision_config, model.model.visual
    height, width = smart_resize(height, width, vision.patch_size * vision.spatial_merge_size, 1, 1 << 62)
    grid = torch.tensor([[1, height // vision.patch_size, width // vision.patch_size]])
    tables = {"position_ids": vision_utils.get_vision_position_ids(grid, vision.spatial_merge_size).to("meta")}
    if hasattr(tower, "pos_embed"):
        indices, weights = vision_utils.get_vision_interpolation_indices_and_weights(
            grid, num_grid_per_side=tower.num_grid_per_side, mode=tower.interpolation_mode, align_corners=tower.interpolation_align_corners,
            spatial_merge_size=vision.spatial_merge_size)
        tables |= {"interp_indices": indices.to("meta"), "interp_weights": weights.to("meta")}
    pixels = torch.zeros(int(grid.prod()), vision.in_channels * vision.temporal_patch_size * vision.patch_size**2, device="meta")
    features = {}

    def run():
        features["of"] = model.get_image_features(pixel_values=pixels, image_grid_thw=grid, **tables).pooler_output

    flop = count(run)
    return features["of"][0].shape[0], flop


def pixtral_picture(model, height, width):
    """The same of Pixtral's tower, whose processor is taken to allow as long sides as the configuration says."""
    vision = model.config.vision_config
    step = vision.patch_size * getattr(model.config, "spatial_merge_size", 1)
    height, width = get_resize_output_image_size(torch.zeros(3, height, width), vision.image_size, step, "channels_first")
    pixels = torch.zeros(1, vision.num_channels, height, width)
    flop = count(lambda: model.get_image_features(pixel_values=pixels, image_sizes=torch.tensor([[height, width]])))
    return height // step * (width // step + 1), flop  # PixtralProcessor ends each row with a token


def next_views(model, run, vision, pixels):
    """FLOPs of LLaVA-NeXT's view of the whole and of one crop, from an image of the smallest number of crops."""
    best = model.config.image_grid_pinpoints[0]
    crops = best[0] // vision.image_size * (best[1] // vision.image_size)
    views = pixels.expand(1 + crops, -1, -1, -1).unsqueeze(0)
    total = count(lambda: run(views, image_sizes=[best]))
    assert total % (1 + crops) == 0
    positions = (vision.image_size // vision.patch_size) ** 2
    if vision.model_type == "clip_vision_model" and model.config.vision_feature_select_strategy == "full":
        positions += 1
    return {"image_tokens": positions, "flop": {"vision": total // (1 + crops), "crop": total // (1 + crops)}}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", default="", help="cases whose name contains this")
    arguments.add_argument("--indent", type=int, help="spaces of indentation; default: one line a case")
    options = arguments.parse_args()
    tf.logging.set_verbosity_error()
    torch.set_num_threads(1)
    makers = [(alone, c) for c in ALONE] + [(with_decoder, c) for c in WITH_DECODER] + [(sized, c) for c in SIZED] \
        + [(published, c) for c in PUBLISHED] + [(vision_ocr.case, c) for c in vision_ocr.CASES]
    cases = [maker(*case) for maker, case in makers if options.only in case[0]]
    if options.indent:
        json.dump(cases, sys.stdout, indent=options.indent)
        print()
        return
    print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")


if __name__ == "__main__":
    main()
