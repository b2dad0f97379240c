"""What a model's class is for, and what a call of it works on. Nothing here reads a tensor's content, which would wait for the GPU."""
import inspect

LM, DECODER, OTHER = "language model", "decoder", "other"

# Arguments of a forward that packs several sequences into one: its length is none of theirs.
_PACKED = ("cu_seq_lens_q", "cu_seqlens_q", "cu_seq_lens", "cu_seqlens", "seq_idx")

CACHES = ("past_key_values", "cache")  # names of the argument; the second since transformers 5.24

_roles = {}
_both = {}


class Role:
    """kind is LM for what can generate, DECODER for one without a head; cache_at is the place of the cache among the arguments."""
    __slots__ = ("kind", "cache_at")

    def __init__(self, cls):
        self.kind, self.cache_at = OTHER, None
        can = getattr(cls, "can_generate", None)
        names = list(inspect.signature(cls.forward).parameters)[1:]
        self.cache_at = next((names.index(n) for n in CACHES if n in names), None)
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


def source(model, kwargs, decoder):
    """Length of the prompt of a model of encoder and decoder, whose first decoder call works on so many tokens: that of what the encoder
    reads, and the decoder begins with one token; where the encoder reads a window of one size, as Whisper's of 30 s, that of the
    decoder's prompt. None where the arguments do not tell."""
    config = getattr(model, "config", None)
    read = kwargs.get("encoder_outputs")
    if read is not None:
        s = getattr(getattr(read, "last_hidden_state", None), "shape", None)
        if s is None:
            s = getattr(read[0], "shape", None) if isinstance(read, (tuple, list)) and read else None
        length = int(s[1]) if s is not None and len(s) == 3 else None
    else:
        s = shape((), kwargs)
        length = s[1] if s is not None else None
    if getattr(config, "model_type", None) == "whisper":
        window = getattr(config, "max_source_positions", None)
        return decoder if length == window or length is None and kwargs.get("input_features") is not None else None
    return length if decoder == 1 else None


def is_packed(kwargs):
    return any(kwargs.get(n) is not None for n in _PACKED)


UNKNOWN, FOREIGN = -1, -2  # of cached: not told without waiting for the GPU; a cache that is none of transformers


def cached(role, args, kwargs):
    """Tokens in the cache that a model is called with."""
    cache = kwargs.get("past_key_values")
    if cache is None:
        cache = kwargs.get("cache")
    if cache is None and role.cache_at is not None and len(args) > role.cache_at:
        cache = args[role.cache_at]
    if cache is None:
        return UNKNOWN if kwargs.get("cache_params") is not None else 0
    return length(cache)


def length(cache):
    if isinstance(cache, (tuple, list)):  # of transformers before 4.36
        first = cache[0] if cache else None
        return int(first[0].shape[-2]) if isinstance(first, (tuple, list)) and getattr(first[0], "shape", None) is not None else 0
    if not hasattr(cache, "__dict__"):
        return FOREIGN
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
