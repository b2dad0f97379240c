#!/usr/bin/env python3
"""Writes encoder_decoder.json: what PyTorch counts for models of encoder and decoder built from their configurations.

    python3 encoder_decoder.py --out encoder_decoder.json
    python3 encoder_decoder.py --only t5-default        # to standard output

As decoder.py, whose parts it takes, with these differences. The prompt of T5 is the encoder's input, and its decoder starts from one token;
Whisper's encoder takes one window of audio a sequence, and the prompt is its decoder's. `prefill` is one forward of both with the logits of
the last position, `decode` the sum of `new` forwards of one token each, which reuse the keys and values made in the prefill. `cache` is the
number of elements cached: of the source, and of the decoder's own tokens after prefill and after decode. `read` is the number of
parameters that one prefill and one decode step read: those of each layer that was called, once; of tables one row a token.

A configuration whose tie_word_embeddings is false is that of a checkpoint with a head of its own: transformers 5.17 ties it all the same
where it is built of the configuration alone, and does not where it loads such a checkpoint. Here it is taken apart as loading does.
"""
import argparse
import contextlib
import copy
import json
import sys

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from decoder import cached, counted, forms, parts
from decoder_configs import Spec

T5 = {"vocab_size": 103, "d_model": 48, "d_kv": 10, "d_ff": 76, "num_layers": 3, "num_heads": 6, "decoder_start_token_id": 0}
WHISPER = {
    "vocab_size": 103, "d_model": 48, "num_mel_bins": 10, "max_source_positions": 37, "max_target_positions": 600,
    "encoder_layers": 3, "encoder_attention_heads": 6, "encoder_ffn_dim": 76, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 60,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3, "begin_suppress_tokens": None,
}
SMALL = {
    "t5-default": {},
    "t5-gated": {"feed_forward_proj": "gated-gelu", "num_decoder_layers": 5},
    "t5-untied": {"feed_forward_proj": "gated-silu", "tie_word_embeddings": False, "d_kv": 8},
    "t5-one-head": {"num_heads": 1, "d_kv": 22, "num_layers": 1, "num_decoder_layers": 2, "relative_attention_num_buckets": 18},
    "mt5-default": {},
    "mt5-untied": {"tie_word_embeddings": False, "feed_forward_proj": "relu", "num_decoder_layers": 1},
    "umt5-default": {},
    "umt5-untied": {"tie_word_embeddings": False, "num_decoder_layers": 4, "relative_attention_num_buckets": 20},
    "whisper-default": {},
    "whisper-untied": {"tie_word_embeddings": False, "encoder_layers": 1, "decoder_layers": 1, "max_source_positions": 50},
    "whisper-scaled": {"scale_embedding": True, "encoder_attention_heads": 3, "decoder_attention_heads": 12, "num_mel_bins": 16},
}


def t5(d_model, d_ff, heads, layers, d_kv=64, **changes):
    return {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True, "vocab_size": 32128, "d_model": d_model, "d_kv": d_kv, "d_ff": d_ff,
            "num_layers": layers, "num_heads": heads, "n_positions": 512, "relative_attention_num_buckets": 32, "decoder_start_token_id": 0, **changes}


def v1_1(d_model, d_ff, heads, layers, **changes):
    return t5(d_model, d_ff, heads, layers, num_decoder_layers=layers, feed_forward_proj="gated-gelu", tie_word_embeddings=False, **changes)


def multilingual(kind, d_model, d_ff, heads, layers, vocab):
    return v1_1(d_model, d_ff, heads, layers, model_type=kind, architectures=[kind.upper() + "ForConditionalGeneration"], vocab_size=vocab)


def whisper(d_model, layers, heads, **changes):
    return {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "is_encoder_decoder": True, "vocab_size": 51865, "d_model": d_model, "num_mel_bins": 80,
            "max_source_positions": 1500, "max_target_positions": 448, "encoder_layers": layers, "decoder_layers": layers, "encoder_attention_heads": heads,
            "decoder_attention_heads": heads, "encoder_ffn_dim": 4 * d_model, "decoder_ffn_dim": 4 * d_model, "decoder_start_token_id": 50258, **changes}


PUBLISHED = {
    "t5-small": t5(512, 2048, 8, 6),
    "t5-base": t5(768, 3072, 12, 12),
    "t5-3b": t5(1024, 16384, 32, 24, d_kv=128),
    "t5-11b": t5(1024, 65536, 128, 24, d_kv=128),
    "t5-v1.1-base": v1_1(768, 2048, 12, 12),
    "flan-t5-xl": v1_1(2048, 5120, 32, 24),
    "flan-t5-xxl": v1_1(4096, 10240, 64, 24),
    "mt5-small": multilingual("mt5", 512, 1024, 6, 8, 250112),
    "umt5-small": multilingual("umt5", 512, 1024, 6, 8, 256384),
    "whisper-tiny": whisper(384, 4, 6),
    "whisper-base": whisper(512, 6, 8),
    "whisper-small": whisper(768, 12, 12),
    "whisper-medium": whisper(1024, 24, 16),
    "whisper-large-v2": whisper(1280, 32, 20),
    "whisper-large-v3": whisper(1280, 32, 20, num_mel_bins=128, vocab_size=51866),
    "whisper-large-v3-turbo": whisper(1280, 32, 20, num_mel_bins=128, vocab_size=51866, decoder_layers=4),
}


def specs():
    """All configurations, each family's first small one also with every default."""
    met = set()
    for name, changes in SMALL.items():
        family = name.split("-")[0]
        yield Spec(name, {"model_type": family, **(WHISPER if family == "whisper" else T5), **changes}, full=family not in met, cases=[(1, 13, 4), (3, 5, 7), (2, 512, 32)])  # the last as a capture of testdata/nsys has it
        met.add(family)
    for name, config in PUBLISHED.items():
        audio = config["model_type"] == "whisper"
        yield Spec(name, config, real=True, dtype="float32" if audio else "bfloat16", cases=[(1, 4 if audio else 681, 16), (3, 224 if audio else 130, 2)])


def build(spec):
    fields = copy.deepcopy(spec.config)
    config = CONFIG_MAPPING[fields["model_type"]].from_dict(fields)
    name = {"t5": "T5", "mt5": "MT5", "umt5": "UMT5", "whisper": "Whisper"}[config.model_type] + "ForConditionalGeneration"
    with torch.device("meta" if spec.real else "cpu"):
        model = getattr(transformers, name)._from_config(config, attn_implementation="eager", dtype=torch.float32)
    if spec.config.get("tie_word_embeddings") is False:
        head = model.get_output_embeddings()
        head.weight = torch.nn.Parameter(torch.empty_like(head.weight))
    return model.eval().requires_grad_(False)


@contextlib.contextmanager
def reading(model, read):
    """Adds up what the layers that are called read of their parameters."""

    def hook(module, args, out):
        own = sum(p.numel() for p in module.parameters(recurse=False))
        looked_up = isinstance(module, torch.nn.Embedding) and module.embedding_dim == model.config.d_model
        if looked_up:
            own = args[0].numel() * module.embedding_dim
        read.append(own)

    hooks = [m.register_forward_hook(hook) for m in model.modules() if next(m.parameters(recurse=False), None) is not None]
    yield
    for h in hooks:
        h.remove()


def measure(model, batch, prompt, new):
    config, device = model.config, next(model.parameters()).device
    audio = config.model_type == "whisper"

    def tokens(count):
        return torch.randint(config.vocab_size, (batch, count), device=device)

    def forward(count, cache, source, head):
        """One forward of so many tokens of the decoder."""
        ids, read, base = tokens(count), [], model.model if audio else model
        with reading(model, read):
            if audio:  # its class computes the logits of all positions
                run = lambda: base(**source, decoder_input_ids=ids, past_key_values=cache, use_cache=True)
                full = lambda: (out := run(), model.proj_out(out[0][:, -1:] if head == "last" else out[0]))
            else:
                full = lambda: (out := base(**source, decoder_input_ids=ids, past_key_values=cache, use_cache=True), out.logits)
            (out, logits), flop = counted(full, model, batch * count)
        assert logits.shape[:2] == (batch, 1 if head == "last" else count)
        return out, flop, sum(read)

    def whole(head):
        if audio:
            features = torch.empty(batch, config.num_mel_bins, 2 * config.max_source_positions, device=device)
            return forward(prompt, None, {"input_features": features}, head)
        return forward(1, None, {"input_ids": tokens(prompt)}, head)

    out, prefill, read = whole("last")
    cache = out.past_key_values
    sizes = {"source": cached(cache.cross_attention_cache), "prefill": cached(cache.self_attention_cache)}
    source = {"encoder_outputs": BaseModelOutput(out.encoder_last_hidden_state)}
    decode = {"counted": 0, "rotary": 0, "model": 0}
    for _ in range(new):
        _, step, step_read = forward(1, cache, source, "last")
        decode = {key: decode[key] + step[key] for key in decode}
    sizes["decode"] = cached(cache.self_attention_cache)
    assert sizes["source"] == cached(cache.cross_attention_cache)
    return {"batch": batch, "prompt": prompt, "new": new, "prefill": prefill, "prefill_all_logits": whole("all")[1], "decode": decode,
            "cache": sizes, "read": {"prefill": read, "step": step_read}}


def run(spec):
    model = build(spec)
    head = {"name": spec.name, "architecture": type(model).__name__, "device": next(model.parameters()).device.type,
            "params": sum(p.numel() for p in model.parameters()), "parts": parts(model), "runs": [measure(model, *case) for case in spec.cases]}
    for form, config in forms(spec, model):
        if form != "given" and spec.config.get("tie_word_embeddings") is False:
            config = {**config, "tie_word_embeddings": False}  # as it was read: the class sets it
        yield {**head, "form": form, "config": config}


def main():
    parser = argparse.ArgumentParser(description="Write what PyTorch counts for models of encoder and decoder.")
    parser.add_argument("--out", metavar="FILE", help="the file to write (default: standard output)")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this configuration (may be repeated)")
    args = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    lines = []
    for spec in specs():
        if args.only and spec.name not in args.only:
            continue
        with torch.no_grad():
            lines += [json.dumps(fixture, sort_keys=True, separators=(",", ":")) for fixture in run(spec)]
        print(spec.name, file=sys.stderr, flush=True)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    with open(args.out, "w") if args.out else contextlib.nullcontext(sys.stdout) as out:
        out.write(json.dumps(versions)[:-1] + ', "fixtures": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
