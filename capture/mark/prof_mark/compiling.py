"""Ranges around what torch.compile does to get code, by the name `torch.compile`: tracing, compiling, tuning."""
from . import ranges, state

_open = []  # of the compilation under way; PyTorch calls back for the outermost alone


def watch(module):
    """Marks compilations from now on. module is torch._dynamo.callback; torch._dynamo.reset ends it."""
    module.callback_handler.register_start_callback(_start)
    module.callback_handler.register_end_callback(_end)


def _start(*_):
    try:
        if state.settings.on:
            _open.append(ranges.begin("torch.compile"))
    except Exception as error:
        state.fail(error)


def _end(*_):
    try:
        if _open:
            ranges.end(_open.pop())
    except Exception as error:
        state.fail(error)
