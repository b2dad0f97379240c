"""The rank that starts under Nsight Compute. A script stands in for that. Needs no PyTorch."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HELPER = os.environ["PYTHONPATH"].split(os.pathsep)[0]
CODE = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "input": sys.stdin.read(), "program": sys.executable, "ncu": os.environ.get("NCU"),
    "env": sorted(k for k in os.environ if k.startswith("PROF_MARK_NCU"))}))
raise SystemExit(3)
"""
STAND_IN = """#!/bin/sh
[ "$1 $2" = "--option a b" ] || exit 9
shift 2
NCU=here exec "$@"
"""


class Ncu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ncu = os.path.join(folder.name, "nsight ncu")
        with open(self.ncu, "w") as f:
            f.write(STAND_IN)
        os.chmod(self.ncu, 0o755)

    def run_rank(self, error="", **variables):
        """Runs Python as a launcher starts a rank; what it says of itself."""
        env = dict(PATH=os.environ["PATH"], PYTHONPATH=HELPER, **{"PROF_MARK_NCU": json.dumps([self.ncu, "--option", "a b"]), **variables})
        done = subprocess.run([sys.executable, "-c", CODE, "a b", ""], env=env, input="text", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (3, error))
        said = json.loads(done.stdout)
        self.assertEqual((said["argv"], said["input"], said["program"]), (["a b", ""], "text", sys.executable))
        return said

    def test_the_rank_starts(self):
        for variables in ({"PROF_MARK_NCU_RANK": "1", "RANK": "1", "LOCAL_RANK": "0"}, {"PROF_MARK_NCU_LOCAL_RANK": "0", "LOCAL_RANK": "0", "RANK": "4"},
                          {"PROF_MARK_NCU_RANK": "01", "RANK": "1", "LOCAL_RANK": "1"},
                          {"PROF_MARK_NCU_RANK": "2", "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}):
            said = self.run_rank(**variables)
            self.assertEqual((said["ncu"], said["env"]), ("here", []), variables)

    def test_others_run_on(self):
        for variables in ({"PROF_MARK_NCU_RANK": "0", "RANK": "1", "LOCAL_RANK": "1"}, {"PROF_MARK_NCU_LOCAL_RANK": "0", "LOCAL_RANK": "1", "RANK": "0"},
                          {"PROF_MARK_NCU_RANK": "0"}, {"PROF_MARK_NCU_RANK": "2", "RANK": "2"}):  # the last ones: launchers
            self.assertIsNone(self.run_rank(**variables)["ncu"], variables)

    def test_no_ncu(self):
        gone = self.ncu + "-gone"
        said = self.run_rank(error="prof_mark: this rank does not run under Nsight Compute: FileNotFoundError: [Errno 2] No such file or directory: '%s'\n" % gone,
                             PROF_MARK_NCU=json.dumps([gone]), PROF_MARK_NCU_RANK="1", RANK="1", LOCAL_RANK="1")
        self.assertIsNone(said["ncu"])


if __name__ == "__main__":
    unittest.main()
