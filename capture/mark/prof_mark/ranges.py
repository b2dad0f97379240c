"""Ranges on the timeline: NVTX for Nsight Systems, record_function for the PyTorch profiler."""
import torch
from torch.autograd import profiler

from . import times, waiting

_nvtx = getattr(torch._C, "_nvtx", None)  # builds without CUDA have none
_push = getattr(_nvtx, "rangePushA", None)
_pop = getattr(_nvtx, "rangePop", None)


def _is_recording():
    if not profiler._is_profiler_enabled:  # a look-up; entering a record_function costs microseconds also when nobody listens
        return False
    kind = getattr(torch._C._autograd, "_profiler_type", None)  # under emit_nvtx a record_function is an NVTX range once more
    return kind is None or kind() != torch._C._profiler.ActiveProfilerType.NVTX


def begin(name):
    """Opens a range on this thread, of which no time is taken; end takes what it gives."""
    pushed, record = False, None
    try:
        if _push is not None:
            _push(name)
            pushed = True
        if profiler._is_profiler_enabled and _is_recording():
            record = profiler.record_function(name)
            record.__enter__()
    except BaseException:
        if pushed:
            _pop()
        raise
    return pushed, record


def end(begun):
    """Closes a range that begin opened."""
    pushed, record = begun
    try:
        if record is not None:
            record.__exit__(None, None, None)
    finally:
        if pushed:
            _pop()


def open(name, run=None):
    """Opens a range on this thread, of a pass where that is known by now; close takes what it gives. Where prof asks for it, the range ends
    with a mark of how long the thread waited for a CPU."""
    timed = times.open(name, run)
    try:
        ready = waiting.begin()
        return begin(name), timed, ready
    except BaseException:
        times.drop(timed)
        raise


def close(opened):
    """Closes a range. Ranges are closed in the opposite order of their opening."""
    begun, timed, ready = opened
    try:
        waited = waiting.end(ready)
        try:
            if waited is not None:
                end(begin(waited))
        finally:
            end(begun)
    finally:
        times.close(timed)


def close_all(opened):
    """Closes the ranges of a list, the last first, each whatever became of the others, and empties it."""
    error = None
    while opened:
        try:
            close(opened.pop())
        except Exception as e:
            error = e
    if error is not None:
        raise error


def has_nvtx():
    return _push is not None
