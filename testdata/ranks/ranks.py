"""One rank of two: tensor-parallel matmuls with collectives of every kind and known sizes, NVTX stages; rank 1 is late in step 2.
usage: ranks.py RANK [trace.json]"""
import os, sys, contextlib, torch, torch.distributed as dist
rank = int(sys.argv[1]); out = sys.argv[2] if len(sys.argv) > 2 else None
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("PORT", "29513"))
torch.cuda.set_device(rank); dev = torch.device("cuda", rank)
dist.init_process_group("nccl", rank=rank, world_size=2, device_id=dev)
x = torch.randn(512, 1024, device=dev, dtype=torch.bfloat16); w = [torch.randn(1024, 1024, device=dev, dtype=torch.bfloat16) for _ in range(4)]
f = torch.randn(8192, device=dev); g = torch.empty(16384, device=dev); s = torch.empty(4096, device=dev); a = torch.empty_like(f)
@contextlib.contextmanager
def mark(name):
    torch.cuda.nvtx.range_push(name)
    with torch.profiler.record_function(name): yield
    torch.cuda.nvtx.range_pop()
def step(i):
    with mark(f"step[{i}]"):
        for name, t in (("prefill", 2), ("decode", 4)):
            h = x if name == "prefill" else x[:16]
            with mark(name):
                for k in range(t):
                    h = torch.relu(h @ w[k]) * 0.01
                    if rank == 1 and i == 2:
                        for _ in range(8): h = h + torch.relu(x[: h.shape[0]] @ w[0]) * 0.01
                    dist.all_reduce(h)
        dist.all_gather_into_tensor(g, f); dist.reduce_scatter_tensor(s, f); dist.all_to_all_single(a, f); dist.broadcast(f, 0)
        if rank == 0: dist.send(f, 1)
        else: dist.recv(a, 0)
        torch.cuda.synchronize()
for i in range(2): step(100 + i)
dist.barrier()
if out:
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        for i in range(4): step(i)
    p.export_chrome_trace(out)
else:
    for i in range(4): step(i)
dist.barrier(); dist.destroy_process_group()
