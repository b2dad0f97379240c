"""Records the ranges that the helper opens, in the place of NVTX, and resets the helper between tests."""
import threading
import unittest

import torch
import transformers.modeling_utils  # noqa: F401  armed by sitecustomize
from prof_mark import modelinfo, ranges, record, state


class Stack:
    """NVTX's stack of one thread: a pop closes what was pushed last."""

    def __init__(self):
        self.names, self.open = [], []

    def push(self, name):
        self.names.append("  " * len(self.open) + name)
        self.open.append(name)

    def pop(self):
        self.open.pop()


class MarkTest(unittest.TestCase):
    faults = False

    def setUp(self):
        torch.manual_seed(0)
        self.stacks = {}
        ranges._push = lambda name: self.stack().push(name)
        ranges._pop = lambda: self.stack().pop()
        record.forget()
        modelinfo.forget()
        state.thread.__init__()
        state.notes.clear()
        state.fault, state.settings.on, state.settings.warmup = None, True, 0

    def stack(self):
        return self.stacks.setdefault(threading.get_ident(), Stack())

    def tearDown(self):
        for stack in self.stacks.values():
            self.assertEqual(stack.open, [], "ranges are left open")
        if not self.faults:
            self.assertIsNone(state.fault)
        self.assertEqual(state.thread.depth, 0)
        self.assertEqual(state.thread.noted, 0)
        self.assertIsNone(state.thread.generation)

    def marks(self):
        return [name for name in self.stack().names if not name.lstrip().startswith("Python GC[")]

    def runs(self):
        return [tuple(r.get(k) for k in ("prefill_len", "new_tokens", "batch")) for r in record.document().get("runs", [])]

    def expect(self, text):
        want = [line for line in text.split("\n") if line.strip()]
        cut = min((len(w) - len(w.lstrip()) for w in want), default=0)
        self.assertEqual(self.marks(), [w[cut:] for w in want])


def ids(batch, length, vocabulary=90):
    return torch.randint(5, vocabulary, (batch, length))


def llama(**more):
    from transformers import LlamaConfig, LlamaForCausalLM
    c = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
             max_position_embeddings=256, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    c.update(more)
    return LlamaForCausalLM(LlamaConfig(**c)).eval()


def generate(model, prompt, tokens, **more):
    more.setdefault("do_sample", False)
    return model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, min_new_tokens=tokens, **more)
