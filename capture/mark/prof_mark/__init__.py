"""Marks the stages of a language model's inference for prof, and tells it what a timeline does not hold.

Under `prof capture --auto-stages` models of Hugging Face transformers are marked without a word in the program. Another engine
says itself where its stages are:

    import prof_mark

    prof_mark.model("/models/llama/config.json")       # or the configuration as a dict, or a transformers config
    with prof_mark.warmup():
        engine.step(prompt)
    with prof_mark.stage("prefill", tokens=681, batch=1):
        logits = engine.prefill(prompt)
    with prof_mark.stage("decode", steps=16):
        for k in range(16):
            with prof_mark.stage("decode_step[%d]" % k):
                logits = engine.step(logits)

Outside of prof all of it does nothing and costs next to nothing; PyTorch need not be there. The folder can be copied into a
project, so that the import also works where prof is not installed.

stage(name, tokens=None, steps=None, batch=None, images=None, crops=None)
    A range of that name on this thread, as a context manager or a decorator. `prefill` begins a pass: tokens are those of each
    prompt, those of images included, batch the sequences, images and crops those of each prompt. `decode` belongs to the pass
    before it on this thread: steps are its forward passes, the token that the prefill yields not counted. Any other name is a
    range and nothing more; `sam`, `clip`, `projector` and `vision` are read as vision parts, `decode_step[3]` as a step. Models
    of transformers that run inside of a stage `prefill` or `decode` make no pass of their own; they fill in what the stage
    leaves out. Without PyTorch there are no ranges, and the facts are kept.
warmup()
    What runs inside is warm-up: its time is left out.
model(config, name=None)
    The configuration of the model, in place of the one that is found: a dict, an object with to_dict(), or the path of a
    config.json or its folder.
facts(model=None, batch=None, images=None, crops=None)
    What holds for every pass that does not say otherwise.
inputs(default=())
    Iterates over the inputs that `prof capture --inputs` gives, objects with id, path, width, height, pages, tokens (None where not
    known) and tags; open() takes them for their path. What runs between two steps of the iteration belongs to the input of the first:

        for item in prof_mark.inputs(default=["page.png"]):
            model.generate(**processor(Image.open(item.path)))

    Without such inputs it gives the default: texts and paths as inputs, dicts as inputs with these fields, other things as they are.
    Nothing but an error in reading PROF_INPUTS, the file with the inputs, raises: the program would work on something else.
input(name)
    What runs inside belongs to the input with this id or path, as a context manager: where a program does not go through inputs()
    step by step, as one that reads ahead or serves several at a time.

Any other mistake in an argument never raises: it is said on stderr and in the facts.

Variables of the environment, set by prof:

    PROF_INPUTS            the inputs (prof_mark/given.py); set without PROF_MARK too
    PROF_MARK=1            mark stages
    PROF_MARK_FACTS        where to write the facts (workload.json)
    PROF_MARK_TRACE        hold PyTorch's profiler and write its Chrome trace there, packed where the name ends in .gz; of a job's rank N to NAME-rankN.json
    PROF_MARK_TIMES        time stages, and write the times to this path with the process id behind it (prof_mark/times.py)
    PROF_MARK_WAITS=1      mark how long stages waited for a CPU (prof_mark/waiting.py)
    PROF_MARK_TRACE_STACK  1: with the Python stack of each operator; so _FLOPS, estimates of operations, and _MEMORY, allocations
    PROF_MARK_TRACE_SKIP   generations after warm-up that the profiler does not record; _PASSES: how many it then records (default: all)
    PROF_MARK_WARMUP       the first so many generations are warm-up: in a range `warmup`, and before the profiler starts
    PROF_MARK_MODEL_DIR    where a copy of the model's config.json goes
    PROF_MARK_MAIN         process id of the workload's first Python process; the helper sets it itself

How models of transformers are marked, what is known of them and what is not: prof_mark/calls.py and prof_mark/generation.py; which
process writes which file: prof_mark/record.py; when the profiler starts: prof_mark/trace.py.
"""
import contextlib

from . import state

__all__ = ["stage", "warmup", "model", "facts", "inputs", "input"]


@contextlib.contextmanager
def stage(name, tokens=None, steps=None, batch=None, images=None, crops=None):
    if not state.settings.on:
        yield
        return
    token = _manual("enter", name, {"tokens": tokens, "steps": steps, "batch": batch, "images": images, "crops": crops})
    try:
        yield
    finally:
        if token is not None:
            _manual("leave", token)


@contextlib.contextmanager
def warmup():
    if not state.settings.on:
        yield
        return
    token = _manual("enter_warmup")
    try:
        yield
    finally:
        if token is not None:
            _manual("leave_warmup", token)


def model(config, name=None):
    if state.settings.on:
        _manual("set_model", config, name)


def facts(**said):
    if state.settings.on:
        _manual("set_facts", said)


def inputs(default=()):
    from . import given
    known = given.listed()
    for item in given.default(default) if known is None else known:
        if known is None or not state.settings.on:
            yield item
            continue
        token = _given("enter", item, True)
        try:
            yield item
        finally:
            if token is not None:
                _given("leave", token)


@contextlib.contextmanager
def input(name):
    if not state.settings.on:
        yield
        return
    token = _given("enter", name)
    try:
        yield
    finally:
        if token is not None:
            _given("leave", token)


def _manual(name, *args):
    try:
        from . import manual
        return getattr(manual, name)(*args)
    except Exception as error:
        state.fail(error)


def _given(name, *args):
    try:
        from . import given
        return getattr(given, name)(*args)
    except (TypeError, ValueError, OSError) as error:
        state.note("prof_mark.input: %s" % error)
    except Exception as error:
        state.fail(error)
