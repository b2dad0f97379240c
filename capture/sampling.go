package capture

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"prof/schema/rundir"
)

// sample begins to sample the GPUs while a pass runs; nil where there is nothing to sample.
func (s *Session) sample(ctx context.Context, spec passSpec, p *rundir.Pass, tool int) *Sampler {
	if s.nvml == nil || s.o.SampleHz == 0 {
		return nil
	}
	p.Samples = spec.stem + ".samples.csv"
	from := s.nvml
	if visible, known := VisibleDevices(s.manifest.Devices, s.setup.Environ); known { // what others do on other GPUs is not this run's
		from = OnlyDevices(from, visible)
	}
	return StartSampler(ctx, from, s.o.SampleHz, s.below(p.Samples), descendant(tool))
}

func (s *Session) endSampling(sampler *Sampler, p *rundir.Pass) {
	if sampler == nil {
		return
	}
	n, err := sampler.Stop()
	if err != nil {
		s.warn(fmt.Sprintf("%s: NVML samples: %v", p.Name, err))
	}
	if n == 0 {
		p.Samples = ""
	}
	for _, f := range sampler.Findings() {
		s.warn(p.Name + ": " + f)
	}
}

// descendant says of processes whether they are a given one or come from it. A process whose parents have ended is not told from
// others any more; what it was found to be before holds.
func descendant(root int) func(pid int) bool {
	known := map[int]bool{root: true}
	return func(pid int) bool {
		var chain []int
		for at := pid; at > 1 && !known[at]; {
			chain = append(chain, at)
			parent, ok := parentOf(at)
			if !ok || len(chain) > 1000 {
				return false
			}
			at = parent
			if at <= 1 {
				return false
			}
		}
		for _, c := range chain {
			known[c] = true
		}
		return pid > 1
	}
}

// parentOf returns a process's parent.
func parentOf(pid int) (int, bool) {
	fields := statFields(pid)
	if len(fields) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(fields[1])
	return n, err == nil
}

// statFields returns what /proc/PID/stat says of a process behind its name, which stands in parentheses and may hold anything: state,
// parent, group, ... None where there is no such process.
func statFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	rest := string(text)
	return strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
}
