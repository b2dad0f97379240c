"""Python runs this file when it starts, since its folder comes first on PYTHONPATH: it starts the rank that is to be profiled
under Nsight Compute, arms prof_mark, then gives way to the sitecustomize that the environment would have had without it."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _is_profiler():
    """Whether this Python is a part of Nsight Compute, which runs its rules in one and gets the workload's environment."""
    try:
        path = os.readlink("/proc/self/exe")
    except OSError:
        return False
    return os.path.basename(path) == "ncu" or "/nsight-compute/" in path


def _start_ncu():
    if "PROF_MARK_NCU" not in os.environ or _is_profiler():
        return
    try:
        from prof_mark import ncu
        ncu.start()
    except Exception as error:  # the rank runs on
        sys.stderr.write("prof_mark: this rank does not run under Nsight Compute: %s: %s\n" % (type(error).__name__, error))


def _arm():
    if os.environ.get("PROF_MARK") != "1" or _is_profiler():
        return
    try:
        from prof_mark import install
        install.arm()
    except Exception as error:  # a Python that cannot run the helper still runs the program
        sys.stderr.write("prof_mark: stages are not marked: %s: %s\n" % (type(error).__name__, error))


def _give_way():
    # The mark on sys ends a circle: another tool's sitecustomize may look for the next one as this does, and find this one.
    if getattr(sys, "_prof_mark_gave_way", False):
        return
    sys._prof_mark_gave_way = True
    from importlib import util
    from importlib.machinery import PathFinder
    others = [p for p in sys.path if os.path.abspath(p or os.getcwd()) != _here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)  # its errors are its own: Python reports them as it would without prof


_start_ncu()
_arm()
_give_way()
