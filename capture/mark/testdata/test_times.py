"""The times of stages, with a stand-in for PyTorch whose GPU lags behind the host. Needs no PyTorch."""
import glob
import json
import os
import sys
import tempfile
import types
import unittest

import prof_mark
from prof_mark import record, state, times


class GPU:
    """Streams that each take their work one after the other, by a clock that only the tests move."""

    def __init__(self, count=1):
        self.now, self.ends, self.asked, self.events = 0.0, [0.0] * count, [], 0
        self.capturing = False
        gpu = self

        class Event:
            def __init__(self, enable_timing):
                gpu.events += 1

            def record(self, stream):
                self.at = max(gpu.now, gpu.ends[stream])

            def query(self):
                gpu.asked.append(self.at)
                return self.at <= gpu.now

            def elapsed_time(self, end):
                return end.at - self.at
        cuda = types.SimpleNamespace(Event=Event, is_initialized=lambda: True, is_current_stream_capturing=lambda: self.capturing, device_count=lambda: count,
                                     current_stream=lambda at: at, current_device=lambda: 0)
        self.memory = [[0, 0, 0, 0] for _ in range(count)]  # allocated, its peak, reserved, its peak
        self.torch = types.SimpleNamespace(cuda=cuda, _C=types.SimpleNamespace(_cuda_hasPrimaryContext=lambda at: at != 2, _cuda_memoryStats=self.stats))

    def stats(self, at):
        a, p, r, q = self.memory[at]
        return {"allocated_bytes": {"all": {"current": a, "peak": p}}, "reserved_bytes": {"all": {"current": r, "peak": q}}}

    def allocate(self, size, at=0):
        m = self.memory[at]
        m[0] += size
        m[1], m[2] = max(m[0], m[1]), max(m[0], m[2])
        m[3] = max(m[2], m[3])

    def launch(self, ms, stream=0):
        self.ends[stream] = max(self.now, self.ends[stream]) + ms


class Times(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "report-1.times")
        record.forget()
        times.forget()
        record._next = float("inf")  # no file is written unless a test asks
        self.addCleanup(setattr, state.settings, "times", None)
        state.thread.__init__()
        state.notes.clear()
        state.fault, state.settings.on, state.settings.times = None, True, self.path
        times._PATIENCE = 0.01
        self.addCleanup(sys.modules.pop, "torch", None)

    def use(self, gpu):
        """Gives ranges a torch: prof_mark.ranges, which needs a real one, is left out."""
        from prof_mark import manual
        sys.modules["torch"] = gpu.torch
        was = manual._open, manual._close_all
        manual._open = lambda name, run=None: (False, None, times.open(name, run))
        manual._close_all = lambda opened: [times.close(opened.pop()[2]) for _ in list(opened)]
        self.addCleanup(lambda: (setattr(manual, "_open", was[0]), setattr(manual, "_close_all", was[1])))
        return gpu

    def read(self, final=True):
        times.write(final)
        with open(glob.glob(self.path + "-*.json")[0]) as f:
            doc = json.load(f)
        return [("/".join(doc["paths"][p]), gpu, batch, tokens, warm) for p, _, gpu, batch, tokens, warm in doc["executions"]]

    def test_without_gpu(self):
        with prof_mark.warmup(), prof_mark.stage("prefill", tokens=7):
            pass
        with prof_mark.stage("request"):
            with prof_mark.stage("prefill", tokens=8, batch=2):
                with prof_mark.stage("layer[0]"):
                    pass
            with prof_mark.stage("decode", steps=3):
                with prof_mark.stage("decode_step[0]"):
                    pass
        self.assertEqual(self.read(), [("warmup/prefill", None, None, 7, 1), ("request", None, None, None, 0), ("request/prefill", None, 2, 8, 0),
                                       ("request/decode", None, 2, 3, 0)])
        self.assertEqual((state.thread.names, state.thread.timed, state.thread.staged), ([], 0, 0))

    def test_host_clock(self):
        with prof_mark.stage("decode", steps=1):
            import time
            time.sleep(0.02)
        times.write()
        with open(glob.glob(self.path + "-*.json")[0]) as f:
            doc = json.load(f)
        self.assertTrue(20e6 <= doc["executions"][0][1] < 2e9, doc)

    def test_the_gpu_is_waited_for_by_nobody(self):
        gpu = self.use(GPU())
        with prof_mark.stage("prefill", tokens=5):
            gpu.now += 1  # the first launch comes late
            gpu.launch(10)
            gpu.now += 2
        with prof_mark.stage("decode", steps=4):  # begins while the prefill still runs
            gpu.launch(7)
            gpu.now += 1
        self.assertEqual(gpu.asked, [])
        self.assertEqual(self.read(final=False), [])
        gpu.now = 11
        self.assertEqual(self.read(final=False), [("prefill", 11_000_000, None, 5, 0)])
        gpu.now = 20
        self.assertEqual(self.read(), [("prefill", 11_000_000, None, 5, 0), ("decode", 7_000_000, None, 4, 0)])

    def test_memory(self):
        gpu = self.use(GPU(2))
        gpu.allocate(100, 0)
        with prof_mark.stage("prefill", tokens=5):
            gpu.allocate(50)
            gpu.allocate(-50)
        with prof_mark.stage("decode", steps=1):
            gpu.allocate(7)
            gpu.allocate(30, 1)
        with prof_mark.stage("decode_step[0]"):
            gpu.allocate(5)
        self.read()
        with open(glob.glob(self.path + "-*.json")[0]) as f:
            memory = json.load(f)["memory"]
        self.assertEqual(memory, [[0, 0, 100, 100, 100, 150, 100, 150, 100, 150], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
                                  [1, 0, 100, 107, 150, 150, 150, 150, 150, 150], [1, 1, 0, 30, 0, 30, 0, 30, 0, 30]])

    def test_allocator_that_tells_nothing(self):
        gpu = self.use(GPU())
        gpu.torch._C._cuda_memoryStats = None
        with prof_mark.stage("prefill", tokens=5):
            gpu.launch(3)
        gpu.now = 5
        self.assertEqual(self.read(), [("prefill", 3_000_000, None, 5, 0)])
        self.assertEqual(state.notes, ["PyTorch's memory is not known: TypeError: 'NoneType' object is not callable"])

    def test_several_gpus(self):
        gpu = self.use(GPU(3))
        gpu.ends[2] = 1000.0  # no context: not this process's
        with prof_mark.stage("prefill", tokens=5):
            gpu.launch(3, 0)
            gpu.launch(9, 1)
        gpu.now = 50
        self.assertEqual(self.read(), [("prefill", 9_000_000, None, 5, 0)])

    def test_what_never_ends_has_no_time(self):
        gpu = self.use(GPU())
        with prof_mark.stage("prefill", tokens=5):
            gpu.launch(1e9)
        self.assertEqual(self.read(), [("prefill", None, None, 5, 0)])

    def test_nothing_is_asked_while_a_graph_is_captured(self):
        gpu = self.use(GPU())
        with prof_mark.stage("prefill", tokens=5):
            gpu.launch(1)
        gpu.now, times.captures = 5, 1
        with prof_mark.stage("decode", steps=1):
            gpu.launch(1)
        self.read(final=False)
        self.assertEqual((gpu.asked, gpu.events), ([], 2))
        times.captures, gpu.capturing = 0, True
        with prof_mark.stage("decode", steps=1):
            gpu.launch(1)
        gpu.capturing = False
        self.assertEqual([e[1] for e in self.read()], [1_000_000, None, None])

    def test_events_are_used_again(self):
        gpu = self.use(GPU())
        for _ in range(2000):
            with prof_mark.stage("decode_step[0]"):
                gpu.launch(1)
            gpu.now += 1
        self.assertEqual(len(self.read()), 2000)
        self.assertLess(gpu.events, 4 * times._UNREAD)

    def test_a_gpu_that_failed(self):
        gpu = self.use(GPU())
        for ms in (3, 4):
            with prof_mark.stage("prefill", tokens=5):
                gpu.launch(ms)
            gpu.now += 5
            self.read(final=False)
            gpu.torch.cuda.current_stream = lambda at: 1 / 0
        self.assertEqual([e[1] for e in self.read()], [3_000_000, None])
        self.assertIn("stages are not timed on the GPU: ZeroDivisionError", state.notes[0])
        self.assertIsNone(state.fault)

    def test_the_first_are_kept(self):
        most, times._MOST = times._MOST, 3
        self.addCleanup(setattr, times, "_MOST", most)
        for n in range(5):
            with prof_mark.stage("prefill", tokens=n):
                pass
        self.assertEqual([e[3] for e in self.read()], [0, 1, 2])
        self.assertEqual(times._left_out, 2)

    def test_an_error_of_the_program(self):
        with self.assertRaises(KeyError), prof_mark.stage("prefill", tokens=1):
            raise KeyError("theirs")
        self.assertEqual([e[0] for e in self.read()], ["prefill"])
        self.assertEqual(state.thread.names, [])
