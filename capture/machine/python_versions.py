# Prints the versions of what a workload of this interpreter computes with. Nothing is imported that is not Python's own: torch alone
# takes seconds.
import sys

sys.path[:] = [p for p in sys.path if p not in ("", ".")]  # a json.py of the working folder is not Python's

import ast
import json
import os
import platform
import re

try:
    from importlib import metadata, util
except ImportError:
    sys.exit("its version %s is older than 3.8" % platform.python_version())

NAMES = {
    "torch": ["torch"],
    "torchvision": ["torchvision"],
    "transformers": ["transformers"],
    "tokenizers": ["tokenizers"],
    "accelerate": ["accelerate"],
    "vllm": ["vllm"],
    "sglang": ["sglang"],
    "tensorrt_llm": ["tensorrt_llm", "tensorrt-llm"],
    "triton": ["triton", "pytorch-triton"],
    "flash_attn": ["flash-attn", "flash_attn"],
    "flash_attn_3": ["flash-attn-3", "flash_attn_3"],
    "flashinfer": ["flashinfer-python", "flashinfer"],
    "xformers": ["xformers"],
    "deepspeed": ["deepspeed"],
    "bitsandbytes": ["bitsandbytes"],
    "numpy": ["numpy"],
    "nccl": ["nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11"],
    "cudnn": ["nvidia-cudnn-cu13", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11"],
    "cublas": ["nvidia-cublas", "nvidia-cublas-cu13", "nvidia-cublas-cu12", "nvidia-cublas-cu11"],
    "cuda_runtime": ["nvidia-cuda-runtime", "nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu11"],
}


def version(names):
    for name in names:
        try:
            found = metadata.version(name)
        except Exception:  # not installed, or its metadata is damaged
            continue
        if found:
            return found
    return None


def torch_facts():
    """version and CUDA of torch as its version.py has them, which is there too when torch was built in place."""
    try:
        spec = util.find_spec("torch")
        with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as f:
            text = f.read(1 << 16)
    except Exception:  # not installed, or not from files
        return {}
    facts = {}
    for name in ("__version__", "cuda", "hip"):
        found = re.search(r"^%s(?:\s*:[^=\n]*)?\s*=\s*(.+)$" % name, text, re.M)
        try:
            facts[name] = ast.literal_eval(found.group(1))
        except Exception:  # not said, or not as a plain value
            continue
    return facts


packages = {key: found for key, found in ((key, version(names)) for key, names in NAMES.items()) if found}
torch = torch_facts()
if torch.get("__version__"):
    packages["torch"] = torch["__version__"]
out = {"version": platform.python_version(), "packages": packages}
if torch.get("cuda"):
    out["torch_cuda"] = torch["cuda"]
print("\nprof-python-versions " + json.dumps(out))
