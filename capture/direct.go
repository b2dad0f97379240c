package capture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// ncu follows a program's children by standing in for the C library's fork and exec. Programs written in Go make these system calls
// themselves, so that a workload that prof starts under ncu would not be profiled. ncu therefore starts the workload. It can be
// told to leave the workload's output alone, and it keeps no environment in its reports.

// direct is a workload that its tool has started. It is heard of by nothing but the tool's end.
type direct struct {
	cmd  *exec.Cmd
	seen map[int]string // processes that came from the tool: when each was started
}

func (d *direct) heard() <-chan event { return nil }

// idle says whether no process of the workload is left.
func (d *direct) idle() bool { return len(d.alive()) == 0 }

// gone says whether processes of the workload were there and are not any more.
func (d *direct) gone() bool {
	d.look()
	return len(d.seen) > 0 && d.idle()
}

// signal sends a signal to the workload's processes. The tool sees them end, and writes its report. Where none is known, the tool gets it.
func (d *direct) signal(s syscall.Signal) bool {
	d.look()
	sent := false
	for _, pid := range d.alive() {
		sent = syscall.Kill(pid, s) == nil || sent
	}
	if !sent {
		return d.cmd.ProcessState == nil && syscall.Kill(d.cmd.Process.Pid, s) == nil
	}
	return true
}

// look notes the processes that have come from the tool so far, but those that are the tool's own.
func (d *direct) look() {
	if d.seen == nil {
		d.seen = map[int]string{}
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return // not on this system
	}
	from := descendant(d.cmd.Process.Pid)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == d.cmd.Process.Pid || !from(pid) || isProfiler(pid) {
			continue
		}
		if at := startedAt(pid); at != "" {
			d.seen[pid] = at
		}
	}
}

// alive gives the processes that were seen and are still there.
func (d *direct) alive() (out []int) {
	for pid, at := range d.seen {
		if startedAt(pid) == at {
			out = append(out, pid)
		}
	}
	return out
}

// isProfiler says whether a process runs a program of Nsight Compute, which its command on the PATH may be a script around.
func isProfiler(pid int) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && (filepath.Base(path) == "ncu" || strings.Contains(path, "/nsight-compute/"))
}

// startedAt tells a process from a later one of the same number; "" when there is none, or it has ended and is not waited for.
func startedAt(pid int) string {
	fields := statFields(pid)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// endedText is how ncu tells that its workload did not end with 0.
var endedText = regexp.MustCompile(`The application returned an error code \((\d+)\)`)

// directEnd tells how the workload of a tool ended by what the tool says, for its own exit code is either's. nil: it did not say.
func directEnd(tool error, lines []string) *event {
	code := 0
	if tool == nil {
		return &event{ExitCode: &code}
	}
	for _, l := range lines {
		if m := endedText.FindStringSubmatch(l); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
				code := int(n)
				return &event{ExitCode: &code}
			}
		}
	}
	return nil
}
