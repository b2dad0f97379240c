"""Takes the ranks that Nsight Compute is not to profile out of it. It runs the launches of all its processes one after the other, also
those that it does not profile: a rank whose collective waits for another's keeps that one from launching (2025.3.1, tensor parallelism)."""
import ctypes
import os
import sys

# What Nsight Compute adds to the environment of a process that it follows.
_ADDED = (b"NV_NSIGHT_INJECTION_", b"NV_TPS_", b"NV_COMPUTE_PROFILER_PERFWORKS_DIR", b"NVIDIA_PROCESS_INJECTION_", b"NVIDIA-PROCESS-",
          b"CUDA_INJECTION64_PATH", b"NVTX_INJECTION64_PATH")
_PATHS = (b"LD_PRELOAD", b"LD_LIBRARY_PATH")
_EXECVE = {"x86_64": 59, "aarch64": 221}  # the system call's number


def leave():
    """Starts this Python again outside of Nsight Compute, if it is in it and of a rank that is not to be profiled."""
    folders = _injected() if _is_spared(os.environ) else set()
    if not folders:
        return
    if not sys.executable or os.path.realpath(sys.executable) != os.path.realpath("/proc/self/exe"):
        raise RuntimeError("its program is not Python itself")  # but holds one, and would not be started again
    _exec(_without(os.environb, folders))


def _is_spared(env):
    """Whether this is a process of another rank than prof asked for, by the launcher's variables. PROF_MARK_NCU_RANK counts over the
    job, PROF_MARK_NCU_LOCAL_RANK over this machine. A launcher may have the RANK of its node: without a local rank it is none."""
    for prefix in ("", "OMPI_COMM_WORLD_"):
        mine = {name: env.get(prefix + name, "") for name in ("RANK", "LOCAL_RANK")}
        if mine["LOCAL_RANK"].isdecimal():
            wanted = {name: env.get("PROF_MARK_NCU_" + name, "") for name in mine}
            return any(wanted[name].isdecimal() and mine[name].isdecimal() and int(wanted[name]) != int(mine[name]) for name in mine)
    return False


def _injected():
    """The folders of the libraries that Nsight Compute has put into this process."""
    found = set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            name = os.path.basename(path)
            if name.startswith("lib") and "njection" in name and ".so" in name:
                found.add(os.path.dirname(os.path.realpath("/" + path)))
    return found


def _without(env, folders):
    out = {}
    for name, value in env.items():
        if name in _PATHS:
            value = b":".join(p for p in value.split(b":") if not _is_in(p, folders))
        if (value or name not in _PATHS) and not name.startswith(_ADDED + (b"PROF_MARK_NCU_",)):
            out[name] = value
    return out


def _is_in(path, folders):
    """Whether a path is one of the folders or in one."""
    path = os.path.realpath(os.fsdecode(path))
    return path in folders or os.path.dirname(path) in folders


def _exec(env):
    """Replaces this process. The C library's execve is Nsight Compute's here, so it asks the kernel itself."""
    program = os.fsencode(sys.executable)
    with open("/proc/self/cmdline", "rb") as line:
        arguments = [program] + line.read().split(b"\0")[1:-1]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(_EXECVE[os.uname().machine]), ctypes.c_char_p(program), _strings(arguments), _strings([n + b"=" + v for n, v in env.items()]))
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), sys.executable)


def _strings(some):
    return (ctypes.c_char_p * (len(some) + 1))(*some, None)
