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


def train(model, x, optimizer):
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def replay(graph):
    graph.replay()


def work(model, x, optimizer, graph):
    with torch.no_grad():
        for _ in range(6):
            step(model, x)
    for _ in range(2):
        train(model, x, optimizer)
    for _ in range(3):
        replay(graph)
    torch.cuda.synchronize()


def main():
    model = torch.nn.Sequential(Block(512), Block(512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(64, 512, device="cuda")
    train(model, x, optimizer)
    with torch.no_grad():
        step(model, x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)
    work(model, x, optimizer, graph)
    torch.cuda.synchronize()
    if len(sys.argv) > 1:
        with torch.profiler.profile(with_stack=True, record_shapes=True) as p:
            work(model, x, optimizer, graph)
        p.export_chrome_trace(sys.argv[1])
        return
    torch.cuda.profiler.start()
    begin = time.perf_counter()
    work(model, x, optimizer, graph)
    print("work took", time.perf_counter() - begin, file=sys.stderr)
    torch.cuda.profiler.stop()


main()
