"""Traces one small Llama as it is and in the wrappers that people put around models: the same weights, inputs and passes.

python3 wrapped.py KIND OUT PASSES: KIND is sdpa or eager (the model as it is), ddp, fsdp1 (FullyShardedDataParallel), fsdp2 (fully_shard), dynamo (torch.compile
with the eager backend), compiled (torch.compile), checkpoint (each layer in a CheckpointWrapper) or lora (each projection in a module that adds two small ones).
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, record_function
from transformers import LlamaConfig, LlamaForCausalLM


class Adapter(torch.nn.Module):
    """A linear layer with a low-rank one added, as peft's lora.Linear."""

    def __init__(self, base):
        super().__init__()
        self.base_layer = base
        self.lora_A = torch.nn.Linear(base.in_features, 8, bias=False)
        self.lora_B = torch.nn.Linear(8, base.out_features, bias=False)

    def forward(self, x):
        return self.base_layer(x) + self.lora_B(self.lora_A(x))


class Adapted(torch.nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base_model = base

    def forward(self, *args, **kwargs):
        return self.base_model(*args, **kwargs)


def wrapped(model, kind):
    if kind in ("ddp", "fsdp1", "fsdp2"):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
        dist.init_process_group("nccl", rank=0, world_size=1)
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if kind == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy
        from transformers.models.llama.modeling_llama import LlamaDecoderLayer
        return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({LlamaDecoderLayer}), device_id=0)
    if kind == "fsdp2":
        from torch.distributed.fsdp import fully_shard
        for layer in model.model.layers:
            fully_shard(layer)
        return fully_shard(model)
    if kind == "dynamo":
        return torch.compile(model, backend="eager")
    if kind == "compiled":
        return torch.compile(model)
    if kind == "checkpoint":
        from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
        for i, layer in enumerate(model.model.layers):
            model.model.layers[i] = checkpoint_wrapper(layer)
    if kind == "lora":
        for layer in model.model.layers:
            for name in ("q_proj", "v_proj"):
                setattr(layer.self_attn, name, Adapter(getattr(layer.self_attn, name)).to("cuda", torch.bfloat16))
        return Adapted(model)
    return model


def main(kind, out, passes):
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=2048, hidden_size=512, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4,
                         attn_implementation="eager" if kind == "eager" else "sdpa")
    model = wrapped(LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval(), kind)
    ids = torch.randint(0, 2048, (2, 256), device="cuda")
    with torch.no_grad():
        for _ in range(3):
            model(ids, use_cache=False)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=True) as p:
            for _ in range(int(passes)):
                with record_function("prefill"):
                    model(ids, use_cache=False)
                torch.cuda.synchronize()
    p.export_chrome_trace(out)


main(*sys.argv[1:])
