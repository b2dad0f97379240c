"""Which input each pass worked on. Needs no PyTorch."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HELPER = os.environ["PYTHONPATH"].split(os.pathsep)[0]
INPUTS = {"version": 1, "inputs": [
    {"id": "a", "path": "/data/1.png", "width": 640, "pages": 2, "tags": {"language": "de"}}, {"id": "b", "path": "/data/2.png"},
    {"id": "c", "path": "/data/3.png"}, {"id": "c2", "path": "/data/3.png"}]}
PASS = """
def work(batch=1):
    with prof_mark.stage("prefill", tokens=7, batch=batch):
        pass
    decode()
def decode():
    with prof_mark.stage("decode", steps=2):
        pass
"""


class Inputs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.facts, self.times = (os.path.join(self.folder.name, name) for name in ("workload.json", "times"))
        self.list = os.path.join(self.folder.name, "inputs.json")
        with open(self.list, "w") as f:
            json.dump(INPUTS, f)

    def python(self, code, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROF_MARK")}
        env.update(PYTHONPATH=HELPER, PROF_MARK="1", PROF_MARK_FACTS=self.facts, PROF_MARK_TIMES=self.times, PROF_INPUTS=self.list)
        env.update(variables)
        done = subprocess.run([sys.executable, "-c", "import prof_mark" + PASS + code], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def inputs_of(self, code, said="", **variables):
        """The input of each pass, by the facts; that of the times is the same."""
        for name in os.listdir(self.folder.name):
            if name != "inputs.json":
                os.remove(os.path.join(self.folder.name, name))
        code, out, err = self.python(code, **variables)
        self.assertEqual((code, out), (0, ""), err)
        self.assertIn(said, err)
        if not said:
            self.assertEqual(err, "")
        with open(self.facts) as f:
            facts = [run.get("input") for run in json.load(f)["runs"]]
        timed = [name for name in os.listdir(self.folder.name) if name.startswith("times-")]
        with open(os.path.join(self.folder.name, timed[0])) as f:
            times = json.load(f)
        prefills = [row for row in times["executions"] if times["paths"][row[0]][-1] == "prefill"]
        self.assertEqual([times["inputs"][row[6]] if len(row) > 6 else None for row in prefills], self.timed or facts)
        return facts

    timed = None

    def test_iteration(self):
        self.assertEqual(self.inputs_of("for i in prof_mark.inputs(): work(2)\nwork()"), ["a", "b", "c", "c2", None])

    def test_fields(self):
        _, out, _ = self.python("for i in prof_mark.inputs(): print(i.id, i.path, i.width, i.height, i.pages, i.tokens, i.tags); break")
        self.assertEqual(out, "a /data/1.png 640 None 2 None {'language': 'de'}\n")

    def test_after_a_break(self):
        self.assertEqual(self.inputs_of("for i in prof_mark.inputs():\n    work()\n    break\nwork()"), ["a", None])

    def test_by_hand(self):
        self.assertEqual(self.inputs_of("with prof_mark.input('b'): work()\nwith prof_mark.input('/data/1.png'): work(); work()"), ["b", "a", "a"])

    def test_unknown_is_kept_and_said(self):
        self.assertEqual(self.inputs_of("with prof_mark.input('z'): work()", "no such input in the manifest: 'z'"), ["z"])
        self.assertEqual(self.inputs_of("with prof_mark.input('/data/3.png'): work()", "several inputs have this path"), ["/data/3.png"])

    def test_no_name(self):
        self.assertEqual(self.inputs_of("with prof_mark.input(3): work()", "prof_mark.input: "), [None])

    def test_two_at_once(self):
        self.assertEqual(self.inputs_of("with prof_mark.input('a'), prof_mark.input('b'): work()\nwith prof_mark.input('a'), prof_mark.input('a'): work()"), [None, "a"])

    def test_read_ahead(self):
        """A batch of several inputs has none of them; one that others were passed over for has its own."""
        self.assertEqual(self.inputs_of("it = prof_mark.inputs()\nnext(it), next(it)\nwork(2)\nnext(it)\nwork(2)\nit.close()"), [None, "c"])
        self.assertEqual(self.inputs_of("for i in prof_mark.inputs():\n    if i.id == 'c': work()"), ["c"])

    def test_decode_under_another_input(self):
        self.timed = ["a"]  # the time of the prefill is its own
        code = "with prof_mark.input('a'):\n    with prof_mark.stage('prefill', tokens=7, batch=1): pass\nwith prof_mark.input('b'): decode()"
        self.assertEqual(self.inputs_of(code), [None])

    def test_another_thread(self):
        self.assertEqual(self.inputs_of("import threading\nwith prof_mark.input('a'):\n    t = threading.Thread(target=work); t.start(); t.join()"), [None])

    def test_default(self):
        code = "import pathlib\nfor i in prof_mark.inputs(['x.png', pathlib.Path('y'), {'path': 'z', 'pages': 3, 'other': 1}, 4]): print(i if i == 4 else (i.id, i.path, i.pages))"
        for variables in ({"PROF_MARK": ""}, {}):
            self.assertEqual(self.python(code, PROF_INPUTS="", **variables), (0, "('x.png', 'x.png', None)\n('y', 'y', None)\n('z', 'z', 3)\n4\n", "prof_mark: no stages were marked: the program did not use PyTorch\n" if not variables else ""))
        self.assertEqual(self.python("print(list(prof_mark.inputs()))", PROF_INPUTS="")[1], "[]\n")
        self.assertEqual(self.python("with prof_mark.input('x'): print(1)", PROF_INPUTS="", PROF_MARK="")[1:], ("1\n", ""))

    def test_without_marks(self):
        code, out, err = self.python("print([i.id for i in prof_mark.inputs(['x'])])", PROF_MARK="")
        self.assertEqual((code, out, err), (0, "['a', 'b', 'c', 'c2']\n", ""))

    def test_a_list_that_cannot_be_read_is_an_error(self):
        for text in ("{", '{"version": 2, "inputs": []}'):
            with open(self.list, "w") as f:
                f.write(text)
            code, out, err = self.python("print(list(prof_mark.inputs(['x'])))")
            self.assertEqual((code, out), (1, ""))
            self.assertIn("Error", err)


if __name__ == "__main__":
    unittest.main()
