"""Vision parts of a model: image encoders and what projects their features to the width of the language model. The outermost is
marked, by the names that prof reads as notes inside of a prefill: sam, clip, projector, vision.

Parts are known by their class or by the attribute that holds them. A class is wrapped in its __call__; only where it is one of
PyTorch's own, as a projector that is a plain Linear, hooks are set on the one module."""
import re
import weakref

import torch

from . import ranges, state

_CLASSES = [
    ("sam", re.compile(r"^(Sam(HQ|2|3)?(Vision|Image|Hiera)\w*|ImageEncoderViT)$", re.I)),
    ("clip", re.compile(r"^(Chinese|Alt)?CLIPVision(Model\w*|Transformer|Tower)$", re.I)),
    ("projector", re.compile(r"^\w*(MultiModal|MLP|Mlp|Vision|Image)Projector$")),
    ("vision", re.compile(r"^\w*(Vision|Visual)(Model|Transformer|Encoder|Tower|Backbone)\w*$")),
]
_ATTRIBUTES = {
    "sam": {"sam", "sam_model", "sam_encoder", "vision_sam"},
    "clip": {"clip", "clip_model", "clip_vision_model"},
    "projector": {"projector", "multi_modal_projector", "mm_projector", "vision_projector", "image_projector", "modality_projection",
                  "aligner"},
    "vision": {"vision_tower", "vision_model", "vision_encoder", "visual", "siglip", "image_encoder", "image_tower",
               "vision_backbone"},
}
_BY_ATTRIBUTE = {a: note for note, names in _ATTRIBUTES.items() for a in names}
# Whole models that are called as their vision part is, and heads upon one.
_NOT = re.compile(r"(For[A-Z]\w*|Output|Embeddings|Layer|Block|Attention|Config)$|EncoderDecoder")

_notes = {}  # class -> note or None
_wrapped = set()
_searched = weakref.WeakSet()


def note_of(cls):
    try:
        return _notes[cls]
    except KeyError:
        return _notes.setdefault(cls, _by_class(cls.__name__))


def _by_class(name):
    if _NOT.search(name):
        return None
    return next((note for note, pattern in _CLASSES if pattern.match(name)), None)


def search(model, pretrained):
    """Finds the vision parts of a model, when it begins its first prefill. Lists of layers hold none."""
    if model in _searched:
        return
    _searched.add(model)
    _walk(model, pretrained, 5)


def _walk(holder, pretrained, depth):
    for attribute, module in holder.named_children():
        if isinstance(module, torch.nn.ModuleList):
            continue
        note = _note(holder, attribute, module)
        if note is not None:
            _mark(module, note, pretrained)
        elif depth > 1:
            _walk(module, pretrained, depth - 1)


def _note(holder, attribute, module):
    note = _BY_ATTRIBUTE.get(attribute)
    if attribute == "vision_model" and hasattr(holder, "sam_model"):
        return "clip"  # DeepSeek-OCR: both encoders see each image, one after the other
    if note in (None, "vision"):  # the class says more
        return _by_class(type(module).__name__) or note
    return note


def _mark(module, note, pretrained):
    cls = type(module)
    if isinstance(module, pretrained):
        _notes[cls] = note
    elif cls.__module__.partition(".")[0] == "torch":
        if not any(isinstance(h, _Enter) for h in module._forward_pre_hooks.values()):
            module.register_forward_pre_hook(_Enter(note))
            module.register_forward_hook(_Leave(), always_call=True)
    elif cls not in _wrapped:
        _wrapped.add(cls)
        _notes[cls] = note
        cls.__call__ = _wrap(cls.__call__, note)


def _wrap(inner, note):
    is_compiling = torch.compiler.is_compiling

    def __call__(self, *args, **kwargs):
        if is_compiling() or not state.settings.on or state.thread.inside == state.DECODE:
            return inner(self, *args, **kwargs)
        return call(state.thread, note, inner, self, args, kwargs)
    return __call__


def call(t, note, inner, module, args, kwargs):
    """Calls a vision part within its range, unless it is inside of another."""
    opened = enter(t, note)
    try:
        return inner(module, *args, **kwargs)
    finally:
        leave(t, opened)


def enter(t, note):
    opened = []
    t.noted += 1
    if t.noted > 1:
        return opened
    try:
        from . import calls
        calls.before_tower(t, opened)
        opened.append(ranges.open(note))
        t.towers += 1
    except Exception as error:
        state.fail(error)
    return opened


def leave(t, opened):
    t.noted -= 1
    if opened:
        try:
            ranges.close_all(opened)
        except Exception as error:
            state.fail(error)


class _Hook:
    """A hook on a module of PyTorch. A module that is saved whole keeps one that does nothing and needs no prof to be read."""

    def __reduce__(self):
        return eval, ("lambda *a: None",)


class _Enter(_Hook):
    def __init__(self, note):
        self.note = note

    def __call__(self, module, args):
        if torch.compiler.is_compiling() or not state.settings.on or state.thread.inside == state.DECODE:
            return
        t = state.thread
        t.hooked.append((id(module), enter(t, self.note)))


class _Leave(_Hook):
    def __call__(self, module, args, result):
        if torch.compiler.is_compiling():
            return
        t = state.thread
        if t.hooked and t.hooked[-1][0] == id(module):
            leave(t, t.hooked.pop()[1])


def unwind(t, count):
    """Leaves parts whose hooks were not called: PyTorch calls none when a KeyboardInterrupt ends a forward."""
    while len(t.hooked) > count:
        leave(t, t.hooked.pop()[1])
