"""A decode loop of small kernels: loop.py free|starved|gil [PASSES]. With starved the thread shares one CPU with three other processes that always want it; with gil a second thread splits text in pure Python meanwhile. It prints how long each pass took, in ms."""
import os
import subprocess
import sys
import threading
import time

import prof_mark
import torch

passes = int(sys.argv[2]) if len(sys.argv) > 2 else 3
weights = [torch.randn(1024, 1024, device="cuda", dtype=torch.float16) * 0.03 for _ in range(12)]
x = torch.randn(8, 1024, device="cuda", dtype=torch.float16)
over = threading.Event()


def net(y):
    for w in weights:
        y = torch.relu(y @ w)
    return y


def tokenise():
    text = "the quick brown fox jumps over the lazy dog " * 50
    counts = {}
    while not over.is_set():
        word = ""
        for c in text:
            if c == " ":
                counts[word] = counts.get(word, 0) + 1
                word = ""
            else:
                word += c


net(x)
torch.cuda.synchronize()
others = []
if sys.argv[1] == "starved":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3)]
    time.sleep(0.3)
if sys.argv[1] == "gil":
    thread = threading.Thread(target=tokenise, name="tokeniser")
    thread.start()
for _ in range(passes):
    with prof_mark.stage("prefill", tokens=8, batch=8):
        net(x)
    with prof_mark.stage("decode", steps=6):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for s in range(6):
            with prof_mark.stage("decode_step[%d]" % s):
                net(x)
                net(x)
        torch.cuda.synchronize()
        print("pass", (time.perf_counter_ns() - began) / 1e6, "ms", flush=True)
over.set()
for other in others:
    other.kill()
