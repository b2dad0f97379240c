"""A decode loop in which PyTorch's allocator runs out of memory: each step needs blocks that the cached ones do not serve, so that it gives these back (cudaFree) and asks anew (cudaMalloc)."""
import time

import prof_mark
import torch

torch.cuda.set_per_process_memory_fraction(0.0122)  # of 141 GB about 1.7 GB
w = torch.randn(1024, 1024, device="cuda", dtype=torch.float16) * 0.03
x = torch.randn(8, 1024, device="cuda", dtype=torch.float16)
print(torch.cuda.mem_get_info(), torch.cuda.get_device_properties(0).total_memory, flush=True)
torch.relu(x @ w)
torch.cuda.synchronize()
for n in range(4):
    with prof_mark.stage("prefill", tokens=8, batch=8):
        torch.relu(x @ w)
    with prof_mark.stage("decode", steps=4):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for s in range(4):
            with prof_mark.stage("decode_step[%d]" % s):
                torch.relu(x @ w)
                big = torch.empty((900 + 20 * s) << 20, dtype=torch.uint8, device="cuda")
                torch.relu(x @ w)
                del big
        torch.cuda.synchronize()
        stats = torch.cuda.memory_stats()
        print("pass", (time.perf_counter_ns() - began) / 1e6, "ms; retries", stats["num_alloc_retries"], "device allocations", stats["num_device_alloc"], "frees", stats["num_device_free"], flush=True)
    torch.cuda.empty_cache()
