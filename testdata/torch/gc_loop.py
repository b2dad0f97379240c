"""A decode loop that makes garbage in cycles among 120,000 live objects and has Python collect it twice a pass, or, with `fixed`, never: gc_loop.py [fixed]

Run under prof capture's helper, PROF_MARK_TRACE=gc.trace.json.gz. It prints how long each pass took."""
import gc
import sys
import time

import prof_mark
import torch

fixed = sys.argv[1:] == ["fixed"]
weights = [torch.randn(1024, 1024, device="cuda", dtype=torch.float16) * 0.03 for _ in range(12)]
x = torch.randn(8, 1024, device="cuda", dtype=torch.float16)


class Node:
    pass


def net(y):
    for w in weights:
        y = torch.relu(y @ w)
    return y


live = []
for _ in range(120_000):
    n = Node()
    n.other = live[-1] if live else None
    live.append(n)
gc.collect()
if fixed:
    gc.freeze()
    gc.disable()
torch.cuda.synchronize()
for _ in range(5):
    with prof_mark.stage("prefill", tokens=8, batch=8):
        net(x)
    with prof_mark.stage("decode", steps=6):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for s in range(6):
            with prof_mark.stage("decode_step[%d]" % s):
                net(x)
                for _ in range(2000):
                    n = Node()
                    n.me = n
                if not fixed and s % 3 == 1:
                    gc.collect()
                net(x)
        torch.cuda.synchronize()
        print((time.perf_counter_ns() - began) / 1e6, "ms")
