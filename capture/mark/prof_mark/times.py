"""How long stages take, by clocks of this process and without a profiler: PROF_MARK_TIMES.

Two clocks are read around each range that may be a stage, before it is opened and after it is closed:

    cpu  the host's. For work that PyTorch launches and does not wait for this is the time to launch it.
    gpu  CUDA events on the current stream of each GPU that the process uses, the longest of them: from the opening of the range, or the
         end of what was queued on the stream before it, to the end of what the range queued. The stream is not waited for. Work on other
         streams counts where the current one waits for it. There is none where PyTorch uses no GPU, and while a CUDA graph is captured,
         where events would become a part of the graph.

Beside the times of all but single steps, which the reading would slow, stands the memory that PyTorch's allocator had given out and reserved on each of these GPUs before and after, and its peaks. The
peaks are not reset, since the program may read them: they are those since its start, or since the program reset them. Where one is higher after
a range than before, the range reached it; else it is only known that the range did not exceed it.

Timed are prefill, decode and steps that lie in no decode, and of other ranges the outermost.

Events are read when they are through, between stages and at the end of the process. Each process writes PATH-PID.json, whole, by a
rename, as often as the facts: `paths` are the names of the ranges around and of the range itself, `executions` rows of the path's
place in them, cpu and gpu in nanoseconds, sequences, tokens of each prompt or decoded of each sequence, 1 for warm-up, and where it is
known the place of the input in `inputs`, in the order in which they began. `memory` are rows of the place in executions, GPU as PyTorch counts, and in bytes allocated
before and after, peak of allocated before and after, and the same of reserved. The first 150,000 executions are kept; left_out says how many are not."""
import collections
import itertools
import json
import os
import sys
import threading
import time

from . import files, given, state

_MOST = 150_000
_UNREAD = 256  # events are read when so many ranges wait for it
_PATIENCE = 2.0  # seconds that the end of the process waits for the GPU

captures = 0  # CUDA graphs that are being captured: asking for an event would end that

_taken = []
_left_out = 0
_unread = collections.deque()  # executions whose events are not read
_spare = {}  # events to use again, by GPU
_broken = False  # events cannot be used
_blind = False  # the allocator does not tell its memory
_parents = []  # events of the process above: destroying them here would use its GPU
_lock = threading.RLock()


class Execution:
    """One execution of a range."""
    __slots__ = ("path", "kind", "run", "begun", "events", "cpu_ns", "gpu_ns", "batch", "tokens", "warm", "memory", "input")

    def row(self, places, inputs):
        place = places.setdefault(self.path, len(places))
        row = [place, self.cpu_ns, self.gpu_ns, self.batch, self.tokens, int(self.warm)]
        return row if self.input is None else row + [inputs.setdefault(self.input, len(inputs))]


def open(name, run=None):
    """Begins a range of this thread; close takes what it gives."""
    if state.settings.times is None:
        return None
    t = state.thread
    t.names.append(name)
    kind = _kind(name)
    if name == "warmup" or name.startswith("generate[") or t.staged or t.timed and kind is None:
        return t, None
    e = Execution()
    e.path, e.kind, e.run, e.gpu_ns, e.batch, e.tokens, e.input = tuple(t.names), kind, run, None, None, None, given.current()
    t.timed += 1
    t.staged += kind is not None
    e.memory = _memory(t) if kind != "step" and len(_taken) < _MOST else {}
    e.events = _record(t) if len(_taken) < _MOST else None
    e.begun = time.perf_counter_ns()
    return t, e


def _kind(name):
    if name in ("prefill", "decode"):
        return name
    return "step" if name.startswith("decode_step") else None


def close(token):
    """Ends a range."""
    if token is None:
        return
    now = time.perf_counter_ns()
    t, e = token
    if e is None:
        t.names.pop()
        return
    begun, e.events = e.events, None
    ended = _record(t, [at for at, _ in begun]) if begun else []
    drop(token)
    after = _memory(t) if e.memory else {}
    e.memory = [[at] + [n for pair in zip(before, after[at]) for n in pair] for at, before in e.memory.items() if at in after]
    e.cpu_ns = now - e.begun
    e.run = e.run or t.running
    e.warm = "warmup" in e.path or e.kind is not None and e.run is not None and e.run.warmup
    if e.kind is not None and e.run is not None:
        e.batch = e.run.batch
        e.tokens = {"prefill": e.run.prefill_len, "decode": e.run.new_tokens}.get(e.kind, 1)
        e.input = e.run.known_input()
    e.run = None
    _keep(e, begun, ended)


def drop(token):
    """Ends a range that did not happen."""
    if token is None:
        return
    t, e = token
    t.names.pop()
    if e is not None:
        t.timed -= 1
        t.staged -= e.kind is not None


def _keep(e, begun, ended):
    global _left_out
    with _lock:
        if len(_taken) >= _MOST:
            _left_out += 1
            return
        _taken.append(e)
        if begun and len(ended) == len(begun):
            e.events = [(at, a, b) for (at, a), (_, b) in zip(begun, ended)]
            _unread.append(e)
            if len(_unread) >= _UNREAD:
                _read()


def _record(t, devices=None):
    """Records an event on the current stream of each GPU that is in use, or of those given; none where that cannot be."""
    torch = sys.modules.get("torch")
    if _broken or captures or torch is None or t.capturing is not None:
        return []
    out = []
    try:
        cuda = torch.cuda
        if not cuda.is_initialized() or cuda.is_current_stream_capturing():
            return []
        for at in _in_use(torch) if devices is None else devices:
            spare = _spare.get(at)
            try:
                event = spare.pop() if spare else cuda.Event(enable_timing=True)
            except IndexError:  # another thread took it
                event = cuda.Event(enable_timing=True)
            event.record(cuda.current_stream(at))
            out.append((at, event))
    except Exception as error:
        _give_up(error)
        return []
    return out


def _memory(t):
    """Bytes that the allocator has given out, at most so far, has reserved and at most so far, of each GPU that is in use; none where it does not tell."""
    global _blind
    torch = sys.modules.get("torch")
    if _blind or captures or torch is None or t.capturing is not None:
        return {}
    try:
        if not torch.cuda.is_initialized():
            return {}
        out = {}
        for at in _in_use(torch):
            stats = torch._C._cuda_memoryStats(at)  # torch.cuda.memory_stats takes several times as long
            out[at] = [stats[of]["all"][which] for of in ("allocated_bytes", "reserved_bytes") for which in ("current", "peak")]
        return out
    except Exception as error:
        _blind = True
        state.note("PyTorch's memory is not known: %s: %s" % (type(error).__name__, error))
        return {}


def _in_use(torch):
    count = torch.cuda.device_count()
    if count == 1:
        return [0]
    has = getattr(torch._C, "_cuda_hasPrimaryContext", None)
    return [at for at in range(count) if has(at)] if has is not None else [torch.cuda.current_device()]


def _read():
    """Reads the events that are through, in the order of their recording, and says whether all were."""
    if captures:
        return not _unread
    try:
        while _unread:
            e = _unread[0]
            if not all(b.query() for _, _, b in e.events):
                return False
            e.gpu_ns = max(round(a.elapsed_time(b) * 1e6) for _, a, b in e.events)
            for at, a, b in e.events:
                _spare.setdefault(at, []).extend((a, b))
            e.events = None
            _unread.popleft()
    except Exception as error:
        _give_up(error)
    return True


def _give_up(error):
    """Does without events from here on; what was read stays. The GPU may have failed, which the program itself will say."""
    global _broken
    _broken = True
    _unread.clear()
    _spare.clear()
    state.note("stages are not timed on the GPU: %s: %s" % (type(error).__name__, error))


def write(final=True):
    """Writes what is known."""
    if state.settings.times is None or not _taken or not _lock.acquire(timeout=5):
        return
    try:
        end = time.monotonic() + _PATIENCE
        while not _read() and final and time.monotonic() < end:
            time.sleep(0.001)
        places, inputs = {}, {}
        known = sorted(itertools.takewhile(lambda e: final or e.events is None, _taken), key=lambda e: e.begun)
        rows = [e.row(places, inputs) for e in known] if state.fault is None else []  # after a fault executions are missing
        memory = [[place] + row for place, e in enumerate(known[:len(rows)]) for row in e.memory]
        doc = {"pid": os.getpid(), "rank": state.job()[0], "left_out": _left_out, "fault": state.fault,
               "paths": [list(p) for p in places], "executions": rows, "memory": memory}
        if inputs:
            doc["inputs"] = list(inputs)
        text = json.dumps(doc, separators=(",", ":"))
        path = "%s-%d.json" % (state.settings.times, os.getpid())
        os.replace(files.aside(path, text.encode() + b"\n"), path)
    finally:
        _lock.release()


def forget():
    """Begins anew in a forked child, which has run nothing yet."""
    global _left_out, _broken, _blind, _lock, captures
    _parents.append((list(_unread), dict(_spare)))
    _taken.clear()
    _unread.clear()
    _spare.clear()
    _left_out, _broken, _blind, _lock, captures = 0, False, False, threading.RLock(), 0
