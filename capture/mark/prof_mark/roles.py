"""What a model's class is for, and what a call of it works on. Nothing here reads a tensor's content, which would wait for the GPU."""
import inspect

LM, DECODER, OTHER = "language model", "decoder", "other"

# Arguments of a forward that packs several sequences into one: its length is none of theirs.
_PACKED = ("cu_seq_lens_q", "cu_seqlens_q", "cu_seq_lens", "cu_seqlens", "seq_idx")

_roles = {}
_both = {}


class Role:
    """kind is LM for what can generate, DECODER for one without a head; cache_at is the place of past_key_values among the arguments."""
    __slots__ = ("kind", "cache_at")

    def __init__(self, cls):
        self.kind, self.cache_at = OTHER, None
        can = getattr(cls, "can_generate", None)
        names = list(inspect.signature(cls.forward).parameters)[1:]
        if "past_key_values" in names:
            self.cache_at = names.index("past_key_values")
        if callable(can) and can():
            self.kind = LM
        elif self.cache_at is not None and "use_cache" in names:
            self.kind = DECODER


def of(cls):
    role = _roles.get(cls)
    if role is None:
        role = _roles[cls] = Role(cls)
    return role


def is_encoder_decoder(model):
    both = _both.get(type(model))
    if both is None:  # kept: an attribute of a configuration costs a microsecond
        both = _both[type(model)] = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    return both


def shape(args, kwargs, prefix=""):
    """Batch and length of what a decoder was called with; None where its arguments do not tell."""
    x = kwargs.get(prefix + "inputs_embeds")
    if x is None:
        x = kwargs.get(prefix + "input_ids")
    if x is None and args and not prefix:
        x = args[0]
    s = getattr(x, "shape", None)
    return (int(s[0]), int(s[1])) if s is not None and len(s) > 1 else None


def is_packed(kwargs):
    return any(kwargs.get(n) is not None for n in _PACKED)


UNKNOWN, FOREIGN = -1, -2  # of cached: not told without waiting for the GPU; a cache that is none of transformers


def cached(role, args, kwargs):
    """Tokens in the cache that a model is called with."""
    cache = kwargs.get("past_key_values")
    if cache is None and role.cache_at is not None and len(args) > role.cache_at:
        cache = args[role.cache_at]
    if cache is None:
        if kwargs.get("cache_params") is not None:
            return UNKNOWN
        return FOREIGN if kwargs.get("cache") is not None else 0
    return length(cache)


def length(cache):
    if isinstance(cache, (tuple, list)):  # of transformers before 4.36
        first = cache[0] if cache else None
        return int(first[0].shape[-2]) if isinstance(first, (tuple, list)) and getattr(first[0], "shape", None) is not None else 0
    if cache.__dict__.pop("_prof_mark_reset", False):
        return 0
    inner = getattr(cache, "self_attention_cache", None)
    if inner is not None:
        return length(inner)
    seen = getattr(cache, "_seen_tokens", None)  # before 4.54
    if type(seen) is int:
        return seen
    layers = getattr(cache, "layers", None)
    if not isinstance(layers, list):
        return FOREIGN
    for layer in layers:
        count = _layer_length(layer)
        if count is not None:
            return count
    return 0


def _layer_length(layer):
    """Tokens in one layer of a cache; None where it is of no attention and empty."""
    if not hasattr(layer, "keys"):
        return UNKNOWN if getattr(layer, "has_previous_state", False) else None
    if not getattr(layer, "is_initialized", layer.keys is not None):
        return 0
    for name in ("cumulative_length_int", "cumulative_length"):
        count = getattr(layer, name, None)
        if type(count) is int:
            return count
    # A static cache keeps its length on the GPU, and its keys have room for more tokens than they hold.
    if getattr(layer, "max_cache_len", None) is not None or layer.keys is None:
        return UNKNOWN
    return int(layer.keys.shape[-2]) if layer.keys.dim() > 2 else 0


# Models whose pixel_values have one row an image. Others cut an image into crops or patches.
_ROW_AN_IMAGE = {"llava", "vipllava", "paligemma", "blip-2", "instructblip", "kosmos-2", "git", "video_llava"}


def images(model, kwargs, batch, towers):
    """Images of each prompt and crops of each image beside its global view, None where the arguments do not tell."""
    config = getattr(model, "config", None)
    count = crops = None
    grid, pixels = kwargs.get("image_grid_thw"), kwargs.get("pixel_values")
    spatial = kwargs.get("images_spatial_crop")  # of DeepSeek-OCR: columns and rows of crops of each image, made on the CPU
    if grid is not None and getattr(grid, "shape", None):
        count = int(grid.shape[0])
    elif spatial is not None and getattr(spatial, "device", None) is not None and spatial.device.type == "cpu":
        sizes = [w * h if w * h > 1 else 0 for w, h in spatial.reshape(-1, 2).tolist()]
        count = len(sizes)
        crops = sizes[0] if len(set(sizes)) == 1 else None
    elif pixels is not None and getattr(config, "model_type", None) in _ROW_AN_IMAGE and len(pixels.shape) == 4:
        count, crops = int(pixels.shape[0]), 0
    elif pixels is None and not towers and getattr(config, "vision_config", None) is not None:
        return 0, None
    if count is None or not batch or count % batch:
        return None, None
    return count // batch, crops
