"""Ranges around Python's garbage collections and around compilations."""
import gc
import unittest

import torch
from recorder import MarkTest
from prof_mark import garbage, ranges, state


class Garbage(MarkTest):
    def test_each_collection_is_a_range(self):
        gc.disable()
        self.addCleanup(gc.enable)
        self.assertIn(garbage._mark, gc.callbacks)
        opened = ranges.open("decode")
        gc.collect()
        gc.collect(0)
        ranges.close(opened)
        self.assertEqual(self.stack().names, ["decode", "  Python GC[2]", "  Python GC[0]"])

    def test_none_when_marking_has_stopped(self):
        state.settings.on = False
        gc.collect()
        self.assertEqual(self.stacks, {})

    def test_compilation_is_a_range(self):
        def double(x):
            return x + x
        gc.disable()
        self.addCleanup(gc.enable)
        compiled = torch.compile(double, backend="eager")
        compiled(torch.ones(2))
        first = self.marks()
        self.assertIn("torch.compile", [name.strip() for name in first])
        compiled(torch.ones(2))
        self.assertEqual(self.marks(), first)


if __name__ == "__main__":
    unittest.main()
