"""Ranges around Python's garbage collections, by the name that TensorRT-LLM gives them, and their generation: `Python GC[2]`. While
Python collects, no thread of the process can run Python, and so none can launch work."""
import gc

from . import ranges, state

_open = None  # the range of the collection under way; Python runs one at a time


def watch():
    """Marks the collections from now on. Between them it costs nothing."""
    if _mark not in gc.callbacks:
        gc.callbacks.append(_mark)


def _mark(phase, info):
    global _open
    try:
        if phase == "start":
            _open = ranges.begin("Python GC[%d]" % info["generation"]) if state.settings.on else None
        elif _open is not None:
            opened, _open = _open, None
            ranges.end(opened)
    except Exception as error:
        state.fail(error)
