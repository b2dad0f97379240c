"""Marks of how long a thread waited for a CPU: at the end of each stage in which that was 50 us or longer, an empty range in the stage whose name
has the figures, as `CPU wait[ns=8120345, wall=10230111, run=2034122, others=0, preempted=3, blocked=1, cpus=1, limit=, throttled=, threads=9, runnable=5]`:

    ns         time that the thread was ready to run and no CPU ran it, by Linux (/proc/thread-self/schedstat), which counts the time in which the
               thread's control group had used up its share of CPU time too
    wall, run  time of the stage, and of it on a CPU
    others     CPU time that the other threads of the process used meanwhile
    preempted, blocked
               how often the thread lost its CPU while it was ready to run, and gave it up to wait
    cpus       CPUs that the thread may run on
    limit      CPUs, in thousandths, that its control groups may use; empty without a limit
    throttled  time in which the group of that limit was stopped for it, the CPUs added up, since the stage began
    threads    threads of the process
    runnable   threads of the whole machine that ran or were ready to run when the stage ended

Times are in nanoseconds. Linux without schedstat (CONFIG_SCHED_INFO), and what only looks like Linux, give no marks, which is noted once."""
import os
import resource
import threading
import time

from . import state

_TIMES = "/proc/thread-self/schedstat"
_LEAST = 50_000  # ns

_local = threading.local()
_group = None  # the control group with the least limit: CPUs in thousandths, its cpu.stat and what a nanosecond is there; () for none


class _Stat:
    """The counters of one thread, which stay open: to open a file of /proc takes longer than to read it."""

    fd = -1

    def __init__(self):
        self.fd = os.open(_TIMES, os.O_RDONLY | os.O_CLOEXEC)

    def read(self):
        """Time that the thread was ready to run so far, in ns. The time that it ran is not read here: it lags behind by up to a tick."""
        return int(os.pread(self.fd, 64, 0).split()[1])

    def __del__(self):
        if self.fd >= 0:
            os.close(self.fd)


def begin():
    """What end needs to work out what happened since; None where that cannot be known."""
    return _kept(_begin)


def end(began):
    """The name of the mark; None where the thread waited less than 50 us."""
    return _kept(_end, began) if began is not None else None


def _kept(ask, *given):
    """What a function gives. An error, as of a /proc that has less than Linux's, ends the marks of waits and no others."""
    if not state.settings.waits:
        return None
    try:
        return ask(*given)
    except Exception as error:
        state.settings.waits = False
        state.note("how long stages waited for a CPU is no longer marked: " + state.told(error))
        return None


def _begin():
    stat = getattr(_local, "stat", None)
    if stat is None:
        stat = _local.stat = _Stat()
    wall, usage = time.perf_counter_ns(), resource.getrusage(resource.RUSAGE_THREAD)
    return stat.read(), wall, time.thread_time_ns(), time.process_time_ns(), usage.ru_nivcsw, usage.ru_nvcsw, _throttled()


def _end(began):
    waited, wall, ran, spent, preempted, blocked, throttled = began
    wait = _local.stat.read()
    if wait - waited < _LEAST:
        return None
    run, usage = time.thread_time_ns() - ran, resource.getrusage(resource.RUSAGE_THREAD)
    figures = {
        "ns": wait - waited, "wall": time.perf_counter_ns() - wall, "run": run, "others": max(0, time.process_time_ns() - spent - run), "preempted": usage.ru_nivcsw - preempted,
        "blocked": usage.ru_nvcsw - blocked, "cpus": len(os.sched_getaffinity(0)), "limit": _group[0] if _group else "", "throttled": _throttled() - throttled if _group else "",
        "threads": _read("/proc/self/stat").rpartition(")")[2].split()[17], "runnable": _read("/proc/loadavg").split()[3].partition("/")[0],
    }
    return "CPU wait[%s]" % ", ".join("%s=%s" % f for f in figures.items())


def _throttled():
    """Time in ns that the control group was stopped so far; None without a limit, as reading it takes long."""
    global _group
    if _group is None:
        _group = _limited()
    if not _group:
        return None
    _, path, name, unit = _group
    for line in _text(path).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * unit
    return 0


def _limited():
    """The group of this process, or one above it, with the least limit."""
    found = []
    for line in _text("/proc/self/cgroup").splitlines():
        number, kinds, path = line.split(":", 2)
        if number != "0" and "cpu" not in kinds.split(","):
            continue
        root = "/sys/fs/cgroup" if number == "0" else "/sys/fs/cgroup/" + kinds
        while True:
            folder = root + path.rstrip("/")
            if number == "0":
                quota, period = (_text(folder + "/cpu.max") or "max 1").split()
            else:
                quota, period = (_text(folder + "/cpu.cfs_%s_us" % of).strip() or "-1" for of in ("quota", "period"))
            if quota.isdecimal() and int(quota) > 0:
                found.append((int(quota) * 1000 // int(period), folder + "/cpu.stat", *(("throttled_usec ", 1000) if number == "0" else ("throttled_time ", 1))))
            if path in ("", "/"):
                break
            path = os.path.dirname(path)
    return min(found, default=())


def _text(path):
    """A file of control groups, which not every system has."""
    try:
        return _read(path)
    except OSError:
        return ""


def _read(path):
    with open(path) as f:
        return f.read()


def forget():
    """Begins anew in a forked child, which is another thread."""
    global _local
    _local = threading.local()
