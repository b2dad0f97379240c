"""The passes that ran and the file that tells of them: workload.json, as prof's package ingest/workload reads it.

A pass is a prefill and the decode steps until the next prefill. What is not known for sure is null, and `why` says the reason.

The file is written whole, by a rename: at the end of a prefill and of a generate, at most once a second, so that a process that is killed leaves what
was known, and at the end of the process. The first process that has passes owns the path it was given; other processes that have
some write beside it, workload-PID.json, one each. A process without passes leaves the file to the others; only where there is none
at its end does it write one, with the versions and what went wrong.
"""
import collections
import json
import os
import sys
import threading
import time

from . import files, given, modelinfo, state, times

# Some 70 bytes a pass, and an input of 200 bytes at most: the file stays below the 64 MiB that are read of it. Passes are counted from the last, so the first ones go.
_MOST = 150_000


class Pass:
    """One prefill and the decode steps after it."""
    __slots__ = ("prefill_len", "new_tokens", "batch", "images", "crops", "warmup", "why", "is_said", "is_open", "outputs", "input", "taken")

    def __init__(self, warmup):
        self.prefill_len = self.batch = self.images = self.crops = self.outputs = None
        self.new_tokens = 0
        self.warmup = warmup
        self.why = None
        self.is_said = False  # tokens were said by prof_mark.stage
        self.is_open = True  # its thread may go on with it
        self.input, self.taken = given.current(), state.thread.taken
        state.thread.taken = 0

    def doubt_prefill(self, why):
        self.prefill_len, self.why = None, why

    def doubt_steps(self, why):
        self.new_tokens, self.why = None, why

    def known_input(self):
        """The input that it worked on; None where that is not certain. Of inputs that were taken in a row a batch may have several."""
        return None if self.taken > 1 and self.batch != 1 else self.input

    def goes_on(self):
        """Says that it goes on now: under another input it has none."""
        if self.input is not None and given.current() != self.input:
            self.input = None

    def step(self, count=1):
        self.goes_on()
        if self.new_tokens is not None and not self.is_said:
            self.new_tokens += count

    def to_dict(self, final):
        d = {"prefill_len": self.prefill_len, "new_tokens": self.new_tokens, "batch": self.batch}
        if self.is_open and not self.is_said and not final:
            d.update(new_tokens=None, why="it had not ended when this was written")
        for name in ("input", "outputs", "images", "crops", "warmup", "why"):
            value = self.known_input() if name == "input" else getattr(self, name)
            if value is not None and value is not False:
                d.setdefault(name, value)
        return d


passes = collections.deque(maxlen=_MOST)
said = {}  # by prof_mark.facts
decoding = {}  # settings of generate: the values that each had
begun = 0  # generations begun, warm-up included
measured = 0  # those of them that are no warm-up
skipped = 0  # passes of warm-up after the first measured pass: prof does not count their ranges either
unrecorded = 0  # passes outside of the generations that the PyTorch profiler is to record
_total = 0
_measured = False
_lock = threading.RLock()  # the handler of a signal may come while its own thread writes
_owned = None  # the path that this process writes
_next = 0.0
_cost = 0.0


def is_warmup():
    """Whether a generation that begins now is one to warm up."""
    return state.thread.warm > 0 or begun < state.settings.warmup


def begin(model=None, warmup=None):
    """Begins a pass of a model on this thread. It is one more generation."""
    global _measured, _total, skipped, unrecorded
    warmup = is_warmup() if warmup is None else warmup
    if not warmup:
        _measured = True
    run, t = Pass(warmup), state.thread
    if t.running is not None:
        t.running.is_open = False
    t.running = run
    if warmup and _measured:
        skipped += 1
    elif state.unrecorded and not warmup:
        unrecorded += 1
    else:
        passes.append(run)
        _total += 1
    if model is not None:
        modelinfo.seen(model)
    return run


def count_generation(is_measured=False):
    """Counts a generation that begins, and gives its number, from 0."""
    global begun, measured
    begun += 1
    measured += is_measured
    return begun - 1


def doubt_open(why):
    """Doubts the passes of other threads that are not known to have ended."""
    for run in list(passes):
        if run.is_open and run is not state.thread.running:
            run.doubt_prefill(why)
            run.doubt_steps(why)


def document(final=True):
    """The facts. Before the end of the process, a pass that may go on does not tell its steps."""
    doc = {"model": modelinfo.name()}
    config = modelinfo.config()
    if config is not None:
        doc["config"] = config
    doc.update(said)
    if passes and state.fault is None:  # after a fault passes are missing, and the last one's steps
        doc["runs"] = [p.to_dict(final) for p in list(passes)]
    if decoding:
        doc["decoding"] = dict(decoding)
    doc["marks"] = {k: v for k, v in _marks().items() if v not in (None, []) and (v != 0 or k == "rank")}
    return doc


def _marks():
    def version(name):
        return str(getattr(sys.modules.get(name), "__version__", "")) or None
    torch = sys.modules.get("torch")
    rank, world = state.job()
    return {"pid": os.getpid(), "main": state.main or None, "rank": rank, "world_size": world, "tensor_parallel": modelinfo.parallel(), "python": sys.version.split()[0], "torch": version("torch"),
            "cuda": getattr(getattr(torch, "version", None), "cuda", None), "transformers": version("transformers"),
            "models": modelinfo.names() if len(modelinfo.names()) > 1 else None, "fault": state.fault, "notes": list(state.notes),
            "warmups_left_out": skipped, "passes_left_out": _total - len(passes), "passes_unrecorded": unrecorded}


def beat():
    """Writes what is known, unless that was done a moment ago. Writing takes no more than a twentieth of the time."""
    global _next, _cost
    now = time.monotonic()
    if state.settings.facts is None and state.settings.times is None or now < _next:
        return
    if state.settings.facts is not None:
        write(final=False)
    times.write(final=False)
    _cost = time.monotonic() - now
    _next = now + max(1.0, 20 * _cost)


def finish():
    """Writes what is known at the end of the process."""
    times.write()
    if state.settings.facts is None:
        return
    if passes or said or modelinfo.names():
        write()
    elif state.main and not os.path.exists(state.settings.facts):
        write()


def write(final=True):
    if not _lock.acquire(timeout=5):
        return  # another thread is at it
    try:
        _write(json.dumps(modelinfo.plain(document(final)), allow_nan=False, separators=(",", ":")) + "\n")
    finally:
        _lock.release()


def _write(text):
    global _owned
    if _owned is not None:
        _replace(_owned, text)
        return
    path = state.settings.facts
    if place(path, text.encode(), lambda: not _has_passes(path)):
        _owned = path
    else:
        _owned = beside(path)
        _replace(_owned, text)


def beside(path):
    """The path for this process where another has taken the one that was given: NAME-PID.json, or .json.gz."""
    return named(path, str(os.getpid()))


def named(path, what):
    """The path with something behind its name: NAME-WHAT.json."""
    folder, name = os.path.split(path)
    stem, dot, rest = name.partition(".")
    return os.path.join(folder, "%s-%s%s%s" % (stem, what, dot, rest))


def place(path, text, may_replace):
    """Makes a file with that content where there is none or it may be replaced, and says whether it did: two processes never both do."""
    hidden = files.aside(path, text)
    try:
        os.link(hidden, path)
    except FileExistsError:
        if not may_replace():
            return False
        os.replace(hidden, path)
    except OSError:  # a file system without links
        if os.path.exists(path) and not may_replace():
            return False
        os.replace(hidden, path)
    finally:
        if os.path.exists(hidden):
            os.remove(hidden)
    return True


def _has_passes(path):
    try:
        with open(path) as f:
            return bool(json.load(f).get("runs"))
    except (OSError, ValueError):
        return True


def _replace(path, text):
    os.replace(files.aside(path, text.encode()), path)


def forget():
    """Begins anew in a forked child, which has run nothing yet."""
    global begun, measured, skipped, unrecorded, _total, _measured, _owned, _next, _lock
    passes.clear()
    said.clear()
    decoding.clear()
    begun = measured = skipped = unrecorded = _total = 0
    _measured, _owned, _next, _lock = False, None, 0.0, threading.RLock()
    modelinfo.forget()
