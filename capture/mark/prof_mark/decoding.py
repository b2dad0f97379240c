"""The settings of generate as they hold when a generation begins: what the call, the model's generation_config and transformers' defaults
make of them. Each has the values that it had in the passes that were measured, the first _MOST of them."""
from . import modelinfo, record

_NAMES = ("max_new_tokens", "max_length", "min_new_tokens", "min_length", "do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "num_beams",
          "num_return_sequences", "early_stopping", "length_penalty", "repetition_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
          "use_cache", "cache_implementation", "prefill_chunk_size", "prompt_lookup_num_tokens", "eos_token_id", "stop_strings", "max_time")
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical_p")  # these do nothing without do_sample
_MOST = 16


def note(model, config, call):
    """Takes note of the settings of a call of generate: config is the GenerationConfig that holds in it, call its arguments by name."""
    values = {name: getattr(config, name, None) for name in _NAMES}
    if not values["do_sample"]:
        values.update(dict.fromkeys(_SAMPLING))
    if values["max_new_tokens"] is not None:
        values["max_length"] = None  # generate makes it of both lengths
    for name in ("logits_processor", "stopping_criteria"):
        values[name] = ", ".join(type(x).__name__ for x in call.get(name) or ()) or None
    values["attn_implementation"] = getattr(model.config, "_attn_implementation", None)
    values["dtype"] = str(model.dtype).replace("torch.", "")
    for name, value in modelinfo.plain(values).items():
        if value is None:
            continue
        seen = record.decoding.setdefault(name, [])
        if value not in seen and len(seen) < _MOST:
            seen.append(value)
