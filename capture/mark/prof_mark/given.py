"""The inputs of the workload: those of PROF_INPUTS, and which of them each thread works on.

PROF_INPUTS names a JSON file, which prof capture --inputs writes: {"version": 1, "inputs": [...]}, in the order of work, each as often as
it is to be worked on. An input has id, path, size_bytes and sha256, and where the manifest says them width, height, pages, tokens and
tags.

A pass has the input that is open on its thread when it begins, and only if no other is. It has none where that is not certain: where
two were open at once, where its decode goes on under another, and where a batch began after several were taken in a row."""
import json
import os

from . import state


class Input:
    """One input. What is not known is None; tags are a dict."""
    __slots__ = ("id", "path", "size_bytes", "sha256", "width", "height", "pages", "tokens", "tags")

    def __init__(self, path, id=None, **known):
        for name in self.__slots__:
            setattr(self, name, known.pop(name, None))
        self.path, self.id, self.tags = path, path if id is None else id, self.tags or {}

    def __fspath__(self):
        return os.fspath(self.path)

    def __repr__(self):
        return "Input(%r, id=%r)" % (self.path, self.id)


_file = None  # PROF_INPUTS when it was read
_listed = None  # its inputs
_ids = {}  # the ids of those that each id or path names


def listed():
    """The inputs that prof gives; None outside of a capture that has some."""
    global _file, _listed
    path = os.environ.get("PROF_INPUTS") or None
    if path != _file:
        _listed = _read(path) if path else None
        _file = path
    return _listed


def _read(path):
    with open(path, encoding="utf-8") as f:
        known = json.load(f)
    if known.get("version") != 1:
        raise ValueError("%s has version %r, and this prof_mark reads 1" % (path, known.get("version")))
    out = [Input(**given) for given in known["inputs"]]
    _ids.clear()
    for i in out:
        _ids.setdefault(i.path, set()).add(i.id)
    _ids.update((i.id, {i.id}) for i in out)  # an id goes before a path
    return out


def default(given):
    """Inputs of a program's own: texts and paths become inputs, dicts inputs with these fields, and other things stay what they are."""
    for item in given or ():
        if isinstance(item, (str, os.PathLike)):
            item = Input(os.fspath(item))
        elif isinstance(item, dict):
            known = {name: value for name, value in item.items() if name in Input.__slots__}
            item = Input(known.pop("path", None), **known)
        yield item


def named(name):
    """The id of the input that an id, a path or an Input names. One that is not in the list is noted and kept: the ingest judges it."""
    name = name.id if isinstance(name, Input) else os.fspath(name)
    if not isinstance(name, str):
        raise TypeError("it needs an id or a path, not %r" % (name,))
    if listed() is None:
        return name
    ids = _ids.get(name) or _ids.get(os.path.abspath(name), ())
    if len(ids) == 1:
        return next(iter(ids))
    state.note("prof_mark.input: %s in the manifest: %r" % ("several inputs have this path" if ids else "no such input", name))
    return name


def enter(name, taken=False):
    """Opens an input on this thread; gives what leave has to end. taken says that it was the next of the list."""
    t = state.thread
    name = named(name)
    t.inputs.append(name)
    t.taken = t.taken + 1 if taken else 0
    return t.inputs, name


def leave(token):
    opened, name = token
    if name in opened:
        opened.remove(name)


def current():
    """The only input that is open on this thread; None where there is none, or several."""
    opened = state.thread.inputs
    if not opened or any(name != opened[0] for name in opened):
        return None
    return opened[0]
