"""Whole programs under the helper: how they end, their children, and PyTorch's profiler."""
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HELPER = os.environ["PYTHONPATH"].split(os.pathsep)[0]
PROGRAM = """
import os, sys, time, torch
from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, vocab_size=96, pad_token_id=0)).eval()
def work(length, tokens=3):
    x = torch.randint(3, 90, (1, length))
    model.generate(x, attention_mask=torch.ones_like(x), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)
"""


class Process(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.facts, self.trace = os.path.join(self.folder, "workload.json"), os.path.join(self.folder, "trace.json.gz")

    def start(self, code, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROF_MARK")}
        env.update(PYTHONPATH=HELPER, PROF_MARK="1", PROF_MARK_FACTS=self.facts, PROF_MARK_MODEL_DIR=os.path.join(self.folder, "model"))
        env.update(variables)
        path = os.path.join(self.folder, "run.py")
        with open(path, "w") as f:
            f.write(PROGRAM + code)
        return subprocess.Popen([sys.executable, path], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, process):
        out, err = process.communicate(timeout=120)
        self.assertNotIn("prof_mark: marking stopped", err)
        return process.returncode, out, err

    def run_program(self, code, **variables):
        return self.end(self.start(code, **variables))

    def runs(self, path=None):
        with open(path or self.facts) as f:
            return [(r["prefill_len"], r["new_tokens"]) for r in json.load(f).get("runs", [])]

    def until_ready(self, process):
        self.assertEqual(process.stdout.readline(), "ready\n")

    def test_error_of_the_program(self):
        code, _, err = self.run_program("work(5)\nraise RuntimeError('mine')")
        self.assertEqual((code, self.runs()), (1, [(5, 2)]))
        self.assertIn("RuntimeError: mine", err)
        with open(os.path.join(self.folder, "model", "config.json")) as f:
            self.assertEqual(json.load(f)["hidden_size"], 32)

    def test_killed(self):
        process = self.start("work(5)\ntime.sleep(1.2)\nwork(6)\nprint('ready', flush=True)\ntime.sleep(60)")
        self.until_ready(process)
        process.kill()
        self.end(process)
        self.assertEqual(self.runs(), [(5, 2), (6, None)])

    def test_terminated(self):
        process = self.start("work(5)\nwork(6)\nprint('ready', flush=True)\ntime.sleep(60)", PROF_MARK_TRACE=self.trace)
        self.until_ready(process)
        process.terminate()
        self.assertEqual(self.end(process)[0], -signal.SIGTERM)
        self.assertEqual(self.runs(), [(5, 2), (6, 2)])
        self.assertEqual(self.ranges().count("prefill"), 2)

    def test_handler_of_the_program_stays(self):
        process = self.start("import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nwork(5)\nprint('ready', flush=True)\ntime.sleep(60)")
        self.until_ready(process)
        process.terminate()
        self.assertEqual(self.end(process)[0], 7)
        self.assertEqual(self.runs(), [(5, 2)])

    def test_each_process_has_a_file(self):
        code, _, err = self.run_program("""
import multiprocessing
if __name__ == "__main__":
    torch.set_num_threads(1)
    child = multiprocessing.get_context("fork").Process(target=work, args=(9,))
    child.start(); child.join()
    if not os.fork():
        work(8)
        from prof_mark import record; record.write()  # an end by os._exit runs nothing
        os._exit(0)
    os.wait()
    work(5); work(6)
""")
        self.assertEqual(code, 0, err)
        files = sorted(f for f in os.listdir(self.folder) if f.startswith("workload"))
        self.assertEqual(len(files), 3, files)
        self.assertIn("workload.json", files)
        self.assertEqual(sorted(self.runs(os.path.join(self.folder, f)) for f in files), [[(5, 2), (6, 2)], [(8, 2)], [(9, 2)]])

    def ranges(self):
        with gzip.open(self.trace) as f:
            return [e["name"] for e in json.load(f)["traceEvents"] if e.get("cat") == "user_annotation"]

    def test_trace_of_what_is_measured(self):
        code, _, err = self.run_program("""
import threading
for _ in range(2): work(5)
t = threading.Thread(target=work, args=(6,))
t.start(); t.join()
""", PROF_MARK_TRACE=self.trace, PROF_MARK_WARMUP="1")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.runs(), [(5, 2), (5, 2), (6, 2)])
        names = self.ranges()
        self.assertEqual([names.count(n) for n in ("warmup", "generate[1]", "generate[2]", "prefill", "decode", "decode_step[1]")], [0, 1, 1, 2, 2, 2])

    def test_window_of_the_trace(self):
        code, _, err = self.run_program("for n in range(5, 10): work(n)", PROF_MARK_TRACE=self.trace, PROF_MARK_WARMUP="1", PROF_MARK_TRACE_SKIP="1", PROF_MARK_TRACE_PASSES="2")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.runs(), [(5, 2), (7, 2), (8, 2)])
        names = self.ranges()
        self.assertEqual([n for n in names if n.startswith("generate")], ["generate[2]", "generate[3]"])
        self.assertEqual(names.count("prefill"), 2)

    def test_parts_of_the_trace(self):
        for extra, want in (({}, False), ({"PROF_MARK_TRACE_STACK": "1"}, True)):
            code, _, err = self.run_program("work(5)", PROF_MARK_TRACE=self.trace, **extra)
            self.assertEqual(code, 0, err)
            with gzip.open(self.trace) as f:
                kinds = {e.get("cat") for e in json.load(f)["traceEvents"]}
            self.assertEqual("python_function" in kinds, want)
            os.remove(self.trace)

    def test_allocations_or_all_threads(self):
        """PyTorch records the allocations of the main thread, or the operators of all."""
        for extra in {}, {"PROF_MARK_TRACE_MEMORY": "1"}:
            code, _, err = self.run_program("""
import threading
def both():
    work(5)
    other = threading.Thread(target=lambda: torch.ones(50, 50).sort())
    other.start()
    other.join()
both()""", PROF_MARK_TRACE=self.trace, **extra)
            self.assertEqual((code, "prof_mark" in err), (0, False), err)
            with gzip.open(self.trace, "rt") as f:
                events = json.load(f)["traceEvents"]
            self.assertEqual((any(e["name"] == "[memory]" for e in events), any(e["name"] == "aten::sort" and e.get("cat") == "cpu_op" for e in events)), (bool(extra), not extra), extra)
            os.remove(self.trace)

    def test_profiler_of_the_program_is_left_alone(self):
        code, out, err = self.run_program("""
work(5)
with torch.profiler.profile() as p:
    work(6)
print(sum(e.name == "prefill" for e in p.events()))
""", PROF_MARK_TRACE=self.trace)
        self.assertEqual((code, out), (0, "1\n"), err)
        self.assertIn("prof_mark: the program started PyTorch's profiler itself", err)
        self.assertFalse(os.path.exists(self.trace))

    def test_pytorch_without_models(self):
        code, _, err = self.run_program("", PROF_MARK_TRACE=self.trace)
        self.assertEqual(code, 0)
        self.assertIn("prof_mark: PyTorch's profiler did not start", err)
        with open(self.facts) as f:
            marks = json.load(f)["marks"]
        self.assertIn("torch", marks)
        self.assertIn("did not start", marks["notes"][0])
