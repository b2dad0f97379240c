"""How long a thread waited for a CPU. Needs no PyTorch."""
import os
import re
import subprocess
import sys
import time
import unittest

from prof_mark import state, waiting

NAME = re.compile(r"^CPU wait\[ns=(\d+), wall=(\d+), run=(\d+), others=(\d+), preempted=(\d+), blocked=(\d+), cpus=(\d+), limit=(\d*), throttled=(\d*), threads=(\d+), runnable=(\d+)\]$")
FILES = {
    "v2": {"/proc/self/cgroup": "0::/pod/a\n", "/sys/fs/cgroup/pod/a/cpu.max": "max 100000\n", "/sys/fs/cgroup/pod/cpu.max": "250000 100000\n",
           "/sys/fs/cgroup/pod/cpu.stat": "usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n"},
    "v1": {"/proc/self/cgroup": "5:memory:/pod\n4:cpu,cpuacct:/pod\n0::/\n", "/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us": "50000\n", "/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us": "100000\n",
           "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n", "/sys/fs/cgroup/cpu,cpuacct/pod/cpu.stat": "nr_throttled 2\nthrottled_time 700\n"},
    "none": {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "max 100000\n"},
}


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def read(files, path):
    if path not in files:
        raise FileNotFoundError(2, "No such file or directory", path)
    return files[path]


@unittest.skipUnless(os.path.exists("/proc/thread-self/schedstat"), "Linux gives no times of its scheduler")
class Waiting(unittest.TestCase):
    def setUp(self):
        waiting.forget()
        least, group, read = waiting._LEAST, waiting._group, waiting._read
        self.addCleanup(lambda: (setattr(waiting, "_LEAST", least), setattr(waiting, "_group", group), setattr(waiting, "_read", read)))
        state.settings.on = state.settings.waits = True
        state.notes.clear()

    def figures(self, began):
        name = waiting.end(began)
        self.assertRegex(name, NAME)
        return [int(x or -1) for x in NAME.match(name).groups()]

    def share(self):
        """Has this thread share a CPU with two processes that always want it."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        self.addCleanup(os.sched_setaffinity, 0, before)
        for _ in range(2):
            p = subprocess.Popen([sys.executable, "-Sc", "while True: pass"])
            self.addCleanup(lambda p=p: (p.kill(), p.wait()))
        time.sleep(0.2)

    def test_a_shared_cpu(self):
        self.share()
        began = waiting.begin()
        busy(0.3)
        ns, wall, run, _, preempted, _, cpus, limit, throttled, _, _ = self.figures(began)
        self.assertGreater(ns, 0.3 * wall)
        self.assertLessEqual(ns, wall)
        self.assertAlmostEqual((ns + run) / wall, 1, delta=0.05)
        self.assertGreater(preempted, 0)
        self.assertEqual(cpus, 1)

    def test_sleep_is_no_wait(self):
        self.share()
        waiting._LEAST = -1
        for _ in range(10):  # on a busy machine it may well wait for a CPU when it wakes up
            began = waiting.begin()
            time.sleep(0.3)
            ns, wall, run = self.figures(began)[:3]
            if ns + run < 0.5 * wall:
                return
        self.fail("%d ns of %d were waiting, %d running" % (ns, wall, run))

    def test_little_is_not_marked(self):
        waiting._LEAST = 10**9
        self.assertIsNone(waiting.end(waiting.begin()))

    def test_limits_of_control_groups(self):
        for kind, want in (("v2", (2500, 1_500_000, 2_000_000)), ("v1", (500, 700, 2000)), ("none", (-1, -1, -1))):
            files = dict(FILES[kind])
            waiting._group, waiting._LEAST, waiting._read = None, -1, lambda path: read(files, path)
            self.assertEqual(waiting._throttled(), None if want[0] < 0 else want[1], kind)
            files.update({"/proc/self/stat": "1 (a) b) " + " ".join("0" * 17) + " 7 0", "/proc/loadavg": "0 0 0 3/80 9"})
            began = waiting.begin()
            for path in files:
                files[path] = files[path].replace("throttled_usec 1500", "throttled_usec 3500").replace("throttled_time 700", "throttled_time 2700")
            got = self.figures(began)
            self.assertEqual((got[7], got[8], got[9], got[10]), (want[0], want[2], 7, 3), kind)

    def test_a_child_reads_its_own(self):
        waiting.begin()
        if os.fork() == 0:
            try:
                waiting.forget()
                waiting.begin()
                os._exit(os.readlink("/proc/self/fd/%d" % waiting._local.stat.fd).split("/")[2] != str(os.getpid()))
            finally:
                os._exit(2)
        self.assertEqual(os.wait()[1], 0)

    def test_no_file_of_times(self):
        self.addCleanup(setattr, waiting, "_TIMES", waiting._TIMES)
        waiting._TIMES = "/proc/none"
        self.lost("FileNotFoundError: [Errno 2] No such file or directory: '/proc/none'", waiting.begin)

    def test_no_times_in_it(self):
        waiting.begin()
        os.dup2(os.open(os.devnull, os.O_RDONLY), waiting._local.stat.fd)
        self.lost("IndexError", waiting.begin)

    def test_a_proc_of_less(self):
        for path, files, why in (("/proc/loadavg", {}, "FileNotFoundError: [Errno 2] No such file or directory: '/proc/loadavg'"),
                                 ("/proc/loadavg", {"/proc/loadavg": "0.1 0.2"}, "IndexError"), ("/proc/self/stat", {"/proc/self/stat": ""}, "IndexError")):
            with self.subTest(path=path, files=files):
                self.doCleanups()
                self.setUp()
                waiting._LEAST, waiting._group, real = -1, (), waiting._read
                began = waiting.begin()
                waiting._read = lambda p: read(files, p) if p == path else real(p)
                self.lost(why, lambda: waiting.end(began))

    def lost(self, why, ask):
        """Only the waits end, for a reason that is said once."""
        self.assertIsNone(ask())
        self.assertIsNone(ask())
        self.assertEqual((state.settings.on, state.settings.waits, state.fault, len(state.notes)), (True, False, None, 1))
        self.assertIn("how long stages waited for a CPU is no longer marked: " + why, state.notes[0])


if __name__ == "__main__":
    unittest.main()
