"""What prof_mark.stage, warmup, model and facts do when prof listens."""
import json
import os
import sys

from . import modelinfo, record, state, times, trace

_MOST = 2 ** 31


def enter(name, said):
    """Enters a stage; gives what leave has to end."""
    t = state.thread
    before, opened = t.manual, []
    said = {k: n for k, n in ((k, _count(k, v)) for k, v in said.items()) if n is not None}
    warm = record.is_warmup()
    kind = name if name in ("prefill", "decode") else None
    begins = kind == "prefill" or kind == "decode" and t.last.get(None) is None
    if not warm:
        trace.measure(coming=begins)
    if begins:
        record.count_generation(not warm)
    if kind == "prefill":
        t.manual = t.latest = t.last[None] = record.begin(None, warm)
        _tell(t.manual, said)
    elif kind == "decode":
        run = t.last.get(None)
        if run is None:
            run = t.last[None] = t.latest = record.begin(None, warm)
            run.doubt_prefill("its prefill was not seen")
        t.manual = run
        run.goes_on()
        warm = run.warmup
        if "steps" in said:
            run.new_tokens, run.is_said = said.pop("steps"), True
        _tell(run, said)
    try:
        if warm and kind and not t.warm:
            opened.append(_open("warmup"))
        opened.append(_open(str(name), t.manual if kind else None))
    except Exception as error:
        state.fail(error)
    return t, before, opened, kind


def leave(token):
    t, before, opened, kind = token
    t.manual = before
    _close_all(opened)
    if kind is not None:
        record.beat()


def _tell(run, said):
    run.prefill_len = said.get("tokens", run.prefill_len)
    for name in ("batch", "images", "crops"):
        if name in said:
            setattr(run, name, said[name])
    if "tokens" in said:
        run.why, run.is_said = None, True


def enter_warmup():
    t = state.thread
    opened = [_open("warmup")]
    t.warm += 1
    return t, opened


def leave_warmup(token):
    t, opened = token
    t.warm -= 1
    _close_all(opened)


def set_model(config, name):
    if isinstance(config, (str, os.PathLike)):
        path = os.path.join(config, "config.json") if os.path.isdir(config) else config
        try:
            with open(path) as f:
                content = json.load(f)
        except (OSError, ValueError) as error:
            state.note("prof_mark.model: %s" % error)
            return
        name = name or os.path.basename(os.path.dirname(os.path.abspath(path)))
    else:
        content = config
    if not isinstance(content, dict) and not hasattr(content, "to_dict"):
        state.note("prof_mark.model: a configuration must be a dict, a path or have to_dict, not %s" % type(content).__name__)
        return
    content = modelinfo.as_dict(content)
    modelinfo.give(name or content.get("_name_or_path") or content.get("model_type"), content)


def set_facts(said):
    for name, value in said.items():
        if name == "model":
            record.said[name] = str(value)
        elif name in ("batch", "images", "crops"):
            value = _count(name, value)
            if value is not None:
                record.said[name] = value
        else:
            state.note("prof_mark.facts: unknown fact %r" % name)


def _count(name, value):
    """A count as the facts hold it; None where it is none, which is said."""
    try:
        number = None if value is None else int(value)
        if number is None or number == value and (1 if name == "batch" else 0) <= number <= _MOST:
            return number
    except (TypeError, ValueError):
        pass
    state.note("prof_mark.stage: %s is not a count: %r" % (name, value))
    return None


def _open(name, run=None):
    """Opens a range; without PyTorch only its time is taken."""
    if "torch" not in sys.modules:
        return False, None, times.open(name, run)
    from . import ranges
    return ranges.open(name, run)


def _close_all(opened):
    if "torch" in sys.modules:
        from . import ranges
        ranges.close_all(opened)
    while opened:
        times.close(opened.pop()[2])
