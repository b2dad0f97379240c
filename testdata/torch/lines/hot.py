import sys
import time

import torch
from torch.cuda import nvtx

from lib.model import Block, sample


def wait_on_cpu():
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        pass


def step(model, x):
    with nvtx.range("forward"):
        y = model(x)
    wait_on_cpu()
    with nvtx.range("sample"):
        t = sample(y)
    return t.sum().item()


def main():
    model = torch.nn.Sequential(Block(512), Block(512)).cuda()
    x = torch.randn(64, 512, device="cuda")
    with torch.no_grad():
        step(model, x)
        torch.cuda.synchronize()
        if len(sys.argv) > 1:
            with torch.profiler.profile(with_stack=True, record_shapes=True) as p:
                for _ in range(6):
                    step(model, x)
                torch.cuda.synchronize()
            p.export_chrome_trace(sys.argv[1])
            return
        torch.cuda.profiler.start()
        for _ in range(6):
            step(model, x)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


main()
