"""Traces one small Llama with each way of attention, and with a fused norm: the same weights, inputs and passes.

python3 pair.py KIND OUT: KIND is eager, sdpa, norm (sdpa with torch's rms_norm) or compiled (sdpa under torch.compile).
"""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from transformers import LlamaConfig, LlamaForCausalLM


def main(kind, out):
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=2048, hidden_size=512, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4,
                         attn_implementation="eager" if kind == "eager" else "sdpa")
    model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    if kind == "norm":
        import transformers.models.llama.modeling_llama as llama

        def forward(self, x):
            return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.variance_epsilon)
        llama.LlamaRMSNorm.forward = forward
    if kind == "compiled":
        model = torch.compile(model)
    ids = torch.randint(0, 2048, (2, 256), device="cuda")
    with torch.no_grad():
        for _ in range(3):
            model(ids, use_cache=False)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=kind != "compiled") as p:
            for _ in range(2):
                with record_function("prefill"):
                    model(ids, use_cache=False)
                torch.cuda.synchronize()
    p.export_chrome_trace(out)


main(*sys.argv[1:])
