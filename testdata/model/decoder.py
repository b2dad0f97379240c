#!/usr/bin/env python3
"""Writes decoder.json: what PyTorch counts for decoder language models built from their configurations.

    python3 decoder.py --out decoder.json
    python3 decoder.py --only mixtral-window            # to standard output
    python3 decoder.py --only llama-gqa --device cuda

Needs torch and transformers; weights are random, nothing is downloaded. Each fixture has a configuration as a config.json has it
(`form`: "given", the fields of the published file, or those that the class is built from; "saved", what save_pretrained would write;
"full", every field with its default), the sum of `numel()` over the parameters (tied ones once, `parts` by top module), and for some
batch x prompt the FLOP that torch.utils.flop_counter counts (a multiply-add is 2) in one prefill with the logits of the last position,
in one with the logits of all, and in `new` forwards of one token each that continue the cache of the first. `rotary` is the part that it
counts inside the rotary table's module; `model` is the rest. `cache` is the number of elements cached after prefill and after decode.

FlopCounter does not see a recurrence, and sees a chunked one as its chunks multiply. So the part of a forward pass that lies in such a layer
(state spaces, the delta rule, lightning attention, short convolutions) is counted here from the tensors of the model itself: for each token
2 for each weight of its matrices and of its convolution, and 2 for each number of the state that the cache holds, times 2 where an outer
product is added and a query reads, times 3 where the state is read under a key before (PRODUCTS says which). Llama 4's experts multiply
every token with every expert and throw most of it away: counted are those that the router chose. `state` is what one sequence keeps of
states and of the inputs of convolutions.

The attention is the eager one. Routing depends on data, which meta tensors lack: there the experts run as batched_mm, which computes
exactly the routed (token, expert) pairs, too; on cpu and cuda the eager experts run, and in small models batched_mm must count the same.
"""
import argparse
import contextlib
import copy
import inspect
import json
import sys

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode
from transformers import DynamicCache
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from transformers.models.minimax.modeling_minimax import MiniMaxCache

from decoder_configs import fixtures

# (batch, prompt, new): the small windows are 8, so 13 starts beyond them and 5 + 7 crosses them.
SMALL = [(1, 13, 4), (3, 5, 7)]
SMALL_WINDOW = [(1, 7, 2), (1, 8, 2)]
REAL = [(1, 681, 16), (3, 130, 2)]


def real_window(size):
    return [(1, size + 57, 3), (1, size - 3, 6)]


def cases(spec, text):
    """The (batch, prompt, new) that a configuration is measured at, more of them where a window limits its attention."""
    if spec.cases:
        return spec.cases
    window = getattr(text, "sliding_window", None)
    if spec.real:
        return REAL + (real_window(window) if window and window < 100000 else [])
    return SMALL + (SMALL_WINDOW if window else [])


def build(spec, device, experts):
    """The model of a configuration with random weights (none on meta), its attention and its experts fixed."""
    fields = copy.deepcopy(spec.config)  # from_dict writes into what it is given
    config = CONFIG_MAPPING[fields["model_type"]].from_dict(fields)
    cls = getattr(transformers, spec.architecture) if spec.architecture else MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    with torch.device(device):
        model = cls._from_config(config, attn_implementation="eager", dtype=torch.float32)
    if model._can_set_experts_implementation():
        model.set_experts_implementation(experts)
    return model.eval().requires_grad_(False)


def counted(forward, model, tokens):
    """What `forward` of so many tokens returns, and its FLOP: all that were counted, those of the rotary table, and what the model needs."""
    with FlopCounterMode(display=False) as counter:
        result = forward()
    counts = {module: sum(ops.values()) for module, ops in counter.get_flop_counts().items()}
    rotary = sum(flop for module, flop in counts.items() if module.split(".")[-1] in ("rotary_emb", "pos_emb"))
    total = counter.get_total_flops()
    unseen = sum(
        tokens * per_token - counts.get(type(model).__name__ + "." + path, 0) for path, per_token in by_hand(model).items()
    )
    return result, {"counted": total, "rotary": rotary, "model": total - rotary + unseen}


# How often a token multiplies each number of the state, by the class of the layer.
PRODUCTS = {
    "MambaMixer": 2,
    "FalconMambaMixer": 2,
    "JambaMambaMixer": 2,
    "Mamba2Mixer": 2,
    "BambaMixer": 2,
    "FalconH1Mixer": 2,
    "GraniteMoeHybridMambaLayer": 2,
    "NemotronHMamba2Mixer": 2,
    "MiniMaxLightningAttention": 2,
    "Qwen3NextGatedDeltaNet": 3,
    "Qwen3_5GatedDeltaNet": 3,
    "Qwen3_5MoeGatedDeltaNet": 3,
    "Lfm2ShortConv": 0,
    "Lfm2MoeShortConv": 0,
}


def state_of(model, path):
    """The numbers of the recurrent state of the layer at a path, once a forward pass has told them."""
    index = int(next(part for part in path.split(".") if part.isdigit()))
    return model.state_sizes.get(index, 0)


def by_hand(model):
    """FLOP of one token in each layer that FlopCounter does not count as the model needs it, by path."""
    flop = {}
    for path, module in model.named_modules():
        kind = type(module).__name__
        if kind in PRODUCTS:
            weights = sum(m.weight.numel() for m in module.modules() if isinstance(m, (torch.nn.Linear, torch.nn.Conv1d)))
            flop[path] = 2 * (weights + PRODUCTS[kind] * state_of(model, path))
        if kind == "Llama4TextExperts":
            flop[path] = 2 * model.config.get_text_config().num_experts_per_tok * sum(p.numel() for p in module.parameters()) // module.num_experts
    return flop


def cached(cache):
    """Numbers of keys and values."""
    return sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers if getattr(layer, "keys", None) is not None)


def states(model, cache, batch):
    """Notes the numbers of the states of each layer for one sequence, and gives those with the inputs that convolutions keep."""
    for i, layer in enumerate(cache.layers):
        held = getattr(layer, "recurrent_states", None) or {}
        model.state_sizes[i] = sum(t.numel() for t in held.values() if t is not None) // batch
    for i, held in enumerate(getattr(cache, "linear_cache", [])):
        model.state_sizes[i] = len(held) and held.numel() // batch
    total = sum(model.state_sizes.values())
    for module in model.modules():
        if isinstance(module, torch.nn.Conv1d):
            total += module.out_channels * (module.kernel_size[0] - 1)
    return total


def new_cache(text):
    return MiniMaxCache() if text.model_type == "minimax" else DynamicCache(config=text)


def takes_logits(model):
    return "logits_to_keep" in inspect.signature(model.forward).parameters


def measure(model, batch, prompt, new):
    """The FLOP of one prefill and of the `new` forwards after it."""
    device = next(model.parameters()).device
    text = model.config.get_text_config()

    def tokens(count):
        return torch.randint(text.vocab_size, (batch, count), device=device)

    def forward(count, cache, logits):
        # Always with a cache: without one the mask is made from the values of tensors, which meta tensors lack.
        ids = tokens(count)
        out, flop = counted(lambda: model(ids, use_cache=True, **{slot: cache}, **keep(logits)), model, batch * count)
        assert out.logits.shape[:2] == (batch, logits or count)
        return flop

    slot = "cache_params" if "cache_params" in inspect.signature(model.forward).parameters else "past_key_values"

    def keep(logits):
        return {"logits_to_keep": logits} if takes_logits(model) else {}

    model.state_sizes = {}
    if any(type(m).__name__ in PRODUCTS for m in model.modules()):  # the sizes of states are known after a pass
        cache = new_cache(text)
        model(tokens(prompt), use_cache=True, **{slot: cache})
        state = states(model, cache, batch)
    else:
        state = 0
    cache = new_cache(text)
    prefill = forward(prompt, cache, 1)
    sizes = {"prefill": cached(cache)}
    if state:
        sizes["state"] = state
    decode = {"counted": 0, "rotary": 0, "model": 0}
    for _ in range(new):
        step = forward(1, cache, 1)
        decode = {key: decode[key] + step[key] for key in decode}
    if sizes["prefill"] and not hasattr(cache, "linear_cache"):  # whose first layer may keep none
        assert cache.get_seq_length() == prompt + new
    sizes["decode"] = cached(cache)
    return {
        "batch": batch,
        "prompt": prompt,
        "new": new,
        "prefill": prefill,
        "prefill_all_logits": forward(prompt, new_cache(text), 0),
        "decode": decode,
        "cache": sizes,
    }


def forms(spec, model):
    """The configuration in the forms that its fixtures take: (form, fields)."""
    config = model.config
    # What save_pretrained sets before it writes the file.
    config.architectures = [type(model).__name__]
    config.dtype = spec.dtype
    if spec.real:
        yield "given", spec.config
    yield "saved", json.loads(config.to_json_string(use_diff=True))
    if spec.full:
        full = config.to_dict()
        config.dict_dtype_to_str(full)
        yield "full", json.loads(json.dumps(full))


def parts(model):
    """Parameters by top module ("model" taken apart), each tied one once, where it is met first."""
    sizes = {}
    for name, parameter in model.named_parameters():
        path = name.removeprefix("model.").split(".")
        sizes[path[0]] = sizes.get(path[0], 0) + parameter.numel()
    return sizes


def run(spec, device):
    """The fixtures of one configuration, one for each form of it."""
    device = device or ("meta" if spec.real else "cpu")
    experts = "batched_mm" if device == "meta" else "eager"
    model = build(spec, device, experts)
    routed = model._can_set_experts_implementation()
    runs = [measure(model, *case) for case in cases(spec, model.config.get_text_config())]
    if routed and experts == "eager" and not spec.real:  # batched_mm copies each pair's weights
        model.set_experts_implementation("batched_mm")
        again = [measure(model, *case) for case in cases(spec, model.config.get_text_config())]
        assert again == runs, f"{spec.name}: batched_mm counts other pairs than the eager experts"
    head = {
        "name": spec.name,
        "architecture": type(model).__name__,
        "device": device,
        "experts": experts if routed else None,
        "params": sum(p.numel() for p in model.parameters()),
        "parts": parts(model),
        "runs": runs,
    }
    assert head["params"] == sum(head["parts"].values())
    return [{**head, "form": form, "config": config} for form, config in forms(spec, model)]


def main():
    parser = argparse.ArgumentParser(description="Write what PyTorch counts for decoder language models.")
    parser.add_argument("--out", metavar="FILE", help="the file to write (default: standard output)")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this configuration (may be repeated)")
    parser.add_argument("--device", choices=["cpu", "cuda", "meta"], help="default: cpu, and meta for published sizes")
    args = parser.parse_args()

    specs = fixtures()
    if unknown := set(args.only or []) - {s.name for s in specs}:
        parser.error(f"no configuration is named {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in specs)}")
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    lines = []
    for spec in specs:
        if args.only and spec.name not in args.only:
            continue
        with torch.no_grad():
            try:
                made = run(spec, args.device)
            except torch.OutOfMemoryError:  # published sizes count the same without their weights
                torch.cuda.empty_cache()
                made = run(spec, "meta")
            for fixture in made:
                line = json.dumps(fixture, sort_keys=True, separators=(",", ":"))
                lines.append(line.replace(":Infinity", ":1e999").replace(",Infinity", ",1e999"))  # JSON has no word for it
        print(spec.name, lines[-1].count('"batch"'), file=sys.stderr, flush=True)

    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    with open(args.out, "w") if args.out else contextlib.nullcontext(sys.stdout) as out:
        out.write(json.dumps(versions)[:-1] + ', "fixtures": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
