package capture

import (
	"maps"
	"prof/capture/machine"
	"regexp"
	"strconv"
	"syscall"
)

// ncu follows a program's children by standing in for the C library's fork and exec. Programs written in Go make these system calls
// themselves, so that a workload that prof starts under ncu would not be profiled. ncu therefore starts the workload. It can be
// told to leave the workload's output alone, and it keeps no environment in its reports.

// direct is a workload that its tool has started. It is heard of by nothing but the tool's end.
type direct struct {
	m     machine.Machine
	tool  int            // its process
	ended bool           // the tool
	seen  map[int]string // processes that came from the tool: when each was started
}

func (d *direct) heard() <-chan event { return nil }

// idle reports whether no process of the workload is left.
func (d *direct) idle() bool { return len(d.alive()) == 0 }

// gone reports whether processes of the workload were there and are not any more.
func (d *direct) gone() bool {
	d.look()
	return len(d.seen) > 0 && d.idle()
}

// signal sends a signal to the workload's processes. The tool sees them end, and writes its report. Where none is known, the tool gets it.
func (d *direct) signal(s syscall.Signal) bool {
	d.look()
	sent := false
	for _, pid := range d.alive() {
		sent = d.m.Kill(pid, s) == nil || sent
	}
	if !sent {
		return !d.ended && d.m.Kill(d.tool, s) == nil
	}
	return true
}

// look notes the processes that have come from the tool so far.
func (d *direct) look() {
	if d.seen == nil {
		d.seen = map[int]string{}
	}
	maps.Copy(d.seen, d.m.Below(d.tool))
}

// alive returns the processes that were seen and are still there.
func (d *direct) alive() (out []int) {
	for pid, at := range d.seen {
		if d.m.StartedAt(pid) == at {
			out = append(out, pid)
		}
	}
	return out
}

// endedText is how ncu tells that its workload did not end with 0.
var endedText = regexp.MustCompile(`The application returned an error code \((\d+)\)`)

// directEnd returns how the workload of a tool ended by what the tool says, for its own exit code is either's. nil: it did not say.
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
