"""Which generations the PyTorch profiler records, with a stand-in for PyTorch. Needs no PyTorch."""
import os
import sys
import tempfile
import threading
import types
import unittest

import prof_mark
from prof_mark import manual, record, state, times, trace


class Window(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        record.forget()
        record._next = float("inf")
        state.thread.__init__()
        state.notes.clear()
        state.fault, state.main = None, True
        self.path = os.path.join(folder.name, "trace.json")
        self.log = log = []
        test = self

        class Profile:
            def __init__(self, **options):
                test.options = options

            def start(self):
                test.thread = threading.get_ident()
                log.append("start")

            def stop(self):
                if test.options["profile_memory"] and threading.get_ident() != test.thread:
                    raise RuntimeError("Can't disable Kineto profiler when it's not running")
                log.append("stop")

            def export_chrome_trace(self, path):
                with open(path, "w") as f:
                    f.write(" ".join(test.log))
        torch = types.SimpleNamespace(
            autograd=types.SimpleNamespace(profiler=types.SimpleNamespace(_is_profiler_enabled=False)), _C=types.SimpleNamespace(_profiler=types.SimpleNamespace(_ExperimentalConfig=dict)),
            profiler=types.SimpleNamespace(profile=Profile, ProfilerActivity=types.SimpleNamespace(CPU=1, CUDA=2)),
            cuda=types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, synchronize=lambda: log.append("wait")))
        sys.modules["torch"] = torch
        was = manual._open, manual._close_all
        manual._open, manual._close_all = lambda name, run=None: log.append(name), lambda opened: opened.clear()
        self.addCleanup(self.restore, was)

    def restore(self, was):
        manual._open, manual._close_all = was
        sys.modules.pop("torch", None)
        self.ask(None, 0, 0)
        state.settings.trace_parts["memory"] = False

    def ask(self, path, skip, passes, warmup=0):
        s = state.settings
        s.on, s.trace, s.trace_skip, s.trace_passes, s.warmup = True, path, skip, passes, warmup
        trace._profile, trace._waiting, state.unrecorded = None, path is not None, path is not None and skip + passes > 0

    def generate(self, count, first=1):
        for n in range(first, first + count):
            with prof_mark.stage("prefill", tokens=n):
                with prof_mark.stage("layer"):
                    pass
            with prof_mark.stage("decode", steps=2):
                pass

    def prompts(self):
        return [r["prefill_len"] for r in record.document().get("runs", [])]

    def test_window(self):
        self.ask(self.path, 1, 2, warmup=1)
        self.generate(5)
        one = ["prefill", "layer", "decode"]
        warm = ["warmup", "prefill", "layer", "warmup", "decode"]
        self.assertEqual(self.log, warm + one + ["wait", "start"] + one + one + ["stop"] + one)
        self.assertEqual(self.prompts(), [1, 3, 4])  # the first is warm-up
        self.assertEqual(record.document()["marks"]["passes_unrecorded"], 2)
        with open(self.path) as f:
            self.assertTrue(f.read().endswith("stop"), "it is written when the window ends")
        trace.finish()
        self.assertEqual((self.log.count("stop"), state.notes), (1, []))

    def test_without_a_window(self):
        self.ask(self.path, 0, 0)
        self.generate(2)
        trace.finish()
        self.assertEqual(self.log, ["start", "prefill", "layer", "decode", "prefill", "layer", "decode", "stop"])
        self.assertEqual(self.prompts(), [1, 2])

    def test_program_that_ends_first(self):
        self.ask(self.path, 1, 5)
        self.generate(3)
        trace.finish()
        self.assertEqual(self.prompts(), [2, 3])
        self.assertEqual(state.notes, ["PyTorch's profiler recorded 2 generations, not 5: the program ended"])

    def test_program_that_ends_before(self):
        self.ask(self.path, 4, 0)
        self.generate(3)
        trace.finish()
        self.assertEqual((self.prompts(), self.log.count("start")), ([], 0))
        self.assertEqual(state.notes, ["PyTorch's profiler did not start: 4 were to be skipped, and 3 ran after warm-up"])

    def test_pass_of_another_thread_is_doubted(self):
        self.ask(self.path, 0, 2)
        other = threading.Thread(target=self.generate, args=(1,))
        other.start()
        other.join()
        self.generate(2, first=2)
        runs = record.document()["runs"]
        self.assertEqual([(r["prefill_len"], r["new_tokens"]) for r in runs], [(None, None), (2, 2)])
        self.assertEqual(runs[0]["why"], "the PyTorch profiler stopped while it ran")

    def test_allocations_are_of_one_thread(self):
        """PyTorch's profiler of all threads gets no allocations."""
        for memory in False, True:
            state.settings.trace_parts["memory"] = memory
            self.ask(self.path, 0, 0)
            self.generate(1)
            trace.finish()
            self.assertEqual((self.options["profile_memory"], self.options.get("experimental_config")), (memory, None if memory else {"profile_all_threads": True}))
        self.assertEqual(state.notes, [])

    def test_allocations_need_the_main_thread(self):
        """The profiler ends there, and one that has allocations must end on the thread that started it."""
        state.settings.trace_parts["memory"] = True
        self.ask(self.path, 0, 0)
        other = threading.Thread(target=self.generate, args=(1,))
        other.start()
        other.join()
        trace.finish()
        self.assertEqual((self.options["profile_memory"], self.options["experimental_config"]), (False, {"profile_all_threads": True}))
        self.assertEqual((self.log[-1], state.notes), ("stop", ["allocations were not recorded: PyTorch can do so on the main thread only, and the first measured pass ran on another"]))

    def test_variables(self):
        s = state.Settings({"PROF_MARK_TRACE_SKIP": "x", "PROF_MARK_TRACE_PASSES": "3", "PROF_MARK_WARMUP": "-2"})
        self.assertEqual((s.trace_skip, s.trace_passes, s.warmup, s.errors), (0, 3, 0, ["PROF_MARK_TRACE_SKIP is no number: 'x'"]))


if __name__ == "__main__":
    unittest.main()
