"""CUDA graphs: a graph that holds one decode step of a model is that step whenever it is replayed. While it is captured no kernel
runs, so the call of the model that it holds is no stage."""
from . import calls, ranges, state, times


def wrap(cls):
    """Wraps torch.cuda.CUDAGraph."""
    begin, end, replay = cls.capture_begin, cls.capture_end, cls.replay

    def capture_begin(self, *args, **kwargs):
        times.captures += 1
        try:
            result = begin(self, *args, **kwargs)
        except BaseException:
            times.captures -= 1
            raise
        if state.settings.on:
            state.thread.capturing = []
        return result

    def capture_end(self, *args, **kwargs):
        self._prof_mark_calls, state.thread.capturing = state.thread.capturing, None
        try:
            return end(self, *args, **kwargs)
        finally:
            times.captures = max(0, times.captures - 1)

    def marked(self, *args, **kwargs):
        t = state.thread
        if not state.settings.on or t.depth or t.noted or t.generation is not None:
            return replay(self, *args, **kwargs)
        opened = _enter(t, getattr(self, "_prof_mark_calls", None))
        try:
            return replay(self, *args, **kwargs)
        finally:
            _leave(opened)

    cls.capture_begin, cls.capture_end, cls.replay = capture_begin, capture_end, marked


def _enter(t, held):
    opened = []
    try:
        if held is None or len(held) > 1 or held and not held[0][1]:
            if t.latest is not None:
                t.latest.doubt_steps("a CUDA graph was replayed of which is not known what steps it holds")
        elif held:
            model, _, length = held[0]
            run = t.manual or t.last.get(model)
            if run is not None:
                if run.warmup:
                    opened.append(ranges.open("warmup"))
                opened.append(ranges.open(calls.step_name(run), run))
                run.step()
                if length != 1:
                    run.doubt_steps("a step worked on several tokens")
    except Exception as error:
        state.fail(error)
    return opened


def _leave(opened):
    try:
        ranges.close_all(opened)
    except Exception as error:
        state.fail(error)
