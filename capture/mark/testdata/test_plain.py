"""The helper in processes without PyTorch, and beside another sitecustomize. Needs no PyTorch."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HELPER = os.environ["PYTHONPATH"].split(os.pathsep)[0]


class Plain(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.facts = os.path.join(self.folder.name, "workload.json")

    def python(self, code, *path, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROF_MARK")}
        env.update(PYTHONPATH=os.pathsep.join((HELPER,) + path), PROF_MARK="1", PROF_MARK_FACTS=self.facts)
        env.update(variables)
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def write(self, name, text):
        folder = tempfile.mkdtemp(dir=self.folder.name)
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
        return folder

    def test_without_pytorch(self):
        self.assertEqual(self.python("print(1)"), (0, "1\n", "prof_mark: no stages were marked: the program did not use PyTorch\n"))
        self.assertFalse(os.path.exists(self.facts))

    def test_nothing_when_not_asked(self):
        self.assertEqual(self.python("import sys; print('prof_mark' in sys.modules)", PROF_MARK=""), (0, "False\n", ""))

    def test_children_say_nothing(self):
        code, out, err = self.python("import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(2)'], check=True)")
        self.assertEqual((code, out, err.count("prof_mark")), (0, "2\n", 1))

    def test_exit_status_is_the_program_s(self):
        self.assertEqual(self.python("raise SystemExit(3)")[0], 3)

    def test_nothing_is_imported_for_it(self):
        _, out, _ = self.python("import sys; print(sorted(m for m in sys.modules if m.startswith(('torch', 'json', 'prof_mark'))))")
        self.assertEqual(out, "['prof_mark', 'prof_mark.install', 'prof_mark.state']\n")

    def test_api_outside_of_prof(self):
        code = "import prof_mark\nwith prof_mark.stage('prefill', tokens='x'), prof_mark.warmup(): print(1)\nprof_mark.model(3); prof_mark.facts(x=1)"
        self.assertEqual(self.python(code, PROF_MARK=""), (0, "1\n", ""))

    def test_api_without_pytorch_keeps_facts(self):
        code, _, err = self.python("import prof_mark\nwith prof_mark.stage('prefill', tokens=7): pass\nwith prof_mark.stage('decode', steps=2): pass")
        self.assertEqual((code, err), (0, ""))
        with open(self.facts) as f:
            self.assertIn('"runs":[{"prefill_len":7,"new_tokens":2,"batch":null}]', f.read())

    def test_rights_are_those_of_the_folder(self):
        for folder, rights in ((0o700, 0o600), (0o770, 0o660), (0o755, 0o644)):
            os.chmod(self.folder.name, folder)
            self.python("import os; os.umask(0); import prof_mark\nwith prof_mark.stage('prefill', tokens=7): pass\nprof_mark.model({'hidden_size': 32})",
                        PROF_MARK_MODEL_DIR=self.folder.name)
            for file in (self.facts, os.path.join(self.folder.name, "config.json")):
                self.assertEqual(os.stat(file).st_mode & 0o777, rights, file)
                os.remove(file)

    def test_another_sitecustomize_runs(self):
        other = self.write("sitecustomize.py", "print('other'); answer = 42")
        code, out, err = self.python("import sitecustomize; print(sitecustomize.answer)", other)
        self.assertEqual((code, out), (0, "other\n42\n"), err)

    def test_sitecustomize_that_looks_for_the_next_one(self):
        other = self.write("sitecustomize.py", """
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
print("other")
kept = sys.path[:]
sys.path[:] = [p for p in kept if os.path.abspath(p) != here]
del sys.modules["sitecustomize"]
try:
    import sitecustomize
except ImportError:
    pass
finally:
    sys.path[:] = kept
""")
        code, out, err = self.python("print(1)", other)
        self.assertEqual((code, out), (0, "other\n1\n"), err)

    def test_error_of_another_sitecustomize_is_told_as_ever(self):
        other = self.write("sitecustomize.py", "raise ValueError('theirs')")
        code, out, err = self.python("print(1)", other)
        self.assertEqual((code, out), (0, "1\n"))
        self.assertIn("ValueError: theirs", err)
        self.assertIn("Error in sitecustomize", err)

    def test_a_trace_of_each_rank(self):
        code = """
import os
from prof_mark import state, trace
class Held:
    def stop(self): pass
    def export_chrome_trace(self, path):
        with open(path, "w") as f: f.write(os.environ["WHO"])
trace._profile = Held()
print(trace._has_trace())
trace.finish()
print(trace._has_trace())
os._exit(0)
"""
        path = os.path.join(self.folder.name, "trace-1.json.gz")
        for rank, who in (("0", "a"), ("1", "b"), ("1", "c"), ("", "d"), ("x", "e")):
            self.assertEqual(self.python(code, PROF_MARK_TRACE=path, RANK=rank, WHO=who), (0, "%s\nTrue\n" % (who != "a"), ""))
        found = {}
        for name in os.listdir(self.folder.name):
            with open(os.path.join(self.folder.name, name)) as f:
                found[f.read()] = re.sub(r"-\d{2,}", "-PID", name)
        self.assertEqual(found, {"a": "trace-1-rank0.json.gz", "b": "trace-1-rank1.json.gz", "c": "trace-1-rank1-PID.json.gz", "d": "trace-1.json.gz",
                                 "e": "trace-1-PID.json.gz"})

    def test_a_number_that_is_none(self):
        _, _, err = self.python("pass", PROF_MARK_WARMUP="two")
        self.assertIn("prof_mark: PROF_MARK_WARMUP is no number: 'two'\n", err)
