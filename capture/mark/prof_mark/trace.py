"""PyTorch's profiler, held around what is measured: PROF_MARK_TRACE.

It starts before the first pass that is no warm-up: a generate, a prefill, a vision part or a stage of prof_mark. In a program that has
not loaded transformers' models when it first uses a GPU it starts there, since no pass may ever be seen in it. It ends at the end of
the process, which writes the Chrome trace: each rank of a job its own, whose name has the rank, NAME-rankN.json. Where another process has
written that trace already, the name has the process id, as with the facts.

PROF_MARK_TRACE_SKIP and PROF_MARK_TRACE_PASSES make it a window: it starts with the generation after so many that are no warm-up, whatever
uses a GPU before, and stops and writes the trace after so many: at the end of a generate, elsewhere when the next generation begins. The facts
then list the passes of these generations alone.

It records the operators of all threads, and ends on any of them. With PROF_MARK_TRACE_MEMORY it records the operators and the allocations of the
main thread, on which it then must start and end: PyTorch's allocators report to the profiler of their own thread, so that one of all threads gets no
allocations (github.com/pytorch/pytorch/issues/166121; so it is in 2.11).

A program with a profiler of its own keeps it: ours does not start beside it, and stops, its trace dropped, when that one starts."""
import os
import re
import sys
import threading
import warnings

from . import files, record, state

_waiting = state.settings.trace is not None
_profile = None
_lock = threading.Lock()


def measure(coming=True):
    """Starts the profiler unless that was done: work that is no warm-up begins, of the generation that is about to, or, where coming is
    false, of the one under way."""
    global _waiting
    if coming:
        stop_when_done()
    if not _waiting or (record.measured < state.settings.trace_skip if coming else state.settings.trace_skip > 0):
        return
    with _lock:
        if not _waiting:
            return
        _waiting = False
        try:
            _start()
        except Exception as error:
            state.note("PyTorch's profiler did not start: %s: %s" % (type(error).__name__, error))


def _start():
    global _profile
    import torch
    from torch import profiler
    if torch.autograd.profiler._is_profiler_enabled:
        state.note("the program runs PyTorch's profiler itself, so prof did not start its own")
        return
    kinds = [profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        kinds.append(profiler.ProfilerActivity.CUDA)
    parts = state.settings.trace_parts
    memory = parts["memory"] and threading.current_thread() is threading.main_thread()
    if parts["memory"] and not memory:
        state.note("allocations were not recorded: PyTorch can do so on the main thread only, and the first measured pass ran on another")
    options = {"activities": kinds, "record_shapes": True, "profile_memory": memory, "with_flops": parts["flops"],
               "with_stack": parts["stack"]}
    if not memory:
        try:
            options["experimental_config"] = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        except (AttributeError, TypeError):
            pass
    if state.settings.trace_skip and torch.cuda.is_initialized():
        torch.cuda.synchronize()  # what the generation before launched is not of this window
    held = profiler.profile(**options)
    with warnings.catch_warnings():  # that other cycles than this one are lost: there are none
        warnings.simplefilter("ignore")
        held.start()
    _profile, state.unrecorded = held, False


def stop_when_done():
    """Stops the profiler and writes its trace where it has recorded as many generations as it should."""
    global _profile
    most = state.settings.trace_passes
    if _profile is None or not most or record.measured - state.settings.trace_skip < most:
        return
    with _lock:
        held, _profile = _profile, None
        if held is not None:
            state.unrecorded = True
            record.doubt_open("the PyTorch profiler stopped while it ran")
            _stop(held)


def guard(profile, emitters):
    """Gives way to a profiler of the program: only one can be at work, and the second to start would raise an error."""
    prepare = profile._prepare_trace

    def _prepare_trace(self, *args, **kwargs):
        held = _profile
        if held is not None and self is not held.profiler:
            _give_way()
        return prepare(self, *args, **kwargs)
    profile._prepare_trace = _prepare_trace
    for cls in emitters:
        cls.__enter__ = _guarded(cls.__enter__)


def _guarded(enter):
    def __enter__(self):
        if _profile is not None:
            _give_way()
        return enter(self)
    return __enter__


def _give_way():
    global _profile
    held, _profile = _profile, None
    state.note("the program started PyTorch's profiler itself, so prof stopped its own and dropped the trace")
    try:
        held.stop()
    except Exception as error:
        state.note("PyTorch's profiler did not stop: %s: %s" % (type(error).__name__, error))


def watch_cuda(cuda):
    """Starts the profiler at the first use of a GPU by a program without transformers."""
    if not _waiting:
        return
    first = cuda._lazy_init

    def _lazy_init():
        first()
        if not getattr(cuda, "_initialized", True):
            return
        cuda._lazy_init = first
        if "transformers.modeling_utils" not in sys.modules and not state.unrecorded:
            measure()
    cuda._lazy_init = _lazy_init


def finish():
    """Stops the profiler and writes what it has."""
    global _profile, _waiting
    held, _profile = _profile, None
    skip, most, ran = state.settings.trace_skip, state.settings.trace_passes, record.measured
    if held is None:
        if _waiting and "torch" in sys.modules and state.main and not _has_trace():
            why = "there was no pass after warm-up; call prof_mark.stage in the program" if ran == 0 else "%d were to be skipped, and %d ran after warm-up" % (skip, ran)
            state.note("PyTorch's profiler did not start: " + why)
        _waiting = False
        return
    if ran - skip < most:
        state.note("PyTorch's profiler recorded %d generations, not %d: the program ended" % (ran - skip, most))
    _stop(held)


def _stop(held):
    try:
        held.stop()
        _write(held)
    except Exception as error:
        state.note("PyTorch's profiler left no trace: %s: %s" % (type(error).__name__, error))


def _has_trace():
    """Whether this process or another, such as a rank, has written one."""
    folder, name = os.path.split(state.settings.trace)
    stem, dot, rest = name.partition(".")
    own = re.compile(r"%s(-rank\d+)?(-\d+)?%s$" % (re.escape(stem), re.escape(dot + rest)))
    try:
        return any(own.match(n) for n in os.listdir(folder or "."))
    except OSError:
        return False


def _path():
    rank = os.environ.get("RANK", "")
    if not rank.isdecimal():
        return state.settings.trace
    return record.named(state.settings.trace, "rank%d" % int(rank))


def _write(held):
    path = _path()
    packed = ".gz" if path.endswith(".gz") else ""
    hidden = "%s.%d.tmp%s" % (path, os.getpid(), packed)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    held.export_chrome_trace(hidden)
    os.chmod(hidden, os.stat(hidden).st_mode & files.rights(path))
    if os.path.exists(path):
        path = record.beside(path)
    os.replace(hidden, path)


def forget():
    """In a forked child the profiler is the parent's."""
    global _profile, _waiting
    _profile, _waiting = None, False
