"""What the parts of the helper share: what prof asked for, the state of each thread, and the one place where an error ends."""
import os
import sys
import threading


class Settings:
    """What prof asked for, by variables of the environment."""

    def __init__(self, env):
        self.on = env.get("PROF_MARK") == "1"
        self.facts = env.get("PROF_MARK_FACTS") or None
        self.trace = env.get("PROF_MARK_TRACE") or None
        self.times = env.get("PROF_MARK_TIMES") or None
        self.waits = env.get("PROF_MARK_WAITS") == "1"
        self.trace_parts = {name: env.get("PROF_MARK_TRACE_" + name.upper()) == "1" for name in ("stack", "flops", "memory")}
        self.model_dir = env.get("PROF_MARK_MODEL_DIR") or None
        self.errors = []  # variables that make no sense
        self.warmup = self._count(env, "PROF_MARK_WARMUP")
        self.trace_skip = self._count(env, "PROF_MARK_TRACE_SKIP")
        self.trace_passes = self._count(env, "PROF_MARK_TRACE_PASSES")

    def _count(self, env, name):
        try:
            return max(0, int(env.get(name) or 0))
        except ValueError:
            self.errors.append("%s is no number: %r" % (name, env[name]))
            return 0


class Thread(threading.local):
    """State of one thread. NVTX and the profiler keep one stack of ranges a thread, and so does this."""

    def __init__(self):
        self.depth = 0  # calls of models under way, those inside of others included
        self.inside = None  # what the outermost of them is: PREFILL, DECODE or PLAIN
        self.seen = None  # depth, batch and length of the innermost decoder that a prefill has called
        self.noted = 0  # vision parts under way
        self.towers = 0  # vision parts that ran since the last prefill
        self.hooked = []  # vision parts that hooks have entered
        self.generation = None  # the call of generate under way
        self.manual = None  # the pass that prof_mark.stage has begun
        self.last = {}  # the last pass of each model that is called in a bare loop, by id
        self.latest = None  # the last of these
        self.running = None  # the last pass of all that began on this thread
        self.capturing = None  # calls of models in the CUDA graph that is being captured
        self.warm = 0  # prof_mark.warmup under way
        self.inputs = []  # ids of the inputs that are open
        self.taken = 0  # inputs taken in a row from prof_mark.inputs without a pass
        self.names = []  # of the ranges that are open
        self.timed = 0  # those of them whose time is taken
        self.staged = 0  # those of these that are a prefill, a decode or a step


PREFILL, DECODE, PLAIN = "prefill", "decode", "plain"

settings = Settings(os.environ)
thread = Thread()
unrecorded = settings.trace is not None and settings.trace_skip + settings.trace_passes > 0  # the PyTorch profiler records some generations, and none now
main = False  # whether this is the first Python process of the workload
fault = None  # why marking stopped
notes = []  # what a reader of the facts should know
_said = set()


def say(text):
    """Says something on stderr, once."""
    if text in _said:
        return
    _said.add(text)
    try:
        sys.stderr.write("prof_mark: %s\n" % text)
        sys.stderr.flush()
    except Exception:  # no stderr: a daemon has closed it
        pass


def note(text):
    """Says something on stderr and in the facts, once."""
    if text not in notes:
        notes.append(text)
        say(text)


def fail(error):
    """Ends all marking because of an error of the helper. Ranges that are open are closed as their calls return."""
    global fault
    if fault is None:
        fault = told(error)
        settings.on = False
        say("marking stopped; the program continues: " + fault)


def told(error):
    """What an error is, and the line where it arose."""
    where, trace = "", error.__traceback__
    while trace is not None:
        where = "%s:%d" % (os.path.basename(trace.tb_frame.f_code.co_filename), trace.tb_lineno)
        trace = trace.tb_next
    return "%s: %s (%s)" % (type(error).__name__, error, where)


def job():
    """Rank of this process and number of ranks of its job, as PyTorch has them, else as torchrun and others set them; None where there is no job."""
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    rank, world = (os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE"))
    return (int(rank), int(world) if world.isdecimal() else None) if rank.isdecimal() else (None, None)
