"""Marks of calls of models: PreTrainedModel.__call__ is wrapped, once for all classes, and neither a forward nor a hook is touched.
A region that torch.compile traces sees a test that is constant there and nothing else.

The outermost call of a model that can generate, or of a decoder that is given a cache, is a stage:

    prefill      its cache is empty or there is none, or it extends a cache by more than a few tokens
    decode_step  its cache holds tokens and it works on one token of each sequence, or on a few (of a cache whose length would have
                 to be read from the GPU: on one)

Such a range begins and ends with the call, since NVTX has one stack a thread, which the program's own ranges share. Inside of
generate, prefill and decode last longer: see generation.py. Not marked are calls to train (labels, or gradients of a model in
training mode), with a cache that is none of transformers (continuous batching), and calls inside of compiled code.

The length of a prompt is that of the sequence that the innermost decoder sees, where images have taken their places. It is unknown
where a prompt extends a cache, several sequences are packed into one, and where a model of encoder and decoder has beams or a
decoder prompt beside what its encoder reads (roles.source); the count of steps is unknown where one works on several tokens."""
import torch

from . import modelinfo, ranges, record, roles, state, towers, trace

_FEW = 8  # tokens that verify a draft rather than are a prompt
_pretrained = None


class Call:
    """The outermost call of a model: its ranges and the pass that it belongs to."""
    __slots__ = ("opened", "inside", "run", "shape", "hooked", "after", "images", "prompt")

    def __init__(self, t):
        self.opened, self.inside, self.run, self.shape, self.after = [], state.PLAIN, None, None, None
        self.hooked, self.images = len(t.hooked), None
        self.prompt = None  # length of the prompt, where it is not that of what the decoder sees


def wrap(cls):
    """Wraps PreTrainedModel.__call__, and what generate compiles."""
    global _pretrained
    _pretrained = cls
    inner = cls.__call__
    is_compiling = torch.compiler.is_compiling

    def __call__(self, *args, **kwargs):
        if is_compiling() or not state.settings.on:
            return inner(self, *args, **kwargs)
        return run(inner, self, args, kwargs)
    cls.__call__ = __call__

    compiled = getattr(cls, "get_compiled_call", None)
    if compiled is not None:
        def get_compiled_call(self, *args, **kwargs):
            call = compiled(self, *args, **kwargs)
            if not state.settings.on or getattr(call, "__func__", None) is __call__:
                return call
            return lambda *a, **k: run(lambda _, *a, **k: call(*a, **k), self, a, k)
        cls.get_compiled_call = get_compiled_call


def wrap_compiled(cls):
    """Wraps the __call__ of what torch.compile makes of a model."""
    inner = cls.__call__
    is_compiling = torch.compiler.is_compiling

    def __call__(self, *args, **kwargs):
        if is_compiling() or not state.settings.on or _pretrained is None:
            return inner(self, *args, **kwargs)
        model = self.__dict__["_modules"].get("_orig_mod")
        if not isinstance(model, _pretrained):
            return inner(self, *args, **kwargs)
        return run(lambda _, *a, **k: inner(self, *a, **k), model, args, kwargs)
    cls.__call__ = __call__


def run(inner, model, args, kwargs):
    """Calls a model within the ranges that belong to the call."""
    t = state.thread
    if t.depth:
        return _nested(t, inner, model, args, kwargs) if t.inside != state.DECODE else inner(model, *args, **kwargs)
    note = towers.note_of(type(model))
    if note is not None:
        return towers.call(t, note, inner, model, args, kwargs)
    call = _begin(t, model, args, kwargs)
    if call is None:
        return inner(model, *args, **kwargs)
    t.depth, t.inside = 1, call.inside
    try:
        return inner(model, *args, **kwargs)
    finally:
        t.depth, t.inside = 0, None
        _end(t, call)


def _nested(t, inner, model, args, kwargs):
    note = towers.note_of(type(model))
    if note is not None and not t.noted:
        return towers.call(t, note, inner, model, args, kwargs)
    if t.inside == state.PREFILL and not t.noted and any(n in kwargs for n in roles.CACHES) and (t.seen is None or t.depth > t.seen[0]):
        shape = roles.shape(args, kwargs)
        if shape is not None:
            t.seen = (t.depth, shape)
    t.depth += 1
    try:
        return inner(model, *args, **kwargs)
    finally:
        t.depth -= 1


def _begin(t, model, args, kwargs):
    call = None
    try:
        role = roles.of(type(model))
        if t.noted:
            return None
        call = Call(t)
        g = t.generation
        if g is not None and (g.aux or g.claims(model)):
            g.begin(t, call, model, role, args, kwargs)
        elif role.kind is roles.OTHER:
            return None
        else:
            _begin_bare(t, call, model, role, args, kwargs)
        return call
    except Exception as error:
        state.fail(error)
        if call is not None:
            _close(call.opened)
        return None


def _end(t, call):
    try:
        towers.unwind(t, call.hooked)
        if call.inside == state.PREFILL:
            _tell_prompt(t, call)
        _close(call.opened)
        if call.after is not None:
            call.after()
        if call.inside == state.PREFILL:
            record.beat()
    except Exception as error:
        state.fail(error)
        _close(call.opened)


def _close(opened):
    try:
        ranges.close_all(opened)
    except Exception as error:
        state.fail(error)


def _begin_bare(t, call, model, role, args, kwargs):
    if role.kind is roles.DECODER and all(kwargs.get(n) is None for n in roles.CACHES) and not kwargs.get("use_cache"):
        return
    if kwargs.get("labels") is not None or model.training and torch.is_grad_enabled():
        return
    both = roles.is_encoder_decoder(model)
    shape = roles.shape(args, kwargs, "decoder_" if both else "")
    cached = roles.cached(role, args, kwargs)
    if shape is None or cached == roles.FOREIGN:
        return
    run = t.manual or t.last.get(id(model))
    decodes = is_decode(both, cached, shape[1], run)
    if t.capturing is not None:
        t.capturing.append((id(model), decodes, shape[1]))  # no kernel runs now; a replay of the graph is the stage
        return
    if decodes:
        begin_step(t, call, model, shape, run)
    else:
        begin_prompt(t, call, model, kwargs, shape, cached)


def is_decode(both, cached, length, run):
    """Whether a call is of decode, by the tokens in its cache, those that it works on and the pass before it."""
    if both:
        return cached != 0
    if cached == 0:
        return False
    return length == 1 or cached > 0 and length <= _FEW and run is not None and run.new_tokens != 0


def begin_step(t, call, model, shape, run):
    if run is None:  # the prompt was worked on where nothing is marked
        run = t.manual or record.begin(model)
        run.doubt_prefill("its prefill was not seen")
        t.last[id(model)] = run
    if run.warmup:
        call.opened.append(ranges.open("warmup"))
    call.opened.append(ranges.open(step_name(run), run))
    call.inside, call.run = state.DECODE, run
    if run.batch is None:
        run.batch = shape[0]
    run.step()
    if shape[1] != 1:
        run.doubt_steps("a step worked on several tokens")


def step_name(run):
    return "decode_step" if run.new_tokens is None else "decode_step[%d]" % run.new_tokens


def begin_prompt(t, call, model, kwargs, shape, cached):
    run = t.manual
    if run is None:
        warm = record.is_warmup()
        if not warm:
            trace.measure()
        record.count_generation(not warm)
        run = record.begin(model, warm)
        if warm:
            call.opened.append(ranges.open("warmup"))
    else:
        modelinfo.seen(model)
    t.last[id(model)] = t.latest = run
    towers.search(model, _pretrained)
    call.opened.append(ranges.open("prefill", run))
    open_prompt(t, call, run, model, kwargs, shape, cached)


def open_prompt(t, call, run, model, kwargs, shape, cached):
    """Begins a call that works on a prompt, or on a part of it."""
    call.inside, call.run, call.shape = state.PREFILL, run, shape
    call.images = (model, kwargs)
    t.seen = None
    if run.is_said:
        return
    if roles.is_encoder_decoder(model):
        expanded = t.generation.expanded if t.generation is not None else 1
        call.prompt = roles.source(model, kwargs, shape[1])
        if call.prompt is None:
            run.doubt_prefill("the length of what the encoder reads is not known, or the decoder has a prompt of its own")
        elif expanded > 1:
            run.doubt_prefill("the encoder works on each prompt once, the decoder on several sequences of it")
    elif cached != 0 and run.prefill_len is None:
        run.doubt_prefill("the prompt extends a cache")
    elif roles.is_packed(kwargs):
        run.doubt_prefill("several sequences are packed into one")


def _tell_prompt(t, call):
    run, (batch, length) = call.run, t.seen[1] if t.seen is not None else call.shape
    if run.batch is None:
        run.batch = batch
    if run.images is None and run.crops is None:
        run.images, run.crops = roles.images(*call.images, batch, t.towers)
    t.towers, t.seen = 0, None
    g = t.generation
    if g is not None and g.expanded > g.returned and batch and run.batch == batch and batch % g.expanded == 0:
        run.outputs = batch // g.expanded * g.returned
    if call.prompt is not None:
        length = call.prompt
    if run.why is None and not run.is_said:
        run.prefill_len = (run.prefill_len or 0) + length


def before_tower(t, opened):
    """What a vision part opens before its own range, and what it starts."""
    if t.depth:
        return
    if t.generation is not None:
        t.generation.before_part(t)
    elif t.manual is None:
        if record.is_warmup():
            opened.append(ranges.open("warmup"))
        else:
            trace.measure()
