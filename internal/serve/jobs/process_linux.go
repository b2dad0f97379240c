package jobs

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// childOf starts prof in a process group of its own, so that the terminal's Ctrl-C reaches the server alone, and ends it when the server dies: it ends its
// workload and profilers then.
func childOf() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// endLeft kills the processes that a job left behind, and waits until they have ended. They are found by their environment, whatever became of their groups,
// sessions and parents; new ones may come while the others are killed.
func endLeft(id string) {
	mark := []byte("\x00" + jobVariable + "=" + id + "\x00")
	killed := map[int]bool{} // which lose their environment first, and their files and devices later
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		found := false
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			text, err := os.ReadFile("/proc/" + e.Name() + "/environ") // of others it cannot be read, and of those that have ended it is empty
			if err == nil && bytes.Contains(append([]byte{0}, text...), mark) {
				killed[pid] = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			found = found || killed[pid] && !gone(pid)
		}
		if !found {
			return
		}
	}
}

// gone reports whether a process has ended, if perhaps its parent does not know yet.
func gone(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.HasPrefix(text[bytes.LastIndexByte(text, ')')+1:], []byte(" Z"))
}
