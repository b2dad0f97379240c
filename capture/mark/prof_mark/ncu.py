"""Starts the rank of a job that is to be profiled under Nsight Compute; the others run without it. Over a whole job it runs the launches of all
processes one after the other: a rank whose collective waits for another's keeps that one from launching. And in a process that it did not start
itself, each launch of a chosen kernel takes 0.1 s (2025.3.1)."""
import json
import os
import sys


def start():
    """Starts this Python again under Nsight Compute, if it is of the rank that is to be profiled."""
    if not _is_chosen(os.environ):
        return
    command = json.loads(os.environ["PROF_MARK_NCU"])
    if not sys.executable or os.path.realpath(sys.executable) != os.path.realpath("/proc/self/exe"):
        raise RuntimeError("its program is not Python itself")  # but holds one, and would not be started again
    with open("/proc/self/cmdline", "rb") as line:
        arguments = line.read().split(b"\0")[1:-1]
    env = {name: value for name, value in os.environb.items() if not name.startswith(b"PROF_MARK_NCU")}  # its children are profiled with it
    os.execve(command[0], [os.fsencode(a) for a in command] + [os.fsencode(sys.executable)] + arguments, env)


def _is_chosen(env):
    """Whether this is a process of the rank that prof asked for, by the launcher's variables. PROF_MARK_NCU_RANK counts over the job,
    PROF_MARK_NCU_LOCAL_RANK over this machine. A launcher may have the RANK of its node: without a local rank it is none."""
    for prefix in ("", "OMPI_COMM_WORLD_"):
        mine = {name: env.get(prefix + name, "") for name in ("RANK", "LOCAL_RANK")}
        if mine["LOCAL_RANK"].isdecimal():
            wanted = {name: env.get("PROF_MARK_NCU_" + name, "") for name in mine}
            return any(wanted[name].isdecimal() and mine[name].isdecimal() and int(wanted[name]) == int(mine[name]) for name in mine)
    return False
