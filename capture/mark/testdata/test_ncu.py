"""Ranks that leave Nsight Compute. A library stands in for those that it puts into a process. Needs no PyTorch."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HELPER = os.environ["PYTHONPATH"].split(os.pathsep)[0]
CODE = """
import json, os, sys
maps = open("/proc/self/maps").read()
print(json.dumps({"in": INJECTED in maps, "argv": sys.argv[1:], "input": sys.stdin.read(), "program": sys.executable,
    "env": {k: v for k, v in os.environ.items() if k.startswith(("NV", "LD_", "PROF_MARK_NCU", "CUDA_I", "MINE"))}}))
raise SystemExit(3)
"""


class Ncu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        with open("/proc/self/maps") as maps:
            libs = {line.split()[-1] for line in maps if os.path.basename(line.split()[-1]).startswith(("libm.", "libm-", "libz.", "libdl"))}
        if not libs:
            self.skipTest("no library to stand in for those of Nsight Compute")
        self.injected, self.other = os.path.join(self.folder, "ncu", "libTreeInjection.so"), os.path.join(self.folder, "libmine.so")
        os.mkdir(os.path.dirname(self.injected))
        for path in (self.injected, self.other):
            shutil.copy(sorted(libs)[0], path)

    def run_rank(self, preload=True, **variables):
        """Runs Python as Nsight Compute starts a rank; what it says of itself."""
        env = dict(PATH=os.environ["PATH"], PYTHONPATH=HELPER, MINE="1", **variables)
        if preload:
            env.update(LD_PRELOAD=self.injected + ":" + self.other, LD_LIBRARY_PATH=os.path.dirname(self.injected) + "/.:/mine",
                       NV_TPS_LAUNCH_TOKEN="x", NV_NSIGHT_INJECTION_PORT_BASE="49152", CUDA_INJECTION64_PATH=self.injected, NV_MINE="2")
        done = subprocess.run([sys.executable, "-c", CODE.replace("INJECTED", repr(self.injected)), "a b", ""], env=env, input="text", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        said = json.loads(done.stdout)
        self.assertEqual((said["argv"], said["input"], said["program"], said["env"].pop("MINE")), (["a b", ""], "text", sys.executable, "1"))
        return said

    def test_other_ranks_leave(self):
        for variables in ({"PROF_MARK_NCU_RANK": "0", "RANK": "1", "LOCAL_RANK": "1"}, {"PROF_MARK_NCU_LOCAL_RANK": "0", "LOCAL_RANK": "1", "RANK": "0"},
                          {"PROF_MARK_NCU_RANK": "2", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}):
            said = self.run_rank(**variables)
            self.assertFalse(said["in"], variables)
            self.assertEqual(said["env"], {"LD_PRELOAD": self.other, "LD_LIBRARY_PATH": "/mine", "NV_MINE": "2"})

    def test_the_rank_stays(self):
        for variables in ({"PROF_MARK_NCU_RANK": "1", "RANK": "1", "LOCAL_RANK": "0"}, {"PROF_MARK_NCU_LOCAL_RANK": "0", "LOCAL_RANK": "0", "RANK": "4"},
                          {"PROF_MARK_NCU_RANK": "01", "RANK": "1", "LOCAL_RANK": "1"},
                          {"PROF_MARK_NCU_RANK": "0"}, {"PROF_MARK_NCU_RANK": "2", "RANK": "1"}, {"RANK": "1", "LOCAL_RANK": "1"}):  # the last ones: launchers, and all ranks
            said = self.run_rank(**variables)
            self.assertTrue(said["in"], variables)
            self.assertEqual(said["env"]["NV_TPS_LAUNCH_TOKEN"], "x")

    def test_outside_of_ncu(self):
        self.assertEqual(self.run_rank(preload=False, PROF_MARK_NCU_RANK="0", RANK="1", LOCAL_RANK="1")["env"], {"PROF_MARK_NCU_RANK": "0"})


if __name__ == "__main__":
    unittest.main()
