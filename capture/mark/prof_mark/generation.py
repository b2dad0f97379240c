"""Marks of generate. Every generate of a class of PreTrainedModel is wrapped, those that a model defines itself too:

    warmup               where the generation is one to warm up
      generate[i]        generations of the process, from 0
        prefill          the prompt: all forwards of the prefill, chunks of it included, with the vision parts before them
          vision, ...    vision parts; encoder for the encoder of a model of encoder and decoder
        decode           all later forwards
          decode_step[k]

The outermost generate has the range. A generate that a model's own generate calls is the same generation; each such call is a pass
(Whisper generates segment by segment). A generate inside of one that is at work already, as that of an assistant, is not marked:
its work lies in the stage that is open, and the pass says neither tokens nor steps, as with every assisted decoding: a step of it
works on several tokens. batch is that of the forwards: with beams, sequences times beams; outputs are the sequences that generate returns.
The settings of generate are in decoding.py."""
import functools
import inspect

import torch

from . import calls, decoding, ranges, record, roles, state, trace

_WRAPPED = "_prof_mark_wrapped"


class Generation:
    """The outermost call of generate on a thread."""

    def __init__(self, index, warm):
        self.index, self.warm = index, warm
        self.opened = []  # warmup and generate, for as long as it lasts
        self.stage = []  # prefill or decode
        self.model = None  # whose forwards are its stages
        self.base = 0  # calls of transformers' own generate under way
        self.aux = 0  # calls of generate inside of these
        self.prefilling = 0  # calls of transformers' prefill under way
        self.assisted = False
        self.call = {}  # arguments of the call of transformers' own generate
        self.expanded = self.returned = 1  # sequences of a forward, and of the result, for each prompt
        self.next()

    def next(self):
        """Makes the next forward the first of a pass."""
        ranges.close_all(self.stage)
        self.run, self.is_decode = None, False

    def claims(self, model):
        """Whether a call of a model is one of its stages, or is to be left unmarked."""
        return self.base > 0 or self.model is None or self.model is model

    def begin(self, t, call, model, role, args, kwargs):
        if self.aux or self.base and self.model is not model:
            self._begin_other(t, call, model)
            return
        if self.model is None:
            if role.kind is roles.OTHER:
                self._begin_other(t, call, model)
                return
            self.model = model
        shape = roles.shape(args, kwargs, "decoder_" if roles.is_encoder_decoder(model) else "")
        cached = roles.cached(role, args, kwargs)
        if not self.base and self.is_decode and cached == 0 and (shape is None or shape[1] > 1):
            self.next()  # a loop of the model's own, with the next prompt
        if self.is_decode or self.run is not None and not self.prefilling:
            self._begin_step(call, shape)
        else:
            self._begin_prompt(t, call, model, kwargs, shape, cached)

    def _begin_other(self, t, call, model):
        """Another model inside of generate: the encoder before the first forward, otherwise none of its stages."""
        if self.run is None and not self.aux and self.model is not None and roles.is_encoder_decoder(self.model):
            self.before_part(t)
            call.opened.append(ranges.open("encoder"))
        elif self.run is not None and self.aux:
            self.doubt("another model generated at the same time")

    def _begin_prompt(self, t, call, model, kwargs, shape, cached):
        if self.run is None:
            self.run = t.manual or record.begin(model, self.warm)
        calls.towers.search(model, calls._pretrained)
        self.before_part(t)
        if self.assisted:
            self.doubt("assisted decoding")
        if shape is None:
            self.run.doubt_prefill("the arguments of the model do not tell its length")
            shape = (None, 0)
        calls.open_prompt(t, call, self.run, model, kwargs, shape, cached)
        if not self.prefilling:
            call.after = self._end_prompt

    def _begin_step(self, call, shape):
        run = self.run
        if not self.is_decode:
            ranges.close_all(self.stage)
            self.stage.append(ranges.open("decode"))
            self.is_decode = True
        call.opened.append(ranges.open(calls.step_name(run)))
        call.inside = state.DECODE
        run.step()
        if shape is None or shape[1] != 1:
            run.doubt_steps("a step worked on several tokens")

    def before_part(self, t):
        """Opens the prefill before its first forward or vision part."""
        if not self.stage:
            self.stage.append(ranges.open("prefill"))

    def _end_prompt(self):
        if not self.is_decode:
            ranges.close_all(self.stage)

    def doubt(self, why):
        if self.run is not None and not self.run.is_said:
            self.run.doubt_prefill(why)
            self.run.doubt_steps(why)


def wrap(cls):
    """Wraps what generates in a class and those that it inherits from, each function once."""
    for owner in cls.__mro__[:-1]:
        for name, make in _WRAPPERS.items():
            inner = owner.__dict__.get(name)
            if not inspect.isfunction(inner) or getattr(inner, _WRAPPED, False):
                continue
            if inspect.isgeneratorfunction(inner) or inspect.iscoroutinefunction(inner):
                continue  # it runs after it has returned
            outer = functools.wraps(inner)(make(inner, owner.__name__ == "GenerationMixin"))
            setattr(outer, _WRAPPED, True)
            setattr(owner, name, outer)


def _wrap_generate(inner, is_base):
    def generate(self, *args, **kwargs):
        t = state.thread
        if torch.compiler.is_compiling() or not state.settings.on or t.depth or t.noted:
            return inner(self, *args, **kwargs)
        left = _enter(t, self, is_base, kwargs)
        try:
            return inner(self, *args, **kwargs)
        finally:
            _leave(t, left)
    return generate


def _enter(t, model, is_base, kwargs):
    """Enters a call of generate; gives what _leave has to end."""
    ends = []
    try:
        g = t.generation
        if g is None:
            warm = record.is_warmup() if t.manual is None else False
            if not warm:
                trace.measure(coming=t.manual is None)
            g = Generation(record.count_generation(not warm and t.manual is None), warm)
            t.generation = g
            ends.append("all")
            if warm:
                g.opened.append(ranges.open("warmup"))
            g.opened.append(ranges.open("generate[%d]" % g.index))
        elif g.base:
            g.aux += 1
            if g.run is None:
                g.before_part(t)
            g.doubt("another model generated at the same time")
            ends.append("aux")
            return g, ends
        elif g.run is not None:
            g.next()
        if is_base:
            g.base, g.model, g.call = 1, model, kwargs
            ends.append("base")
        return g, ends
    except Exception as error:
        state.fail(error)
        return t.generation, ends


def _leave(t, left):
    g, ends = left
    try:
        if "aux" in ends:
            g.aux -= 1
        if "base" in ends:
            g.call = {}
            g.base, g.prefilling, g.assisted, g.expanded, g.returned = 0, 0, False, 1, 1
            ranges.close_all(g.stage)
            g.is_decode = g.run is not None
            g.model = None
        if "all" in ends:
            t.generation = None
            _close(g)
            if t.manual is None:
                if g.run is not None:
                    g.run.is_open = False
                trace.stop_when_done()
            record.beat()
    except Exception as error:
        state.fail(error)
        if g is not None and "all" in ends:
            t.generation = None
            _close(g)


def _close(g):
    for opened in (g.stage, g.opened):
        try:
            ranges.close_all(opened)
        except Exception as error:
            state.fail(error)


def _wrap_prefill(inner, is_base):
    def prefill(self, *args, **kwargs):
        g = state.thread.generation
        if g is None or g.aux or g.model is not self:
            return inner(self, *args, **kwargs)
        g.prefilling += 1
        try:
            return inner(self, *args, **kwargs)
        finally:
            g.prefilling -= 1
            if not g.prefilling:
                _end_prefill(g)
    return prefill


def _end_prefill(g):
    try:
        g._end_prompt()
    except Exception as error:
        state.fail(error)


def _wrap_assisted(inner, is_base):
    def assisted(self, *args, **kwargs):
        g = state.thread.generation
        if g is not None and g.model is self and not g.aux:
            g.assisted = True
        return inner(self, *args, **kwargs)
    return assisted


def _wrap_config(inner, is_base):
    def prepare(self, *args, **kwargs):
        result = inner(self, *args, **kwargs)
        g = state.thread.generation
        if g is not None and g.base and g.model is self and not g.aux:
            _read_config(g, self, result[0] if isinstance(result, tuple) else result, g.call)
        return result
    return prepare


def _read_config(g, model, config, call):
    try:
        g.returned = getattr(config, "num_return_sequences", None) or 1
        g.expanded = max(getattr(config, "num_beams", None) or 1, g.returned)
        if not g.warm:
            decoding.note(model, config, call)
    except Exception as error:
        state.fail(error)


_WRAPPERS = {
    "_prepare_generation_config": _wrap_config,
    "generate": _wrap_generate, "_prefill": _wrap_prefill, "_prefill_chunking": _wrap_prefill, "_assisted_decoding": _wrap_assisted,
}
