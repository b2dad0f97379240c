"""A small loop of prefill and decode: tokens are picked on the CPU, another thread holds Python's lock in gil_step, garbage is collected in tidy."""
import gc
import sys
import threading
import time

import torch
from torch import nn
from torch.cuda import nvtx


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.up, self.down = nn.Linear(n, 2 * n), nn.Linear(2 * n, n)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def tokenize(text):
    return [sum(ord(c) * 31 for c in word) % 977 for word in text.split()]


def pick_next(scores):
    best = 0
    for k in range(60000):
        best = (best * 31 + k) % 9973
    return best


def deep(n):
    if n:
        return deep(n - 1)
    end = time.perf_counter() + 0.003
    while time.perf_counter() < end:
        pass


def tidy():
    gc.collect()


def log_lines(stop):
    while not stop.is_set():
        sum(range(30000))


def gil_step(model, x):
    stop = threading.Event()
    other = threading.Thread(target=log_lines, args=(stop,))
    other.start()
    for _ in range(3):
        with nvtx.range("decode"):
            model(x)
            torch.cuda.synchronize()
    stop.set()
    other.join()


def generate(model, text, steps):
    with nvtx.range("prefill"):
        ids = tokenize(text)
        x = torch.randn(len(ids) % 512 + 64, 512, device="cuda")
        y = model(x)
    torch.cuda.synchronize()
    for step in range(steps):
        with nvtx.range("decode"):
            y = model(y[-1:])
            y[0, 0].item()
            pick_next(y)
            if step == 3:
                deep(300)
            if step == 5:
                tidy()
            y = torch.softmax(y, -1)
    torch.cuda.synchronize()


def main():
    model = nn.Sequential(*[Block(512) for _ in range(4)]).cuda()
    keep = [[i] for i in range(100_000)]
    text = "the quick brown fox jumps over the lazy dog " * 3000
    with torch.no_grad():
        for _ in range(4):
            generate(model, text, 8)
        gil_step(model, torch.randn(1, 512, device="cuda"))
    print(len(keep), file=sys.stderr)


main()
