"""How long a thread waited for a CPU. Needs no PyTorch."""
import os
import re
import subprocess
import sys
import time
import unittest

from prof_mark import waiting

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


@unittest.skipUnless(os.path.exists("/proc/thread-self/schedstat"), "Linux gives no times of its scheduler")
class Waiting(unittest.TestCase):
    def setUp(self):
        waiting.forget()
        least, group, text = waiting._LEAST, waiting._group, waiting._text
        self.addCleanup(lambda: (setattr(waiting, "_LEAST", least), setattr(waiting, "_group", group), setattr(waiting, "_text", text)))

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
        began = waiting.begin()
        time.sleep(0.3)
        waiting._LEAST = -1
        ns, wall, run = self.figures(began)[:3]
        self.assertLess(ns + run, 0.5 * wall)

    def test_little_is_not_marked(self):
        waiting._LEAST = 10**9
        self.assertIsNone(waiting.end(waiting.begin()))

    def test_limits_of_control_groups(self):
        for kind, want in (("v2", (2500, 1_500_000, 2_000_000)), ("v1", (500, 700, 2000)), ("none", (-1, -1, -1))):
            files = dict(FILES[kind])
            waiting._group, waiting._LEAST, waiting._text = None, -1, lambda path: files.get(path, "")
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

    def test_nothing_where_linux_does_not_tell(self):
        waiting.begin()
        os.close(waiting._local.stat.fd)
        waiting._local.stat.fd = -1
        self.assertIsNone(waiting.begin())
        self.assertIsNone(waiting.end(None))


if __name__ == "__main__":
    unittest.main()
