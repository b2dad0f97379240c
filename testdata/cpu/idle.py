import gc
import sys
import threading
import time

import torch

clock = time.perf_counter
spent = {}


def spin(seconds):
    end = clock() + seconds
    while clock() < end:
        pass


def busy_python():
    spin(0.006)


def sleep_here():
    time.sleep(0.006)


def one_long_builtin():
    sum(range(400_000))


def collect_garbage():
    gc.collect()


def read_file():
    with open("/dev/zero", "rb", buffering=0) as f:
        for _ in range(4):
            f.read(8 << 20)


def torch_on_cpu(c):
    return c @ c


def too_short():
    spin(0.0003)


def wait_for_lock(lock):
    with lock:
        pass


def holder(lock, begin, held):
    begin.wait()
    with lock:
        held.set()
        time.sleep(0.006)


def other_thread(stop):
    while not stop.is_set():
        sum(range(50_000))


def launch(x):
    torch.mul(x, 2.0, out=x)


def after(x, function, *args):
    launch(x)
    torch.cuda.synchronize()
    begin = clock()
    function(*args)
    spent.setdefault(function.__name__, []).append(clock() - begin)
    launch(x)
    torch.cuda.synchronize()


def gil(x):
    stop = threading.Event()
    t = threading.Thread(target=other_thread, args=(stop,))
    t.start()
    for _ in range(20):
        launch(x)
    stop.set()
    t.join()


def worker(x, stream):
    with torch.cuda.stream(stream):
        for _ in range(3):
            after(x, busy_python)


def work(x, c, keep):
    for _ in range(5):
        after(x, busy_python)
        after(x, sleep_here)
        after(x, one_long_builtin)
        after(x, collect_garbage)
        after(x, read_file)
        after(x, torch_on_cpu, c)
        after(x, too_short)
        lock, begin, held = threading.Lock(), threading.Event(), threading.Event()
        t = threading.Thread(target=holder, args=(lock, begin, held))
        t.start()
        begin.set()
        held.wait()
        after(x, wait_for_lock, lock)
        t.join()
    gil(x)
    t = threading.Thread(target=worker, args=(torch.ones(1 << 20, device="cuda"), torch.cuda.Stream()))
    t.start()
    t.join()


def main():
    x, c = torch.ones(1 << 20, device="cuda"), torch.randn(600, 600)
    keep = [[i] for i in range(200_000)]
    work(x, c, keep)
    spent.clear()
    torch.cuda.profiler.start()
    begin = clock()
    work(x, c, keep)
    print("work took", clock() - begin, file=sys.stderr)
    torch.cuda.profiler.stop()
    for k, v in spent.items():
        print(k, [round(s * 1e3, 3) for s in v], file=sys.stderr)


main()
