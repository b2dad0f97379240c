"""Arms the helper in a Python process: what is imported later is patched as it is loaded, nothing is imported for it, and at the end
of the process the facts are written.

The end is that of atexit: a normal one, an error, Ctrl-C. SIGTERM would end Python without it, so a handler is set for it when the
first model is loaded, in the workload's first process only, on its main thread, and only where the signal has its default action: it
writes the facts and the trace, and the signal then ends the process as it would have. A process that is killed leaves what the last
prefill wrote."""
import atexit
import os
import signal
import sys
import threading

from . import state

_pending = {}  # modules to patch when they are loaded


class _Finder:
    """Finds what other finders find, and has the modules of _pending patched once they are executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        patch = _pending.get(name)
        if patch is None:
            return None
        del _pending[name]
        try:
            return _patched_after(_find(name, path, target), patch)
        except Exception as error:
            state.fail(error)
            return None


def _find(name, path, target):
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        spec = find(name, path, target) if finder is not _Finder and find is not None else None
        if spec is not None:
            return spec
    return None


def _patched_after(spec, patch):
    loader = getattr(spec, "loader", None)
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return spec

    def exec_module(module):
        execute(module)
        if state.settings.on:
            try:
                patch(module)
            except Exception as error:
                state.fail(error)
    loader.exec_module = exec_module  # of this one loader: the import system makes one for each module
    return spec


def _patch_models(module):
    from . import calls, generation
    cls = module.PreTrainedModel
    calls.wrap(cls)
    generation.wrap(cls)
    inner = cls.__dict__["__init_subclass__"].__get__(None, cls).__func__

    def __init_subclass__(sub, **kwargs):
        inner(sub, **kwargs)
        try:
            generation.wrap(sub)
        except Exception as error:
            state.fail(error)
    cls.__init_subclass__ = classmethod(__init_subclass__)
    _watch_sigterm()


def _patch_cache(module):
    """Static caches are used again after a reset; their length would have to be read from the GPU."""
    cls = module.Cache
    inner = cls.reset

    def reset(self, *args, **kwargs):
        result = inner(self, *args, **kwargs)
        self.__dict__["_prof_mark_reset"] = True
        return result
    cls.reset = reset


def _patch_compiled(module):
    from . import calls
    calls.wrap_compiled(module.OptimizedModule)


def _patch_compiling(module):
    from . import compiling
    compiling.watch(module)


def _patch_torch(module):
    from . import garbage, graphs
    garbage.watch()
    graphs.wrap(module.cuda.graphs.CUDAGraph)
    if state.settings.trace is not None:
        from . import trace
        profiler = module.autograd.profiler
        trace.guard(profiler.profile, [profiler.emit_nvtx, profiler.emit_itt])
        trace.watch_cuda(module.cuda)


def arm():
    """Arms this process, once."""
    settings = state.settings
    if not settings.on or _Finder in sys.meta_path:
        return
    # An inherited id is of a process above; after an exec it is this one.
    state.main = os.environ.get("PROF_MARK_MAIN", str(os.getpid())) == str(os.getpid())
    os.environ.setdefault("PROF_MARK_MAIN", str(os.getpid()))
    for error in settings.errors:
        state.note(error)
    _pending.update({
        "transformers.modeling_utils": _patch_models, "transformers.cache_utils": _patch_cache, "torch": _patch_torch,
        "torch._dynamo.eval_frame": _patch_compiled, "torch._dynamo.callback": _patch_compiling,
    })
    sys.meta_path.insert(0, _Finder)
    atexit.register(finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)


_pid = os.getpid()


def finish():
    """Writes what is known at the end of the process. Never raises."""
    try:
        if "torch" not in sys.modules:
            _finish_without_torch()
            return
        if state.settings.trace is not None:
            from . import trace
            trace.finish()
        from . import record
        record.finish()
    except Exception as error:
        state.say("the facts were not written: %s: %s" % (type(error).__name__, error))


def _finish_without_torch():
    facts = state.settings.facts
    if "prof_mark.record" in sys.modules:
        from . import record, times
        if record.passes or record.said:
            record.finish()
            return
        times.write()
    if state.main and not (facts and os.path.exists(facts)):
        state.say("no stages were marked: the program did not use PyTorch")


def _watch_sigterm():
    if not state.main or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number, frame):
    if os.getpid() == _pid:
        finish()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _forked():
    """Begins anew in a forked child. Its end is not that of atexit where multiprocessing forked it."""
    state.main = False
    state.thread.__init__()
    for name in ("record", "trace", "times", "waiting"):
        module = sys.modules.get("prof_mark." + name)
        if module is not None:
            module.forget()
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is _terminated:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(state, lambda _: util.Finalize(None, finish, exitpriority=-100))
