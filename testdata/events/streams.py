"""Streams that wait for each other by events. A decode step: a long kernel on stream a, an event behind it, more work on a, short kernels on c all the time; b waits for the event. A prefill step: the thread waits for an event
behind the first of two kernels of a; then b waits for an event of m that itself only waited for one of a. Argument: none, or `sync` or `plain` and the file of a trace, with and without its rows of synchronisation."""
import contextlib, sys, time
import torch
mode, file = (sys.argv[1:] + ["nsys", ""])[:2]
a, b, c, m = (torch.cuda.Stream() for _ in range(4))
ms = 7_500_000  # cycles, some 4 ms
x, y, z = torch.zeros(1 << 26, device="cuda"), torch.zeros(1 << 18, device="cuda"), torch.zeros(8, device="cuda")

@contextlib.contextmanager
def mark(name):
    torch.cuda.nvtx.range_push(name)
    with torch.profiler.record_function(name):
        yield
    torch.cuda.nvtx.range_pop()

def others():
    with torch.cuda.stream(c):
        for _ in range(30): y.mul_(1.5)
    with torch.cuda.stream(m): z.fill_(1)

def spin(stream, n):
    with torch.cuda.stream(stream): torch.cuda._sleep(int(n * ms))

def cosine():
    with torch.cuda.stream(b): x.cos_()

def prefill():
    e, e2, e3 = (torch.cuda.Event() for _ in range(3))
    with mark("prefill"):
        spin(a, 1); e.record(a); spin(a, .05)
        others()
        e.synchronize()
        until = time.perf_counter() + 3e-4
        while time.perf_counter() < until: pass
        cosine()
        b.synchronize()
        spin(a, 1); e2.record(a); spin(a, .01)
        m.wait_event(e2); e3.record(m); b.wait_event(e3)
        cosine()
        others()
        b.synchronize()

def decode():
    e = torch.cuda.Event()
    with mark("decode"):
        spin(a, 1); e.record(a); spin(a, .01)
        others()
        b.wait_event(e)
        cosine()
        b.synchronize()

def run():
    for _ in range(3):
        for f in (prefill, decode):
            f(); torch.cuda.synchronize(); time.sleep(.002)

for _ in range(2): prefill(); decode()
torch.cuda.synchronize()
if mode == "nsys":
    torch.cuda.profiler.start(); run(); torch.cuda.profiler.stop()
else:
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=mode == "sync")
    with torch.profiler.profile(experimental_config=config) as p: run()
    p.export_chrome_trace(file)
